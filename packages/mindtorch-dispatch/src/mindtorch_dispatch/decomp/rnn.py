"""Recurrent cells and layers, and sequences of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.dtype import float32
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check
from ..meta.rnn import GATES, GRU, LSTM, RELU, TANH
from ..state import state as thread_state
from ..typing import Tensor

State = tuple[Any, ...]
"""Hidden state of one layer in one direction: `(h,)`, or `(h, c)` of an LSTM."""

Step = Callable[[Any, State, Any, Any], State]
"""`step(projected_input, state, w_hh, b_hh)`."""


def _elman(activation: str) -> Step:
    def step(gates: object, state: State, w_hh: Tensor, b_hh: Tensor) -> State:
        return (getattr(aten, activation)(gates + aten.linear(state[0], w_hh, b_hh)),)

    return step


def _gru(gates: object, state: State, w_hh: Tensor, b_hh: Tensor) -> State:
    reset_in, update_in, new_in = aten.unsafe_chunk(gates, 3, 1)
    reset_hidden, update_hidden, new_hidden = aten.unsafe_chunk(aten.linear(state[0], w_hh, b_hh), 3, 1)
    reset = aten.sigmoid(reset_hidden + reset_in)
    update = aten.sigmoid(update_hidden + update_in)
    new = aten.tanh(new_in + new_hidden * reset)
    return ((state[0] - new) * update + new,)


def _lstm(gates: object, state: State, w_hh: Tensor, b_hh: Tensor) -> State:
    hidden, cell = state
    take, keep, new, give = aten.unsafe_chunk(aten.linear(hidden, w_hh, b_hh) + gates, 4, 1)
    cell = aten.sigmoid(keep) * cell + aten.sigmoid(take) * aten.tanh(new)
    return aten.sigmoid(give) * aten.tanh(cell), cell


_STEPS: tuple[Step, ...] = (_elman("relu"), _elman("tanh"), _lstm, _gru)
"""By aten's numbers of the modes."""


def _check_cell(input: Tensor, hx: object, w_ih: Tensor, w_hh: Tensor) -> None:
    check(
        input.shape[1] == w_ih.shape[1],
        lambda: f"input has inconsistent input_size: got {input.shape[1]} expected {w_ih.shape[1]}",
    )
    _check_state(input, hx, w_hh.shape[1], 0)


def _check_state(input: TensorBase, hx: Any, hidden_size: int, number: int) -> None:
    check(
        input.shape[0] == hx.shape[0],
        lambda: f"Input batch size {input.shape[0]} doesn't match hidden{number} batch size {hx.shape[0]}",
    )
    check(
        hx.shape[1] == hidden_size,
        lambda: f"hidden{number} has inconsistent hidden_size: got {hx.shape[1]}, expected {hidden_size}",
    )


