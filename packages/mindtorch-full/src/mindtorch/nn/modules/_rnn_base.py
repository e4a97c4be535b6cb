"""Weights and checks of recurrent layers; public through ``nn.modules.rnn``."""

import math
import numbers
import warnings
import weakref
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.amp.state import is_autocast_enabled
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def draw_weights(module: Module) -> None:
    """Draw all weights of a recurrent layer or cell anew, uniform within 1/sqrt(hidden_size)."""
    size: int = module.hidden_size
    bound = 1.0 / math.sqrt(size) if size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """Return ``tensor`` with ``dim`` reordered; the former public name of the reordering."""
    warnings.warn(
        "apply_permutation is deprecated, please use tensor.index_select(dim, permutation) instead",
        FutureWarning,
        stacklevel=2,
    )
    return tensor.index_select(dim, permutation)


class RNNBase(Module):
    """Parameters of a stack of recurrent layers in one or both directions.

    Layer ``k`` has ``weight_ih_lk``, ``weight_hh_lk``, biases of the same names, with ``proj_size``
    ``weight_hr_lk``, and all again with ``_reverse`` for the second direction.

    >>> isinstance(torch.nn.LSTM(2, 3), torch.nn.RNNBase)
    True
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]
    __jit_unused_properties__ = ["all_weights"]
    mode: str
    input_size: int
    hidden_size: int
    num_layers: int
    bias: bool
    batch_first: bool
    dropout: float
    bidirectional: bool
    proj_size: int

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
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._flat_weight_refs: list[Any] = []
        _check_options(self, dropout)
        self._flat_weights_names: list[str] = []
        self._all_weights: list[list[str]] = []
        weights: list[Parameter] = []
        for layer in range(num_layers):
            for direction in range(2 if bidirectional else 1):
                names, shapes = self._layer_weights(layer, direction)
                self._flat_weights_names.extend(names)
                self._all_weights.append(names)
                weights.extend(Parameter(mindtorch.empty(shape, device=device, dtype=dtype)) for shape in shapes)
        self._flat_weights = weights
        self._init_flat_weights()
        self.reset_parameters()

    def _layer_weights(self, layer: int, direction: int) -> tuple[list[str], list[tuple[int, ...]]]:
        """Return names and shapes of one layer's weights in one direction."""
        gates = _GATES[self.mode] * self.hidden_size
        state = self.proj_size if self.proj_size > 0 else self.hidden_size
        inputs = self.input_size if layer == 0 else state * (2 if self.bidirectional else 1)
        kinds: list[tuple[str, tuple[int, ...]]] = [("weight_ih", (gates, inputs)), ("weight_hh", (gates, state))]
        if self.bias:
            kinds += [("bias_ih", (gates,)), ("bias_hh", (gates,))]
        if self.proj_size > 0:
            kinds += [("weight_hr", (self.proj_size, self.hidden_size))]
        suffix = f"_l{layer}" + ("_reverse" if direction == 1 else "")
        return [kind + suffix for kind, _ in kinds], [shape for _, shape in kinds]

    def _init_flat_weights(self) -> None:
        for name, weight in zip(self._flat_weights_names, self._flat_weights, strict=True):
            setattr(self, name, weight)
        self._flat_weight_refs = [weakref.ref(w) if w is not None else None for w in self._flat_weights]
        self.flatten_parameters()

    def __setattr__(self, name: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names")
        if names is not None and name in names:
            # A weight that is replaced must be replaced in the flat list too.
            self._flat_weights[names.index(name)] = value
        super().__setattr__(name, value)

    def flatten_parameters(self) -> None:
        """Put the weights into one buffer where a backend gains from it; the CPU does not."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self._flat_weight_refs = []
        result = super()._apply(fn, recurse)
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [weakref.ref(w) if w is not None else None for w in self._flat_weights]
        return result

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within 1/sqrt(hidden_size)."""
        draw_weights(self)

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise where dtype, dimensions or the feature size of ``input`` do not fit."""
        if not is_autocast_enabled() and input.dtype != self._flat_weights[0].dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({self._flat_weights[0].dtype}). "
                f"Convert input: input.to({self._flat_weights[0].dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 2 if batch_sizes is not None else 3
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _state_shape(self, input: Tensor, batch_sizes: Tensor | None, size: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0) if self.batch_first else input.size(1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, size

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape that the hidden state must have for ``input``."""
        return self._state_shape(input, batch_sizes, self.proj_size if self.proj_size > 0 else self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise RuntimeError unless ``hx`` has the expected shape."""
        if hx.size() != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def _weights_have_changed(self) -> bool:
        for ref, name in zip(self._flat_weight_refs, self._flat_weights_names, strict=False):
            weight = getattr(self, name, None)
            if weight is not None and ref is not None and ref() is not weight:
                return True
        return False

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Raise where input or hidden state do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the hidden state with its batch reordered."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def extra_repr(self) -> str:
        """Return the sizes and every option that is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size != 0:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.batch_first is not False:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional is not False:
            text += f", bidirectional={self.bidirectional}"
        return text

    def _update_flat_weights(self) -> None:
        changed = self._weights_have_changed()
        if changed or self.__dict__.get("_flat_weights_lent"):  # what stood in for a call is gone again
            self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self.__dict__["_flat_weights_lent"] = changed

    def __getstate__(self) -> dict[str, Any]:
        self._update_flat_weights()
        state = self.__dict__.copy()
        # Weak references can be neither copied nor pickled.
        del state["_flat_weight_refs"]
        state.pop("_flat_weights_lent", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "all_weights" in state:
            self._all_weights = state["all_weights"]
        self.__dict__.setdefault("proj_size", 0)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self._flat_weights = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [weakref.ref(w) if w is not None else None for w in self._flat_weights]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights, one list per layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _replicate_for_data_parallel(self) -> Any:
        replica = super()._replicate_for_data_parallel()
        replica._flat_weights = replica._flat_weights[:]
        replica._flat_weights_names = replica._flat_weights_names[:]
        return replica


def _check_options(rnn: RNNBase, dropout: Any) -> None:
    number: Any = dropout
    if not isinstance(dropout, numbers.Number) or not 0 <= number <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if number > 0 and rnn.num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers "
            f"greater than 1, but got dropout={dropout} and num_layers={rnn.num_layers}",
            stacklevel=4,
        )
    for name, kind in (("input_size", int), ("hidden_size", int), ("bias", bool), ("batch_first", bool)):
        value = getattr(rnn, name)
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name in ("input_size", "hidden_size", "num_layers"):
        if getattr(rnn, name) <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if rnn.proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if rnn.proj_size >= rnn.hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")
    if rnn.mode not in _GATES:
        raise ValueError("Unrecognized RNN mode: " + rnn.mode)
