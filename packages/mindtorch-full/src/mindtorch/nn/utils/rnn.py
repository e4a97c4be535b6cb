"""Sequences of different lengths as one tensor: padded, or packed step by step."""

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ops_table import aten

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]

PackedSequence_ = namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])
# The tuple is pickled under the name of its subclass.
PackedSequence_.__module__ = "mindtorch.nn.utils.rnn"


class PackedSequence(PackedSequence_):
    """The elements of a batch of sequences, step by step, without padding.

    ``batch_sizes`` says how many sequences reach each step; the indices undo the sorting by length.

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])]).batch_sizes
    tensor([2, 1])
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> "PackedSequence":
        """Return a packed sequence; ``unsorted_indices`` follow from ``sorted_indices``."""
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """Return the sequence with its data cast or moved; itself where nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        kwargs = {key: value for key, value in kwargs.items() if key not in ("device", "dtype")}
        sorted_indices = _moved(self.sorted_indices, data.device, kwargs)
        unsorted_indices = _moved(self.unsorted_indices, data.device, kwargs)
        return type(self)(data, self.batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self) -> "PackedSequence":
        """Return the sequence in page-locked memory."""
        return type(self)(
            self.data.pin_memory(),
            self.batch_sizes,
            None if self.sorted_indices is None else self.sorted_indices.pin_memory(),
            None if self.unsorted_indices is None else self.unsorted_indices.pin_memory(),
        )

    def cuda(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """Return the sequence on the GPU."""
        probe = mindtorch.tensor((), dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        if probe.is_cuda:
            return self.to(*args, **kwargs)
        return self.to(*args, **{**kwargs, "device": "cuda"})

    def cpu(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """Return the sequence on the CPU."""
        probe = mindtorch.tensor((), dtype=self.data.dtype, device=self.data.device).to(*args, **kwargs)
        if probe.device.type == "cpu":
            return self.to(*args, **kwargs)
        return self.to(*args, **{**kwargs, "device": "cpu"})

    def double(self) -> "PackedSequence":
        """Return the sequence as float64."""
        return self.to(dtype=mindtorch.double)

    def float(self) -> "PackedSequence":
        """Return the sequence as float32."""
        return self.to(dtype=mindtorch.float)

    def half(self) -> "PackedSequence":
        """Return the sequence as float16."""
        return self.to(dtype=mindtorch.half)

    def long(self) -> "PackedSequence":
        """Return the sequence as int64."""
        return self.to(dtype=mindtorch.long)

    def int(self) -> "PackedSequence":
        """Return the sequence as int32."""
        return self.to(dtype=mindtorch.int)

    def short(self) -> "PackedSequence":
        """Return the sequence as int16."""
        return self.to(dtype=mindtorch.short)

    def char(self) -> "PackedSequence":
        """Return the sequence as int8."""
        return self.to(dtype=mindtorch.int8)

    def byte(self) -> "PackedSequence":
        """Return the sequence as uint8."""
        return self.to(dtype=mindtorch.uint8)

    @property
    def is_cuda(self) -> bool:
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self) -> bool:
        """Return whether the data is in page-locked memory."""
        return self.data.is_pinned()


def _moved(indices: Tensor | None, device: Any, kwargs: dict[str, Any]) -> Tensor | None:
    return None if indices is None else indices.to(device, **kwargs)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Return the permutation that undoes ``permutation``.

    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    output = mindtorch.empty_like(permutation, memory_format=mindtorch.contiguous_format)
    output.scatter_(0, permutation, mindtorch.arange(0, permutation.numel(), device=permutation.device))
    return output


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Pack (T, B, *), or (B, T, *) with ``batch_first``; sequences come by falling length unless told otherwise.

    >>> torch.nn.utils.rnn.pack_padded_sequence(torch.tensor([[1, 2], [3, 0]]), [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    if not isinstance(lengths, Tensor):
        lengths = mindtorch.as_tensor(lengths, dtype=mindtorch.int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = mindtorch.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, batch_sizes = aten._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Return the padded sequences (T, B, *) and their lengths, in the order before packing.

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2],
            [3, 0]]), tensor([2, 1]))
    """
    max_length = sequence.batch_sizes.size(0)
    if total_length is not None:
        if total_length < max_length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {max_length}"
            )
        max_length = total_length
    output, lengths = aten._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, max_length
    )
    order = sequence.unsorted_indices
    if order is not None:
        return output.index_select(0 if batch_first else 1, order), lengths[order.cpu()]
    return output, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Return the sequences as one tensor (T, B, *), shorter ones padded on ``padding_side``.

    >>> torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = sequences.unbind(0) if isinstance(sequences, Tensor) else tuple(sequences)
    return aten.pad_sequence(sequences, batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """Return the sequences of a padded tensor without their padding.

    >>> torch.nn.utils.rnn.unpad_sequence(torch.tensor([[1, 2], [3, 0]]), torch.tensor([2, 1]), batch_first=True)
    [tensor([1, 2]), tensor([3])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    max_length = padded_sequences.shape[1]
    steps = mindtorch.arange(max_length, device=lengths.device)
    unpadded = []
    for sequence, length in zip(padded_sequences, lengths, strict=False):
        unpadded.append(sequence[steps < length])
    return unpadded


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Pack a list of sequences of different lengths.

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    PackedSequence(data=tensor([1, 3, 2]), batch_sizes=tensor([2, 1]), sorted_indices=None, unsorted_indices=None)
    """
    lengths = mindtorch.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """Return the sequences of a packed one, in the order before packing.

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    >>> torch.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2]), tensor([3])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


adopt(globals())
