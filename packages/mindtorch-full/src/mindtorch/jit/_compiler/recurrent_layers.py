"""Recurrent layers and cells in what this compiler compiles, for tensors."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import Tensor


class RNNBase:
    """What all recurrent layers check."""

    def _update_flat_weights(self: Any) -> None:
        return None

    def check_input(self: Any, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise where the input does not fit the layer."""
        if batch_sizes is not None:
            expected_input_dim = 2
        else:
            expected_input_dim = 3
        if input.dim() != expected_input_dim:
            raise RuntimeError(f"input must have {expected_input_dim} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _states(self: Any) -> int:
        if self.bidirectional:
            return self.num_layers * 2  # type: ignore[no-any-return]
        else:
            return self.num_layers  # type: ignore[no-any-return]

    def _hidden_length(self: Any) -> int:
        if self.proj_size > 0:
            return self.proj_size  # type: ignore[no-any-return]
        else:
            return self.hidden_size  # type: ignore[no-any-return]

    def _batch(self: Any, input: Tensor, batch_sizes: Tensor | None) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        elif self.batch_first:
            return input.size(0)
        else:
            return input.size(1)

    def get_expected_hidden_size(self: Any, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape that a hidden state must have."""
        return (self._states(), self._batch(input, batch_sizes), self._hidden_length())

    def check_hidden_size(
        self: Any, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise where a state has another shape than expected."""
        states, batch, length = expected_hidden_size
        if hx.size() != [states, batch, length]:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self: Any, input: Tensor, hidden: Tensor, batch_sizes: Tensor | None) -> None:
        """Raise where the input or the state do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self: Any, hx: Tensor, permutation: Tensor | None) -> Tensor:
        """Return the state with its batch reordered."""
        if permutation is None:
            return hx
        return hx.index_select(1, permutation)

    def _batched(self: Any, input: Tensor) -> Tensor:
        if input.dim() == 3:
            return input
        elif self.batch_first:
            return input.unsqueeze(0)
        else:
            return input.unsqueeze(1)

    def _unbatched(self: Any, output: Tensor) -> Tensor:
        if self.batch_first:
            return output.squeeze(0)
        else:
            return output.squeeze(1)

    def _single_state(self: Any, input: Tensor, hx: Tensor | None, is_batched: bool) -> Tensor:
        if hx is None:
            return torch.zeros(
                self._states(), self._batch(input, None), self.hidden_size, dtype=input.dtype, device=input.device
            )
        if is_batched:
            if hx.dim() != 3:
                raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
            return hx
        else:
            if hx.dim() != 2:
                raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
            return hx.unsqueeze(1)


class RNN:
    """A network of Elman."""

    def forward(self: Any, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the outputs and the last state."""
        self._update_flat_weights()
        if input.dim() not in (2, 3):
            raise ValueError(f"RNN: Expected input to be 2D or 3D, got {input.dim()}D instead")
        is_batched = input.dim() == 3
        input = self._batched(input)
        state = self._single_state(input, hx, is_batched)
        self.check_forward_args(input, state, None)
        if self.mode == "RNN_TANH":
            output, hidden = torch.rnn_tanh(
                input, state, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                self.bidirectional, self.batch_first,
            )  # fmt: skip
        else:
            output, hidden = torch.rnn_relu(
                input, state, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
                self.bidirectional, self.batch_first,
            )  # fmt: skip
        if not is_batched:
            output = self._unbatched(output)
            hidden = hidden.squeeze(1)
        return output, self.permute_hidden(hidden, None)


class GRU:
    """Gated recurrent units."""

    def forward(self: Any, input: Tensor, hx: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the outputs and the last state."""
        self._update_flat_weights()
        if input.dim() not in (2, 3):
            raise ValueError(f"GRU: Expected input to be 2D or 3D, got {input.dim()}D instead")
        is_batched = input.dim() == 3
        input = self._batched(input)
        state = self._single_state(input, hx, is_batched)
        self.check_forward_args(input, state, None)
        output, hidden = torch.gru(
            input, state, self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional,
            self.batch_first,
        )  # fmt: skip
        if not is_batched:
            output = self._unbatched(output)
            hidden = hidden.squeeze(1)
        return output, self.permute_hidden(hidden, None)


class LSTM:
    """Long short-term memory."""

    def get_expected_cell_size(self: Any, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape that a cell state must have."""
        return (self._states(), self._batch(input, batch_sizes), self.hidden_size)

    def check_forward_args(self: Any, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None) -> None:
        """Raise where the input or a state do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self: Any, hx: tuple[Tensor, Tensor], permutation: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return both states with their batch reordered."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _both_states(
        self: Any, input: Tensor, hx: tuple[Tensor, Tensor] | None, is_batched: bool
    ) -> tuple[Tensor, Tensor]:
        if hx is None:
            hidden = torch.zeros(
                self._states(), self._batch(input, None), self._hidden_length(), dtype=input.dtype, device=input.device
            )
            cell = torch.zeros(
                self._states(), self._batch(input, None), self.hidden_size, dtype=input.dtype, device=input.device
            )
            return (hidden, cell)
        if is_batched:
            if hx[0].dim() != 3 or hx[1].dim() != 3:
                raise RuntimeError(
                    f"For batched 3-D input, hx and cx should also be 3-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                )
            return hx
        else:
            if hx[0].dim() != 2 or hx[1].dim() != 2:
                raise RuntimeError(
                    f"For unbatched 2-D input, hx and cx should also be 2-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                )
            return (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def forward(
        self: Any, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the outputs and the last states."""
        self._update_flat_weights()
        if input.dim() not in (2, 3):
            raise ValueError(f"LSTM: Expected input to be 2D or 3D, got {input.dim()}D instead")
        is_batched = input.dim() == 3
        input = self._batched(input)
        state = self._both_states(input, hx, is_batched)
        self.check_forward_args(input, state, None)
        output, hidden, cell = torch.lstm(
            input, [state[0], state[1]], self._flat_weights, self.bias, self.num_layers, self.dropout, self.training,
            self.bidirectional, self.batch_first,
        )  # fmt: skip
        if not is_batched:
            output = self._unbatched(output)
            hidden = hidden.squeeze(1)
            cell = cell.squeeze(1)
        return output, self.permute_hidden((hidden, cell), None)


class RNNCellBase:
    """What cells with one state check."""

    def _checked(self: Any, name: str, input: Tensor, hx: Tensor | None) -> Tensor:
        """Return the state, or zeros, for a batch."""
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is None:
            if input.dim() == 2:
                batch = input.size(0)
            else:
                batch = 1
            return torch.zeros(batch, self.hidden_size, dtype=input.dtype, device=input.device)
        if hx.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected hidden to be 1D or 2D, got {hx.dim()}D instead")
        if input.dim() == 2:
            return hx
        return hx.unsqueeze(0)


class RNNCell:
    """One step of a network of Elman."""

    def forward(self: Any, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state."""
        state = self._checked("RNNCell", input, hx)
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if self.nonlinearity == "tanh":
            ret = torch.rnn_tanh_cell(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        elif self.nonlinearity == "relu":
            ret = torch.rnn_relu_cell(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        else:
            ret = input
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        if not is_batched:
            ret = ret.squeeze(0)
        return ret


class GRUCell:
    """One step of gated recurrent units."""

    def forward(self: Any, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the next state."""
        state = self._checked("GRUCell", input, hx)
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        ret = torch.gru_cell(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if not is_batched:
            ret = ret.squeeze(0)
        return ret


class LSTMCell:
    """One step of long short-term memory."""

    def forward(self: Any, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        """Return the next states."""
        if input.dim() not in (1, 2):
            raise ValueError(f"LSTMCell: Expected input to be 1D or 2D, got {input.dim()}D instead")
        if hx is not None:
            for idx, value in enumerate(hx):
                if value.dim() not in (1, 2):
                    raise ValueError(f"LSTMCell: Expected hx[{idx}] to be 1D or 2D, got {value.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if hx is None:
            zeros = torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            state = (zeros, zeros)
        elif is_batched:
            state = hx
        else:
            state = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        hidden, cell = torch.lstm_cell(
            input, [state[0], state[1]], self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh
        )
        if not is_batched:
            return (hidden.squeeze(0), cell.squeeze(0))
        return (hidden, cell)


_rnn = torch.nn.modules.rnn
STANDS_IN: dict[type, type] = {
    _rnn.RNNBase: RNNBase, _rnn.RNN: RNN, _rnn.GRU: GRU, _rnn.LSTM: LSTM, _rnn.RNNCellBase: RNNCellBase,
    _rnn.RNNCell: RNNCell, _rnn.GRUCell: GRUCell, _rnn.LSTMCell: LSTMCell,
}  # fmt: skip
