"""Sequences of different lengths: padding and packing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check
from ..typing import Scalar, Tensor


def pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool) -> tuple[Any, Any]:
    """Elements of a padded batch step by step, and how many sequences reach each step."""
    input = aten.transpose(input, 0, 1) if batch_first else input
    counts = lengths.tolist()
    batch = input.shape[1]
    check(input.numel() > 0, lambda: "Cannot pack empty tensors.")
    check(
        len(counts) == batch,
        lambda: f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={batch})",
    )
    check(
        min(counts) > 0,
        lambda: "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0",
    )
    check(
        all(first >= second for first, second in pairwise(counts)),
        lambda: (
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        ),
    )
    made = aten.empty([counts[0]], dtype=int64)  # refuses a length that no memory holds before a step is counted
    array, done = made._host_array(), 0
    for place in reversed(range(batch)):
        array[done : counts[place]] = place + 1
        done = counts[place]
    sizes = array[: input.shape[0]].tolist()
    # Steps beyond the padded length are counted, as torch counts them, but have no elements.
    pieces = [aten.narrow(each, 0, 0, size) for each, size in zip(aten.unbind(input, 0), sizes, strict=False)]
    return aten.cat(pieces, 0), made


def _longs(values: Sequence[int]) -> Any:
    made = aten.empty([len(values)], dtype=int64)
    made._host_array()[...] = values
    return made


def pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: Scalar, total_length: int
) -> tuple[Any, Any]:
    """A padded batch of packed data, and the lengths."""
    spec = batch_sizes._sig.spec
    check(
        spec.ndim == 1 and spec.dtype is int64 and spec.device.type == "cpu",
        lambda: (
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {spec.ndim}D {spec.device.type} "
            f"{spec.dtype.scalar_name} tensor"
        ),
    )
    sizes = batch_sizes.tolist()
    check(len(sizes) > 0, lambda: "batch_sizes can not be empty")
    longest, batch = len(sizes), sizes[0]
    if total_length > 0:
        check(
            total_length >= longest,
            lambda: (
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            ),
        )
    steps = [
        aten.constant_pad_nd(piece, [0, 0] * (len(data.shape) - 1) + [0, batch - size], padding_value)
        for piece, size in zip(aten.split_with_sizes(data, sizes, 0), sizes, strict=True)
    ]
    padded = aten.stack(steps, 0)
    if total_length > longest:
        padding = [0, 0] * (len(padded.shape) - 1) + [0, total_length - longest]
        padded = aten.constant_pad_nd(padded, padding, padding_value)
    lengths = [sum(size > place for size in sizes) for place in range(batch)]
    return (aten.transpose(padded, 0, 1) if batch_first else padded), _longs(lengths)


def pad_sequence(sequences: Sequence[Any], batch_first: bool, padding_value: float, padding_side: str) -> Any:
    """Sequences as one tensor, shorter ones padded."""
    check(len(sequences) > 0, lambda: "received an empty list of sequences")
    check(
        padding_side in ("left", "right"),
        lambda: f"Expected padding_side to be one of left or right, but got {padding_side}.",
    )
    check(len(sequences[0].shape) > 0, lambda: "ArrayRef: invalid slice, N = 1; size = 0")
    trailing = tuple(sequences[0].shape[1:])
    longest = max(sequence.shape[0] for sequence in sequences)
    padded = []
    for sequence in sequences:
        wanted = (sequence.shape[0], *trailing)
        if tuple(sequence.shape) != wanted:
            # As a copy into the padded tensor would broadcast it, or not.
            sequence = aten.broadcast_tensors([aten.new_empty(sequence, list(wanted)), sequence])[1]
        missing = longest - sequence.shape[0]
        sides = [missing, 0] if padding_side == "left" else [0, missing]
        padded.append(aten.constant_pad_nd(sequence, [0, 0] * len(trailing) + sides, padding_value))
    return aten.stack(padded, 0 if batch_first else 1)
