"""Batches in parts, and results together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils import _pytree

__all__ = ["TensorChunkSpec", "merge_chunks", "split_args_kwargs_into_chunks"]


class TensorChunkSpec:
    """Along which dimension a tensor is cut."""

    def __init__(self, split_dim: int) -> None:
        self.split_dim = split_dim

    def __repr__(self) -> str:
        return f"{type(self).__module__}.{type(self).__name__}({self.split_dim})"

    def __str__(self) -> str:
        return f"TensorChunkSpec({self.split_dim})"

    @staticmethod
    def from_tuple(chunk_dims: tuple[int, ...]) -> tuple[TensorChunkSpec, ...]:
        """Return the specs of positional arguments."""
        return tuple(TensorChunkSpec(dim) for dim in chunk_dims)

    @staticmethod
    def from_dict(chunk_dims: dict[str, int]) -> dict[str, TensorChunkSpec]:
        """Return the specs of keyword arguments."""
        return {name: TensorChunkSpec(dim) for name, dim in chunk_dims.items()}


def split_tensor(tensor: Tensor, dim: int, chunks: int) -> Sequence[Tensor]:
    """Cut a tensor into parts; those of a leaf keep their gradients."""
    if tensor.size(dim) < chunks:
        raise AssertionError(f"Tensor size {tensor.size(dim)} is smaller than num_chunks")
    parts: Sequence[Tensor] = torch.tensor_split(tensor, chunks, dim)
    if tensor.requires_grad and tensor.is_leaf:
        for part in parts:
            part.retain_grad()
    return parts


def _split(value: object, spec: object, chunks: int) -> list[Any]:
    """Return what every part gets: parts of the tensors, and everything else as it is."""
    leaves, structure = _pytree.tree_flatten(value)
    if spec is None:
        specs: list[object] = [TensorChunkSpec(0) if isinstance(leaf, Tensor) else None for leaf in leaves]
    else:
        specs = _pytree.tree_leaves(spec, is_leaf=lambda one: one is None)
    sizes = [
        leaf.size(given.split_dim)
        for leaf, given in zip(leaves, specs, strict=True)
        if isinstance(given, TensorChunkSpec)
    ]
    chunks = min([chunks, *sizes])
    columns = [
        split_tensor(leaf, given.split_dim, chunks) if isinstance(given, TensorChunkSpec) else [leaf] * chunks
        for leaf, given in zip(leaves, specs, strict=True)
    ]
    return [_pytree.tree_unflatten([column[index] for column in columns], structure) for index in range(chunks)]


def split_args_kwargs_into_chunks(
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None,
    chunks: int,
    args_chunk_spec: tuple[TensorChunkSpec, ...] | None = None,
    kwargs_chunk_spec: dict[str, TensorChunkSpec] | None = None,
) -> tuple[list[tuple[Any, ...]], list[dict[str, Any]]]:
    """Cut the tensors of arguments into parts, along dimension 0 unless a spec says otherwise: no more than they have rows.

    split_args_kwargs_into_chunks((torch.ones(4, 2),), {"scale": 3}, 2)  # two parts of two rows, 3 for both
    """
    parts = _split(args, args_chunk_spec, chunks)
    keywords = _split(dict(kwargs or {}), kwargs_chunk_spec, len(parts))
    if len(keywords) < len(parts):
        parts = _split(args, args_chunk_spec, len(keywords))
    return parts, keywords


def merge_chunks(chunks: Sequence[Any], chunk_spec: object = None) -> object:
    """Put results together: tensors along their dimension, everything else must be the same in all parts."""
    first, structure = _pytree.tree_flatten(chunks[0])
    specs: list[object] = [TensorChunkSpec(0)] * len(first)
    if chunk_spec is not None:
        specs, structure = _pytree.tree_flatten(chunk_spec)
    flat = [_pytree.tree_leaves(chunk) for chunk in chunks]
    for chunk, leaves in zip(chunks, flat, strict=True):
        if len(leaves) != len(specs):
            raise ValueError(f"Chunk {chunk} did not match chunk spec {chunk_spec}")
    merged = []
    for index, spec in enumerate(specs):
        values = [leaves[index] for leaves in flat]
        if isinstance(spec, TensorChunkSpec):
            merged.append(torch.cat(values, dim=spec.split_dim))
            continue
        for value in values[1:]:
            if value != values[0]:
                raise AssertionError(f"Expected {values[0]}, got {value}")
        merged.append(values[0])
    return _pytree.tree_unflatten(merged, structure)


adopt(globals())
