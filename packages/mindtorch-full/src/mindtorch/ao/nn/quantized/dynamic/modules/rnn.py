"""Recurrent layers with quantized weights; inputs and states are quantized as they come."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._quantized.dynamic import linear_dynamic, linear_dynamic_fp16
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.quantized.modules.utils import _quantize_weight

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class PackedParameter(nn.Module):
    """The weights of a layer and direction, or of a cell."""

    def __init__(self, param: Any) -> None:
        super().__init__()
        self.param = param

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.param

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        self.param = state_dict.pop(prefix + "param")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)


def _packed(mod: Any, weight: Any, bias: Any, dtype: Any) -> Any:
    """Return a weight of numbers as the products of a cell take it."""
    if dtype == torch.float16:
        return torch.ops.quantized.linear_prepack_fp16(weight.float(), bias)
    given = mod.qconfig is not None and mod.qconfig.weight is not None
    observer = (mod.qconfig if given else torch.ao.quantization.default_dynamic_qconfig).weight()
    observer(weight)
    return torch.ops.quantized.linear_prepack(_quantize_weight(weight.float(), observer), bias)


def _random(gates: int, width: int, hidden: int, scale: float, dtype: Any) -> Any:
    """Return random weights, which others replace; torch draws as many numbers."""
    weights = [torch.randn(gates, size) for size in (width, hidden)]
    biases = [torch.randn(gates) for _ in weights]
    return tuple(_prepacked(*pair, scale, dtype) for pair in zip(weights, biases, strict=True))


def _prepacked(weight: Any, bias: Any, scale: float, dtype: Any) -> Any:
    if dtype == torch.float16:
        return torch.ops.quantized.linear_prepack_fp16(weight, bias)
    return torch.ops.quantized.linear_prepack(torch.quantize_per_tensor(weight, scale, 0, torch.qint8), bias)


def _dtype_of(mod: Any, name: str) -> Any:
    given = mod.qconfig is not None and mod.qconfig.weight is not None
    dtype = (mod.qconfig if given else torch.ao.quantization.default_dynamic_qconfig).weight().dtype
    if dtype not in (torch.qint8, torch.float16):
        raise RuntimeError(f"Unsupported dtype: {dtype}")
    return dtype


def _product(x: Tensor, packed: Any) -> Any:
    return linear_dynamic_fp16(x, packed) if packed.by == "fp16" else linear_dynamic(x, packed, reduce_range=True)


def _gru(at_input: Any, at_state: Any, state: Any) -> Any:
    reset_i, update_i, new_i = at_input.chunk(3, -1)
    reset_h, update_h, new_h = at_state.chunk(3, -1)
    reset = torch.sigmoid(reset_h + reset_i)
    update = torch.sigmoid(update_h + update_i)
    new = torch.tanh(new_i + new_h * reset)
    return (state - new) * update + new


def _lstm(at_input: Any, at_state: Any, cell: Any) -> tuple[Any, Any]:
    enter, forget, new, leave = (at_input + at_state).chunk(4, -1)
    cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(leave) * torch.tanh(cell), cell


class _Recurrent(nn.Module):
    """Layers over layers, in one direction or both."""

    _FLOAT_MODULE: ClassVar[Any]
    _gates: ClassVar[int]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = torch.qint8,
    ) -> None:
        super().__init__()
        self.mode, self.input_size, self.hidden_size, self.num_layers = mode, input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.dtype, self.version, self.training = bidirectional, dtype, 2, False
        gates = {"LSTM": 4, "GRU": 3}[mode] * hidden_size
        values = []
        for layer in range(num_layers):
            for _ in range(2 if bidirectional else 1):
                width = hidden_size * (2 if bidirectional else 1) if layer else input_size
                values.append(PackedParameter(_random(gates, width, hidden_size, 0.1, dtype)))
        self._all_weight_values = nn.ModuleList(values)

    def _get_name(self) -> str:
        return "DynamicQuantizedRNN"

    def extra_repr(self) -> str:
        """The sizes, and what is off its default."""
        s = "{input_size}, {hidden_size}"
        for name, usual in (("num_layers", 1), ("bias", True), ("batch_first", False), ("dropout", 0)):
            if getattr(self, name) != usual:
                s += f", {name}={{{name}}}"
        return (s + (", bidirectional={bidirectional}" if self.bidirectional else "")).format(**self.__dict__)

    def __repr__(self) -> str:
        return f"{self._get_name()}({self.extra_repr()})"

    def _one_direction(self, packed: Any, inputs: Any, state: Any, backwards: bool) -> tuple[Any, Any]:
        """Return the results of all steps, and the last state; what the inputs bring is one product."""
        of_input, of_state = packed
        at_input = _product(inputs, of_input).unbind(0)
        found = []
        for one in reversed(at_input) if backwards else at_input:
            state = self._step(one, of_state, state)
            found.append(state[0] if isinstance(state, tuple) else state)
        return torch.stack(found[::-1] if backwards else found, 0), state

    def _step(self, at_input: Any, of_state: Any, state: Any) -> Any:
        raise NotImplementedError

    def _run(self, inputs: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        last = []
        ways = 2 if self.bidirectional else 1
        for layer in range(self.num_layers):
            found = []
            for way in range(ways):
                place = layer * ways + way
                result, state = self._one_direction(
                    self._all_weight_values[place].param, inputs, states[place], way == 1
                )
                found.append(result)
                last.append(state)
            inputs = torch.cat(found, -1) if ways == 2 else found[0]
            if self.training and self.dropout and layer < self.num_layers - 1:
                inputs = nn.functional.dropout(inputs, self.dropout)
        return inputs, last

    def _check(self, input: Tensor, states: Any) -> None:
        if input.dim() != 3:
            raise RuntimeError(f"input must have 3 dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        batch = input.size(0 if self.batch_first else 1)
        wanted = (self.num_layers * (2 if self.bidirectional else 1), batch, self.hidden_size)
        for state in states:
            if tuple(state.size()) != wanted:
                raise RuntimeError(f"Expected hidden size {wanted}, got {list(state.size())}")

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the layers for those of numbers, which have a configuration."""
        if type(mod) not in {nn.LSTM, nn.GRU}:
            raise AssertionError("nn.quantized.dynamic.RNNBase.from_float only works for nn.LSTM and nn.GRU")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.bias:
            raise AssertionError("mod.bias must be True")
        dtype = _dtype_of(mod, cls.__name__)
        made: Any = cls(  # type: ignore[call-arg]
            mod.input_size,
            mod.hidden_size,
            mod.num_layers,
            mod.bias,
            mod.batch_first,
            mod.dropout,
            mod.bidirectional,
            dtype,
        )
        values = []
        for layer in range(mod.num_layers):
            for end in ("", "_reverse") if mod.bidirectional else ("",):
                pair = []
                for side in ("ih", "hh"):
                    name = f"{side}_l{layer}{end}"
                    bias = getattr(mod, f"bias_{name}") if mod.bias else None
                    pair.append(_packed(mod, getattr(mod, f"weight_{name}"), bias, dtype))
                values.append(PackedParameter(tuple(pair)))
        made._all_weight_values = nn.ModuleList(values)
        return made


