"""What two tensors have in common besides their elements: a part of `torch._subclasses.meta_utils`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import mindtorch as torch

_COMPRESSED = (torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc)


def is_sparse_coo(t: Any) -> bool:
    """Return whether this is a tensor of the layout `torch.sparse_coo`."""
    return isinstance(t, torch.Tensor) and t.layout is torch.sparse_coo


def is_sparse_compressed_layout(layout: Any) -> bool:
    """Return whether a layout keeps compressed rows or columns."""
    return layout in _COMPRESSED


def is_sparse_compressed(t: Any) -> bool:
    """Return whether this is a tensor with compressed rows or columns."""
    return isinstance(t, torch.Tensor) and is_sparse_compressed_layout(t.layout)


def is_sparse_any(t: Any) -> bool:
    """Return whether this is a sparse tensor."""
    return is_sparse_coo(t) or is_sparse_compressed(t)


@dataclasses.dataclass(frozen=True)
class TensorMetadata:
    """All that a tensor is besides its elements."""

    dtype: torch.dtype
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    device: torch.device
    layout: torch.layout
    memory_format: torch.memory_format | None
    storage_offset: int
    storage_bytes: int | None
    requires_grad: bool
    is_quantized: bool
    is_conj: bool
    is_neg: bool
    is_inference: bool
    is_sparse: bool
    is_coalesced: bool | None
    dense_dim: int | None
    sparse_dim: int | None


def extract_tensor_metadata(t: torch.Tensor) -> TensorMetadata:
    """Return all that a tensor is besides its elements."""
    sparse = is_sparse_any(t)
    memory_format = None if sparse else torch._prims_common.suggest_memory_format(t)
    if memory_format is not None and not t.is_contiguous(memory_format=memory_format):
        memory_format = None
    return TensorMetadata(
        t.dtype,
        t.shape,
        t.stride() if t.layout is torch.strided else (),
        t.device,
        t.layout,
        memory_format,
        t.storage_offset(),
        None if sparse else t.untyped_storage().nbytes(),
        t.requires_grad,
        t.is_quantized,
        t.is_conj(),
        t.is_neg(),
        t.is_inference(),
        t.is_sparse,
        t.is_coalesced() if t.is_sparse else None,
        t.dense_dim() if sparse else None,
        t.sparse_dim() if sparse else None,
    )


def assert_eq(a: object, b: object) -> None:
    """Raise an AssertionError that shows both unless they are equal."""
    if a != b:
        raise AssertionError(f"{a} != {b}")


def assert_metadata_eq(
    assert_eq: Callable[[Any, Any], None],
    m1: torch.Tensor,
    m2: torch.Tensor,
    *,
    skip_symbolic: bool = False,
    skip_leaf: bool = False,
) -> None:
    """Ask ``assert_eq`` of everything that two tensors, and their gradients, have besides their elements and device."""
    _same(assert_eq, m1, m2, skip_leaf)
    if not is_sparse_any(m1):
        _same_memory(assert_eq, m1, m2)
    if m1.is_leaf and m2.is_leaf:
        assert_eq(m1.grad is None, m2.grad is None)
        if m1.grad is not None and m2.grad is not None:
            assert_metadata_eq(assert_eq, m1.grad, m2.grad, skip_leaf=skip_leaf)


def _same(assert_eq: Callable[[Any, Any], None], m1: torch.Tensor, m2: torch.Tensor, skip_leaf: bool) -> None:
    assert_eq(m1.dtype, m2.dtype)
    assert_eq(m1.shape, m2.shape)
    assert_eq(m1.requires_grad, m2.requires_grad)
    if not skip_leaf:
        assert_eq(m1.is_leaf, m2.is_leaf)
        assert_eq(m1.grad_fn is None, m2.grad_fn is None)
    assert_eq(m1.is_sparse, m2.is_sparse)
    assert_eq(m1.layout, m2.layout)
    assert_eq(m1.is_inference(), m2.is_inference())
    assert_eq(m1.is_conj(), m2.is_conj())
    assert_eq(m1.is_neg(), m2.is_neg())
    if is_sparse_any(m1):
        assert_eq(m1.dense_dim(), m2.dense_dim())
        assert_eq(m1.sparse_dim(), m2.sparse_dim())
    if is_sparse_coo(m1):
        assert_eq(m1.is_coalesced(), m2.is_coalesced())


def _same_memory(assert_eq: Callable[[Any, Any], None], m1: torch.Tensor, m2: torch.Tensor) -> None:
    assert_eq(m1.stride(), m2.stride())
    assert_eq(m1.storage_offset(), m2.storage_offset())
    assert_eq(m1._is_view(), m2._is_view())
