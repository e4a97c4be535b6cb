"""Recurrent layers; public through ``nn.modules.rnn``."""

from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.modules._rnn_base import RNNBase
from mindtorch.nn.utils.rnn import PackedSequence
from mindtorch.ops_table import aten


class _Sequence:
    """An input as the ops take it: packed data or a batched tensor, and how to undo that."""

    def __init__(self, rnn: RNNBase, input: Any) -> None:
        self.batch_sizes: Tensor | None = None
        self.sorted_indices: Tensor | None = None
        self.unsorted_indices: Tensor | None = None
        self.is_batched = True
        if isinstance(input, PackedSequence):
            self.data, self.batch_sizes, self.sorted_indices, self.unsorted_indices = input
            self.batch = int(self.batch_sizes[0])
            return
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(rnn).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        self.is_batched = input.dim() == 3
        if not self.is_batched:
            input = input.unsqueeze(0 if rnn.batch_first else 1)
        self.data = input
        self.batch = input.size(0) if rnn.batch_first else input.size(1)

    def output(self, rnn: RNNBase, data: Tensor) -> Any:
        """Return ``data`` in the form of the input."""
        if self.batch_sizes is not None:
            return PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)
        return data if self.is_batched else data.squeeze(0 if rnn.batch_first else 1)

    def state(self, hidden: Tensor) -> Tensor:
        """Return a final state in the form of the initial one."""
        return hidden if self.is_batched else hidden.squeeze(1)


def _zeros(rnn: RNNBase, sequence: _Sequence, size: int) -> Tensor:
    directions = 2 if rnn.bidirectional else 1
    return mindtorch.zeros(
        (rnn.num_layers * directions, sequence.batch, size),
        dtype=sequence.data.dtype,
        device=sequence.data.device,
    )


class _SingleStateRNN(RNNBase):
    """A recurrent layer whose state is one tensor."""

    def _op(self) -> Any:
        raise NotImplementedError

    def _initial_state(self, sequence: _Sequence, hx: Tensor | None) -> Tensor:
        if hx is None:
            return _zeros(self, sequence, self.hidden_size)
        if sequence.batch_sizes is None:
            if sequence.is_batched:
                if hx.dim() != 3:
                    raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {hx.dim()}-D tensor")
            else:
                if hx.dim() != 2:
                    raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {hx.dim()}-D tensor")
                hx = hx.unsqueeze(1)
        return self.permute_hidden(hx, sequence.sorted_indices)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        """Return the outputs of the last layer, shaped as the input, and the final state of every layer."""
        self._update_flat_weights()
        sequence = _Sequence(self, input)
        hx = self._initial_state(sequence, hx)
        self.check_forward_args(sequence.data, hx, sequence.batch_sizes)
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if sequence.batch_sizes is None:
            output, hidden = self._op()(sequence.data, hx, self._flat_weights, *options, self.batch_first)
        else:
            output, hidden = self._op()(sequence.data, sequence.batch_sizes, hx, self._flat_weights, *options)
        hidden = sequence.state(hidden)
        return sequence.output(self, output), self.permute_hidden(hidden, sequence.unsorted_indices)


class RNN(_SingleStateRNN):
    """Elman network: ``h' = tanh(x @ W_ih.T + b_ih + h @ W_hh.T + b_hh)``, or relu.

    >>> torch.nn.RNN(3, 5)(torch.ones(4, 1, 3))[0].shape
    torch.Size([4, 1, 5])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            self.nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            self.nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity == "tanh":
            mode = "RNN_TANH"
        elif self.nonlinearity == "relu":
            mode = "RNN_RELU"
        else:
            raise ValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(mode, *args, **kwargs)

    def _op(self) -> Any:
        return aten.rnn_tanh if self.mode == "RNN_TANH" else aten.rnn_relu


class GRU(_SingleStateRNN):
    """Gated recurrent units.

    `input` is (L, N, input_size), with `batch_first` (N, L, input_size). The result is the outputs and the last hidden state.

    >>> output, hidden = torch.nn.GRU(3, 5)(torch.ones(4, 1, 3))
    >>> output.shape, hidden.shape
    (torch.Size([4, 1, 5]), torch.Size([1, 1, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def _op(self) -> Any:
        return aten.gru


class LSTM(RNNBase):
    """Long short-term memory; its state is the pair of hidden and cell state.

    `input` is (L, N, input_size), with `batch_first` (N, L, input_size). The result is the outputs (L, N, hidden_size, twice
    that with `bidirectional`) and the pair of last hidden and cell states (num_layers, N, hidden_size).

    >>> output, (hidden, cell) = torch.nn.LSTM(3, 5, num_layers=2)(torch.ones(4, 1, 3))
    >>> output.shape, hidden.shape, cell.shape
    (torch.Size([4, 1, 5]), torch.Size([2, 1, 5]), torch.Size([2, 1, 5]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape that the cell state must have for ``input``."""
        return self._state_shape(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None) -> None:
        """Raise where input, hidden or cell state do not fit the layer."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx: tuple[Tensor, Tensor], permutation: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return both states with their batch reordered."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _initial_state(self, sequence: _Sequence, hx: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor]:
        if hx is None:
            size = self.proj_size if self.proj_size > 0 else self.hidden_size
            hx = (_zeros(self, sequence, size), _zeros(self, sequence, self.hidden_size))
            return self.permute_hidden(hx, sequence.sorted_indices)
        if sequence.batch_sizes is None:
            if sequence.is_batched:
                if hx[0].dim() != 3 or hx[1].dim() != 3:
                    raise RuntimeError(
                        "For batched 3-D input, hx and cx should also be 3-D but got "
                        f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                    )
            else:
                if hx[0].dim() != 2 or hx[1].dim() != 2:
                    raise RuntimeError(
                        "For unbatched 2-D input, hx and cx should also be 2-D but got "
                        f"({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
                    )
                hx = (hx[0].unsqueeze(1), hx[1].unsqueeze(1))
        self.check_forward_args(sequence.data, hx, sequence.batch_sizes)
        return self.permute_hidden(hx, sequence.sorted_indices)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        """Return the outputs of the last layer, shaped as the input, and the final ``(hidden, cell)``."""
        self._update_flat_weights()
        sequence = _Sequence(self, input)
        hx = self._initial_state(sequence, hx)
        options = (self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if sequence.batch_sizes is None:
            self.check_forward_args(sequence.data, hx, None)
            result = aten.lstm(sequence.data, hx, self._flat_weights, *options, self.batch_first)
        else:
            result = aten.lstm(sequence.data, sequence.batch_sizes, hx, self._flat_weights, *options)
        hidden = (sequence.state(result[1]), sequence.state(result[2]))
        return sequence.output(self, result[0]), self.permute_hidden(hidden, sequence.unsorted_indices)
