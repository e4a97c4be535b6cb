"""Embedding tables: rows gathered, gradients summed by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..many_dimensions import combine_at
from ..register import kernel

SUM, MEAN, MAX = 0, 1, 2


@kernel("embedding", upcast=False)
def embedding(out: Any, weight: Any, indices: Any, padding_idx: int, scale: bool, sparse: bool) -> None:
    """Rows by number."""
    if indices.size == 0:
        return
    if indices.min() < 0 or indices.max() >= weight.shape[0]:
        raise IndexError("index out of range in self")
    # mode="clip" spares numpy's own check, which goes through a buffer.
    np.take(weight, indices, axis=0, out=out, mode="clip")


def sum_rows(out: Any, rows: Any, numbers: Any) -> None:
    """Add each of `rows` to the row of `out` that `numbers` names; equal numbers are brought together first."""
    if not len(numbers):
        return
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] += np.add.reduceat(rows[order], starts, axis=0)


@kernel("embedding_dense_backward")
def dense_backward(out: Any, grad: Any, indices: Any, num_weights: int, padding_idx: int, scale: bool) -> None:
    """Gradients of the rows, by how often a row was taken if `scale`."""
    out.fill(0)
    numbers = indices.reshape(-1)
    rows = grad.reshape(len(numbers), out.shape[1]) if len(numbers) else grad.reshape(0, out.shape[1])
    if padding_idx >= 0 and len(numbers):
        kept = numbers != padding_idx
        if not kept.all():
            numbers, rows = numbers[kept], rows[kept]
    if scale and len(numbers):
        rows = rows / np.bincount(numbers, minlength=num_weights)[numbers][:, None].astype(rows.dtype)
    sum_rows(out, rows, numbers)


@kernel("embedding_renorm_", upcast=False)
def renorm(out: Any, self: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows that are named and longer than `max_norm`."""
    for number in np.unique(indices):
        row = out[number]
        norm = float(np.linalg.norm(row.astype(np.complex128 if row.dtype.kind == "c" else np.float64), norm_type))
        if norm > max_norm:
            row *= row.dtype.type(max_norm / (norm + 1e-7))


def _check_bags(weight: Any, indices: Any, offsets: Any, include_last: bool, fused: bool) -> None:
    if include_last and not len(offsets):
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if len(offsets):
        if offsets[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. "
                f"However, got {offsets[0]}\n[ torch.{'Int' if offsets.dtype == np.int32 else 'Long'}Tensor{{}} ]"
            )
        if (offsets < 0).any():
            raise IndexError("index out of range in self")
        if offsets[-1] > len(indices):
            raise RuntimeError(
                f"offsets[-1] can not be greater than input's length {len(indices)} but got offsets[-1] of {offsets[-1]}"
            )
    wrong = np.flatnonzero((indices < 0) | (indices >= weight.shape[0]))
    if len(wrong) and not fused:
        raise RuntimeError(
            f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {indices[wrong[0]]}"
        )
    if len(wrong):
        raise RuntimeError(
            f"Index {wrong[0]} of input takes value {indices[wrong[0]]} which is not in the valid range "
            f"[0, {weight.shape[0]})"
        )


def bag_of(offsets: Any, count: int, bags: int) -> Any:
    """Return which bag each of `count` positions belongs to."""
    return np.searchsorted(offsets[:bags], np.arange(count), side="right") - 1


