"""One step of a recurrence; public through ``nn.modules.rnn``."""

from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.modules._rnn_base import draw_weights
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.ops_table import aten


class RNNCellBase(Module):
    """Weights of a cell with ``num_chunks`` gates.

    >>> isinstance(torch.nn.GRUCell(2, 3), torch.nn.RNNCellBase)
    True
    """

    __constants__ = ["input_size", "hidden_size", "bias"]
    input_size: int
    hidden_size: int
    bias: bool
    weight_ih: Tensor
    weight_hh: Tensor

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        made = {"device": device, "dtype": dtype}
        rows = num_chunks * hidden_size
        self.weight_ih = Parameter(mindtorch.empty((rows, input_size), **made))
        self.weight_hh = Parameter(mindtorch.empty((rows, hidden_size), **made))
        if bias:
            self.bias_ih = Parameter(mindtorch.empty(rows, **made))
            self.bias_hh = Parameter(mindtorch.empty(rows, **made))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def extra_repr(self) -> str:
        """Return the sizes and every option that is not the default."""
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform within 1/sqrt(hidden_size)."""
        draw_weights(self)

    def _check_dims(self, input: Tensor, hx: Tensor | None) -> None:
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None and hx.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")

    def _zero_state(self, input: Tensor) -> Tensor:
        return mindtorch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)

    def _single_state(self, op: Any, input: Tensor, hx: Tensor | None) -> Tensor:
        """Apply ``op`` to a batch of inputs, or to one input as a batch of one."""
        self._check_dims(input, hx)
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            hx = self._zero_state(input)
        elif not is_batched:
            hx = hx.unsqueeze(0)
        result = op(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if is_batched else result.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of an Elman network.

    >>> torch.nn.RNNCell(2, 3)(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]
    nonlinearity: str

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Map input (N, input_size) and state (N, hidden_size) to the next state; without N for one input."""
        if self.nonlinearity == "tanh":
            return self._single_state(aten.rnn_tanh_cell, input, hx)
        if self.nonlinearity == "relu":
            return self._single_state(aten.rnn_relu_cell, input, hx)
        self._check_dims(input, hx)
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class LSTMCell(RNNCellBase):
    """One step of long short-term memory.

    >>> cell = torch.nn.LSTMCell(3, 2)
    >>> hidden, state = cell(torch.ones(4, 3))
    >>> hidden.shape, state.shape
    (torch.Size([4, 2]), torch.Size([4, 2]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Map input and ``(hidden, cell)`` to the next pair; batched (N, *) or not."""
        if input.dim() not in (1, 2):
            raise ValueError(f"LSTMCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None:
            for index, value in enumerate(hx):
                if value.dim() not in (1, 2):
                    raise ValueError(f"LSTMCell: Expected hx[{index}] to be 1D or 2D, got {value.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = self._zero_state(input)
            hx = (zeros, zeros)
        elif not is_batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        result = aten.lstm_cell(input, hx, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        return result if is_batched else (result[0].squeeze(0), result[1].squeeze(0))


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit.

    >>> torch.nn.GRUCell(2, 3)(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Map input (N, input_size) and state (N, hidden_size) to the next state; without N for one input."""
        return self._single_state(aten.gru_cell, input, hx)