class LSTM(_Recurrent):
    """`nn.LSTM` with quantized weights.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.dynamic.LSTM(3, 4)
    >>> layer(torch.ones(2, 1, 3))[0].shape
    torch.Size([2, 1, 4])
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.LSTM

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedLSTM"

    def _step(self, at_input: Any, of_state: Any, state: Any) -> Any:
        return _lstm(at_input, _product(state[0], of_state), state[1])

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the results of all steps, and the last states."""
        packed = isinstance(input, nn.utils.rnn.PackedSequence)
        if packed:
            raise NotImplementedError("torch.ao.nn.quantized.dynamic.LSTM: packed sequences are not offered")
        ways = 2 if self.bidirectional else 1
        if hx is None:
            batch = input.size(0 if self.batch_first else 1)
            zeros = torch.zeros(self.num_layers * ways, batch, self.hidden_size, dtype=input.dtype, device=input.device)
            hx = (zeros, zeros)
        self._check(input, hx)
        inputs = input.transpose(0, 1) if self.batch_first else input
        found, last = self._run(inputs, list(zip(hx[0].unbind(0), hx[1].unbind(0), strict=True)))
        found = found.transpose(0, 1) if self.batch_first else found
        return found, (torch.stack([one[0] for one in last]), torch.stack([one[1] for one in last]))