@kernel("_embedding_bag", "_embedding_bag_forward_only")
def bag(
    outs: Any,
    weight: Any,
    indices: Any,
    offsets: Any,
    scale: bool,
    mode: int,
    sparse: bool,
    samples: Any,
    include_last: bool,
    padding_idx: int,
) -> None:
    """Sum, mean or maximum of the rows of each bag."""
    out, positions, sizes, winners = outs
    indices = indices.reshape(-1)
    # Torch adds rows in one pass where they lie one after another; the other way has a check, and a text, of its own.
    rows_in_place = weight.strides[1] == weight.itemsize and weight.dtype != np.float64
    if samples is not None:
        rows_in_place = rows_in_place and samples.strides[0] == samples.itemsize
    fused = mode != MAX and padding_idx < 0 and rows_in_place
    _check_bags(weight, indices, offsets, include_last, fused)
    bags = bag_of(offsets, len(indices), len(out))
    if positions.size:
        positions[...] = bags
    kept = np.arange(len(indices)) if padding_idx < 0 else np.flatnonzero(indices != padding_idx)
    bags, numbers = bags[kept], indices[kept]
    rows = weight[numbers]
    if samples is not None:
        rows = rows * samples[kept][:, None]
    counts = np.bincount(bags, minlength=len(out))[: len(out)] if len(out) else np.zeros(0, np.int64)
    sizes[...] = 0 if mode == SUM else counts
    out.fill(0)
    if mode == MAX:
        _largest(out, winners, rows, bags, numbers)
        return
    winners[...] = 0 if mode == SUM else counts
    if fused and include_last:  # what comes after the last offset counts, but is not added
        rows, bags = rows[: offsets[-1]], bags[: offsets[-1]]
    sum_rows(out, rows, bags)
    if mode == MEAN:
        np.divide(out, np.maximum(counts, 1)[:, None].astype(out.dtype), out)


def _largest(out: Any, winners: Any, rows: Any, bags: Any, numbers: Any) -> None:
    winners.fill(0)
    for each in np.unique(bags):
        members = np.flatnonzero(bags == each)
        best = np.argmax(rows[members], axis=0)
        out[each] = np.take_along_axis(rows[members], best[None], axis=0)[0]
        winners[each] = numbers[members][best]


@kernel("_embedding_bag_dense_backward")
def bag_dense_backward(
    out: Any,
    grad: Any,
    indices: Any,
    bags: Any,
    sizes: Any,
    winners: Any,
    num_weights: int,
    scale: bool,
    mode: int,
    samples: Any,
    padding_idx: int,
) -> None:
    """Gradients of the rows."""
    out.fill(0)
    if mode == MAX:
        filled = np.flatnonzero(sizes > 0)
        for column in range(out.shape[1]):
            combine_at(np.add, out[:, column], winners[filled, column], grad[filled, column])
        return
    numbers = indices.reshape(-1)
    shares = _divisors(numbers) if scale and len(numbers) else None
    kept = np.flatnonzero((bags < len(grad)) & ((padding_idx < 0) | (numbers != padding_idx)))
    numbers, bags = numbers[kept], bags[kept]
    rows = grad[bags]
    if samples is not None:
        rows = rows * samples[kept][:, None]
    if mode == MEAN:
        rows = rows / sizes[bags][:, None].astype(rows.dtype)
    if shares is not None:
        rows = rows / shares[kept][:, None].astype(rows.dtype)
    sum_rows(out, rows, numbers)


def _divisors(numbers: Any) -> Any:
    """Return what `scale_grad_by_freq` divides by at each position.

    The table's own gradient is divided by how often the row was taken. That of bags is not, in torch: the row that is
    the n-th of those taken is divided by the count of the n-th number in order.
    """
    taken, row, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    in_order = np.repeat(counts, counts)
    return in_order[: len(taken)][row]


@kernel("_embedding_bag_per_sample_weights_backward")
def bag_weights_backward(
    out: Any, grad: Any, weight: Any, indices: Any, offsets: Any, bags: Any, mode: int, padding_idx: int
) -> None:
    """Gradient of the weight of each index: its row times its bag's gradient."""
    if len(bags) != len(indices):
        bags = bag_of(offsets, len(indices), len(offsets))
    np.einsum("ij,ij->i", grad[np.minimum(bags, len(grad) - 1)], weight[indices], out=out)
    out[(bags >= len(grad)) | ((padding_idx >= 0) & (indices == padding_idx))] = 0


@kernel("one_hot")
def one_hot(self: Any, num_classes: int) -> Any:
    """Ones at the class numbers."""
    if self.size:
        if self.min() < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes == -1:
            num_classes = int(self.max()) + 1
        elif self.max() >= num_classes:
            raise RuntimeError("Class values must be smaller than num_classes.")
    out = np.zeros((*self.shape, num_classes), np.int64)
    if self.size:
        np.put_along_axis(out, self[..., None], 1, axis=-1)
    return out