def _cell(mode: int) -> Callable[..., Any]:
    def cell(input: Tensor, hx: Tensor, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> Any:
        _check_cell(input, hx, w_ih, w_hh)
        return _run_cell(mode, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]

    return cell


def _run_cell(
    mode: int, input: Tensor, state: State, w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> State:
    weights = _Weights([w_ih, w_hh, b_ih, b_hh], (b_ih is not None) is (b_hh is not None), False)
    if input._sig.spec.ndim == 2 and weights.b_ih is not None and _takes_layer(mode, weights, input, state):
        return _layer(mode, weights, input, state, False, [input.shape[0]])[1]
    return _STEPS[mode](aten.linear(input, w_ih, b_ih), state, w_hh, b_hh)


rnn_tanh_cell, rnn_relu_cell, gru_cell = _cell(TANH), _cell(RELU), _cell(GRU)


def lstm_cell(
    input: Tensor, hx: Sequence[Any], w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None
) -> tuple[Any, Any]:
    """One step of an LSTM; `hx` is hidden and cell state."""
    check(len(hx) == 2, lambda: "lstm_cell expects two hidden states")
    _check_cell(input, hx[0], w_ih, w_hh)
    _check_state(input, hx[1], w_hh.shape[0] // 4, 1)
    return _run_cell(LSTM, input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


class _Weights:
    """Weights of one layer in one direction."""

    def __init__(self, params: Sequence[Any], biased: bool, projected: bool) -> None:
        self.w_ih, self.w_hh = params[0], params[1]
        self.b_ih: Any = params[2] if biased else None
        self.b_hh: Any = params[3] if biased else None
        self.w_hr = params[-1] if projected else None

    def run(self, step: Step, gates: object, state: State) -> State:
        """Return the next state."""
        hidden, *rest = step(gates, state, self.w_hh, self.b_hh)
        return (hidden if self.w_hr is None else aten.linear(hidden, self.w_hr, None), *rest)


def _split_weights(params: Sequence[Any], biased: bool, projected: bool) -> list[_Weights]:
    count = 2 + 2 * biased + projected
    check(len(params) % count == 0, lambda: "got an incorrect number of RNN parameters")
    return [_Weights(params[start : start + count], biased, projected) for start in range(0, len(params), count)]


def _takes_layer(mode: int, weights: _Weights, input: Tensor, state: State) -> bool:
    """True where one kernel runs all steps: torch's for float32 LSTMs, which programs that watch its ops may see."""
    now, spec = thread_state.mode, input._sig.spec
    seen = mode == LSTM and spec.dtype is float32 and spec.ndim == 3
    if now.forward_ad or now.include or now.exclude or (now.overriding and not seen) or weights.w_hr is not None:
        return False
    tensors = [input, weights.w_ih, weights.w_hh, *state]
    tensors += [] if weights.b_ih is None else [weights.b_ih, weights.b_hh]
    if any(
        tensor._wraps or tensor._sig.spec.dtype is not spec.dtype or tensor._sig.spec.device is not spec.device
        for tensor in tensors
    ):
        return False
    if spec.device.type not in ("cpu", "meta") or not spec.dtype.is_floating_point or 0 in spec.shape:
        return False
    hidden = state[0]._sig.spec.shape[-1]
    rows = GATES[mode] * hidden
    shapes = [tuple(tensor._sig.spec.shape) for tensor in tensors[1:]]
    wanted = [(rows, spec.shape[-1]), (rows, hidden), *shapes[2 : 2 + len(state)], (rows,), (rows,)]
    return hidden > 0 and shapes == wanted[: len(shapes)] and shapes[2] == shapes[1 + len(state)]


def _layer(
    mode: int, weights: _Weights, input: Tensor, state: State, backwards: bool, sizes: Sequence[int]
) -> tuple[Any, State]:
    """Run one direction by its kernel; return its outputs and final state."""
    hidden = state[0]._sig.spec.shape[-1]
    biases = (weights.b_ih, weights.b_hh)
    if weights.b_ih is None:
        biases = (aten.zeros(GATES[mode] * hidden, dtype=input.dtype, device=input.device),) * 2
    tensors = (input, weights.w_ih, weights.w_hh, *biases, state[0], state[-1])
    train = thread_state.mode.records and any(tensor._sig.requires_grad for tensor in tensors)
    options = (mode, hidden, 1, weights.b_ih is not None, False, False, train)
    output, *final, _ = aten.mkldnn_rnn_layer(*tensors, backwards, sizes, *options)
    return output, tuple(final[: len(state)])


def composed_layer(
    input: Tensor,
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    hx: Any,
    cx: object,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
) -> tuple[Any, ...]:
    """`mkldnn_rnn_layer` of other ops: the outputs and the final states."""
    shape = list(hx.shape)
    state = tuple(aten.reshape(each, shape[-2:]) for each in ((hx, cx) if mode == LSTM else (hx,)))
    arguments = (_STEPS[mode], _Weights([w_ih, w_hh, b_ih, b_hh], True, False), input, state, reverse)
    output, final = _direction(*arguments) if len(input.shape) == 3 else _packed_direction(*arguments, [*batch_sizes])
    return (output, *(aten.reshape(each, shape) for each in final))


def _direction(step: Step, weights: _Weights, input: Tensor, state: State, backwards: bool) -> tuple[Any, State]:
    """Run one direction over (T, N, E); return its outputs (T, N, H) and final state."""
    gates = aten.unbind(aten.linear(input, weights.w_ih, weights.b_ih), 0)
    outputs = []
    for projected in reversed(gates) if backwards else gates:
        state = weights.run(step, projected, state)
        outputs.append(state[0])
    return aten.stack(outputs[::-1] if backwards else outputs, 0), state


def _packed_direction(
    step: Step, weights: _Weights, data: object, state: State, backwards: bool, batch_sizes: list[int]
) -> tuple[Any, State]:
    """As `_direction` over packed data: sequences end (or, backwards, begin) at different steps."""
    gates = aten.split_with_sizes(aten.linear(data, weights.w_ih, weights.b_ih), batch_sizes, 0)
    steps = list(zip(gates, batch_sizes, strict=True))
    outputs: list[Any] = []
    if backwards:
        initial, state = state, tuple(aten.narrow(each, 0, 0, batch_sizes[-1]) for each in state)
        for projected, size in reversed(steps):
            now = state[0].shape[0]
            if size > now:
                begun = (aten.narrow(each, 0, now, size - now) for each in initial)
                state = tuple(aten.cat([*pair], 0) for pair in zip(state, begun, strict=True))
            state = weights.run(step, projected, state)
            outputs.append(state[0])
        return aten.cat(outputs[::-1], 0), state
    ended: list[State] = []
    for projected, size in steps:
        now = state[0].shape[0]
        if size < now:
            ended.append(tuple(aten.narrow(each, 0, size, now - size) for each in state))
            state = tuple(aten.narrow(each, 0, 0, size) for each in state)
        state = weights.run(step, projected, state)
        outputs.append(state[0])
    ended.append(state)
    final = tuple(aten.cat([*parts], 0) for parts in zip(*reversed(ended), strict=True))
    return aten.cat(outputs, 0), final


class _Options:
    """How the layers are stacked."""

    def __init__(self, layers: int, dropout: float, train: bool, bidirectional: bool) -> None:
        self.layers = layers
        self.dropout = dropout if train else 0.0
        self.directions = 2 if bidirectional else 1


def _run_direction(
    mode: int, weights: _Weights, input: Tensor, state: State, backwards: bool, sizes: list[int] | None
) -> tuple[Any, State]:
    if _takes_layer(mode, weights, input, state):
        return _layer(mode, weights, input, state, backwards, sizes or [])
    arguments = (_STEPS[mode], weights, input, state, backwards)
    return _direction(*arguments) if sizes is None else _packed_direction(*arguments, sizes)


def _stack(
    mode: int, input: Tensor, states: list[State], weights: list[_Weights], options: _Options, sizes: list[int] | None
) -> tuple[Any, list[Any]]:
    """Run all layers; return the last one's outputs and the final states, stacked by kind."""
    total = options.layers * options.directions
    check(len(states) == total, lambda: "Expected more hidden states in stacked_rnn")
    check(len(weights) == total, lambda: "Expected more weights in stacked_rnn")
    finals = []
    for layer in range(options.layers):
        outputs = []
        for direction in range(options.directions):
            place = layer * options.directions + direction
            output, final = _run_direction(mode, weights[place], input, states[place], direction == 1, sizes)
            outputs.append(output)
            finals.append(final)
        input = outputs[0] if len(outputs) == 1 else aten.cat(outputs, -1)
        if options.dropout and layer < options.layers - 1:
            input = aten.dropout(input, options.dropout, True)
    return input, [aten.stack([*kind], 0) for kind in zip(*finals, strict=True)]


def _states(hx: Sequence[Any]) -> list[State]:
    """Return the state per layer and direction of states stacked by kind."""
    return list(zip(*(aten.unbind(each, 0) for each in hx), strict=True))


def _read(hx: Any, params: Sequence[Any], has_biases: bool) -> tuple[list[State], list[Any]]:
    """Return states and weights per layer and direction; cells that project have states of two widths."""
    given = [hx] if not isinstance(hx, (list, tuple)) else list(hx)
    projected = len(given) == 2 and given[0].shape[2] != given[1].shape[2]
    return _states(given), _split_weights(params, has_biases, projected)


def _layers(mode: int) -> Callable[..., Any]:
    def run(
        input: Tensor,
        hx: Tensor,
        params: Sequence[Any],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
    ) -> Any:
        states, weights = _read(hx, params, has_biases)
        options = _Options(num_layers, dropout, train, bidirectional)
        input = aten.transpose(input, 0, 1) if batch_first else input
        output, finals = _stack(mode, input, states, weights, options, None)
        return (aten.transpose(output, 0, 1) if batch_first else output, *finals)

    return run


def _packed_layers(mode: int) -> Callable[..., Any]:
    def run(
        data: Tensor,
        batch_sizes: Tensor,
        hx: Tensor,
        params: Sequence[Any],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
    ) -> Any:
        states, weights = _read(hx, params, has_biases)
        options = _Options(num_layers, dropout, train, bidirectional)
        output, finals = _stack(mode, data, states, weights, options, batch_sizes.tolist())
        return (output, *finals)

    return run


rnn_tanh, rnn_relu, gru = _layers(TANH), _layers(RELU), _layers(GRU)
rnn_tanh_data, rnn_relu_data, gru_data = _packed_layers(TANH), _packed_layers(RELU), _packed_layers(GRU)
_lstm_layers, _lstm_data = _layers(LSTM), _packed_layers(LSTM)


def lstm(input: Tensor, hx: Sequence[Any], *rest: object) -> Any:
    """LSTM layers over a padded batch; `hx` is hidden and cell state."""
    check(len(hx) == 2, lambda: "lstm expects two hidden states")
    return _lstm_layers(input, hx, *rest)


def lstm_data(data: Tensor, batch_sizes: Tensor, hx: Sequence[Any], *rest: object) -> Any:
    """LSTM layers over packed data."""
    check(len(hx) == 2, lambda: "lstm expects two hidden states")
    return _lstm_data(data, batch_sizes, hx, *rest)