class GRU(_Recurrent):
    """`nn.GRU` with quantized weights.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.dynamic.GRU(3, 4)
    >>> layer(torch.ones(2, 1, 3))[0].shape
    torch.Size([2, 1, 4])
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.GRU

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedGRU"

    def _step(self, at_input: Any, of_state: Any, state: Any) -> Any:
        return _gru(at_input, _product(state, of_state), state)

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the results of all steps, and the last state."""
        if isinstance(input, nn.utils.rnn.PackedSequence):
            raise NotImplementedError("torch.ao.nn.quantized.dynamic.GRU: packed sequences are not offered")
        ways = 2 if self.bidirectional else 1
        if hx is None:
            batch = input.size(0 if self.batch_first else 1)
            hx = torch.zeros(self.num_layers * ways, batch, self.hidden_size, dtype=input.dtype, device=input.device)
        self._check(input, (hx,))
        inputs = input.transpose(0, 1) if self.batch_first else input
        found, last = self._run(inputs, list(hx.unbind(0)))
        return found.transpose(0, 1) if self.batch_first else found, torch.stack(last)


class RNNCellBase(nn.Module):
    """One step of a recurrent layer, with quantized weights."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, num_chunks: int = 4, dtype: Any = torch.qint8
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.bias, self.weight_dtype = input_size, hidden_size, bias, dtype
        rows = num_chunks * hidden_size
        self.bias_ih = torch.randn(rows) if bias else None
        self.bias_hh = torch.randn(rows) if bias else None
        weights = [torch.randn(rows, size) for size in (input_size, hidden_size)]
        self._packed_weight_ih = _prepacked(weights[0], self.bias_ih, 1, dtype)
        self._packed_weight_hh = _prepacked(weights[1], self.bias_hh, 1, dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedRNNBase"

    def extra_repr(self) -> str:
        """The sizes, and what is off its default."""
        s = f"{self.input_size}, {self.hidden_size}"
        s += "" if self.bias is True else f", bias={self.bias}"
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return s + ("" if nonlinearity == "tanh" else f", nonlinearity={nonlinearity}")

    def _check(self, input: Tensor, hx: Any) -> None:
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)}, expected {self.input_size}")
        if hx is not None and input.size(0) != hx.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden batch size {hx.size(0)}")

    def _state(self, input: Tensor, hx: Any) -> Any:
        if hx is not None:
            return hx
        return torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)

    def _products(self, input: Tensor, state: Any) -> tuple[Any, Any]:
        return _product(input, self._packed_weight_ih), _product(state, self._packed_weight_hh)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the cell for one of numbers, which has a configuration."""
        if type(mod) not in {nn.LSTMCell, nn.GRUCell, nn.RNNCell}:
            raise AssertionError(
                "nn.quantized.dynamic.RNNCellBase.from_float                                  only works for nn.LSTMCell, "
                "nn.GRUCell and nn.RNNCell"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.bias:
            raise AssertionError("mod.bias must be True")
        dtype = _dtype_of(mod, cls.__name__)
        made: Any = cls(mod.input_size, mod.hidden_size, bias=mod.bias, dtype=dtype)
        if isinstance(mod, nn.RNNCell):
            made.nonlinearity = mod.nonlinearity
        made._packed_weight_ih = _packed(mod, mod.weight_ih, mod.bias_ih, dtype)
        made._packed_weight_hh = _packed(mod, mod.weight_hh, mod.bias_hh, dtype)
        return made


class RNNCell(RNNCellBase):
    """`nn.RNNCell` with quantized weights."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = torch.qint8,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, dtype=dtype)
        self.nonlinearity = nonlinearity

    def _get_name(self) -> str:
        return "DynamicQuantizedRNNCell"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the next state."""
        self._check(input, hx)
        at_input, at_state = self._products(input, self._state(input, hx))
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return getattr(torch, self.nonlinearity)(at_input + at_state)


class LSTMCell(RNNCellBase):
    """`nn.LSTMCell` with quantized weights."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, num_chunks=4, **kwargs)

    def _get_name(self) -> str:
        return "DynamicQuantizedLSTMCell"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the next state and the next cell."""
        state, cell = (None, None) if hx is None else hx
        self._check(input, state)
        at_input, at_state = self._products(input, self._state(input, state))
        return _lstm(at_input, at_state, self._state(input, cell))


class GRUCell(RNNCellBase):
    """`nn.GRUCell` with quantized weights."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, dtype=dtype)

    def _get_name(self) -> str:
        return "DynamicQuantizedGRUCell"

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        """Return the next state."""
        self._check(input, hx)
        state = self._state(input, hx)
        return _gru(*self._products(input, state), state)


adopt(globals())
