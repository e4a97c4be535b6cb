"""Operators that take elements by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _along(x: Any, dim: int, index: Any, source: Array | float, reduce: int) -> Any:
    shape, made = x.shape, x.copy()
    if not index.size:
        return made
    if x.ndim == 0:
        made, x, index = made.reshape(1), x.reshape(1), index.reshape(1)
    cut = tuple(slice(0, n) for n in index.shape)
    if isinstance(source, np.ndarray):
        source = source.reshape(1) if source.ndim == 0 else source
        source = source[cut]
    places = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    if reduce == 0:
        made[tuple(places)] = source
    else:
        (np.add if reduce == 1 else np.multiply).at(made, tuple(places), source)
    return made.reshape(shape)


def _gather(x: Array, dim: int, index: Array) -> Any:
    if x.ndim == 0:
        return np.broadcast_to(x, index.shape)
    if index.size and (index.min() < 0 or index.max() >= x.shape[dim]):
        raise IndexError("Gather: an index is out of range")
    places = list(np.indices(index.shape, sparse=True)) if index.ndim else [np.zeros((), np.int64)]
    places[dim] = index
    return x[tuple(places)]


def _places(indices: Sequence[Array], x: Array) -> tuple[Any, ...]:
    # A dimension without index is marked by a tensor without elements.
    chosen: list[Any] = []
    for index in indices:
        skipped = index is None or (index.size == 0 and index.ndim == 1)
        chosen.append(slice(None) if skipped else index)
    while chosen and isinstance(chosen[-1], slice):
        chosen.pop()
    return tuple(chosen)


def _put(x: Array, indices: Sequence[Array], values: Array, accumulate: bool, unsafe: bool) -> Any:
    made = x.copy()
    places = _places(indices, x)
    if accumulate:
        np.add.at(made, places, values)
    else:
        made[places] = values
    return made


def _embedding(weight: Array, indices: Array) -> Any:
    if indices.size and (indices.min() < 0 or indices.max() >= weight.shape[0]):
        raise IndexError("Embedding: an index is out of range")
    return weight[indices]


def _embedding_backward(grad: Array, indices: Array, rows: int, padding: int, by_frequency: bool) -> Any:
    made = np.zeros((rows, grad.shape[-1]), grad.dtype)
    flat, each = indices.reshape(-1), grad.reshape(-1, grad.shape[-1])
    if by_frequency:
        each = each / np.bincount(flat, minlength=rows)[flat][:, None]
    np.add.at(made, flat, each)
    if padding < rows:  # -1 arrives as the largest uint64
        made[padding] = 0
    return made


def _fill_rows(x: Array, dim: int, index: Array, value: float) -> Any:
    made = np.atleast_1d(x.copy())
    made[(slice(None),) * (dim % made.ndim) + (index.reshape(-1),)] = value
    return made.reshape(x.shape)


def _add_rows(x: Array, dim: int, index: Any, source: Array, alpha: int) -> Any:
    made = np.atleast_1d(x.copy())
    rows = (source * alpha).reshape(-1) if made.ndim == 1 else source * alpha
    np.add.at(made, (slice(None),) * (dim % made.ndim) + (index.reshape(-1),), rows)
    return made.reshape(x.shape)


kernel("NonzeroV2", lambda x: np.stack(np.nonzero(np.atleast_1d(x)))[: x.ndim], sized_by_values=True, workspace=True)
kernel("MaskedSelect", lambda x, mask: x[mask], sized_by_values=True, workspace=True)
kernel("Gather", _gather)
kernel("Scatter", _along)
kernel("ScatterValue", _along)
kernel("ScatterAdd", lambda x, dim, index, source: _along(x, dim, index, source, 1))
kernel("Index", lambda x, indices: x[_places(indices, x)], values_matter=True)
kernel("IndexPutImpl", _put, outputs=("selfRef",), updates=("selfRef",), values_matter=True)
kernel("IndexSelect", lambda x, dim, index: np.take(x, index.reshape(-1), dim) if x.ndim else x)
kernel("IndexAdd", _add_rows)
kernel("IndexFill", _fill_rows)
kernel("Take", lambda x, index: x.reshape(-1)[index])
kernel("Embedding", _embedding)
kernel("EmbeddingDenseBackward", _embedding_backward, workspace=True)
