"""Meta rules of sorting and searching."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import complex128, float64, int32, int64
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import preserved_strides

from ..apart import ANYWHERE, PARTLY, Apart
from .checks import check, shape_text, wrap_dim
from .extremum import check_kernel, unless_number
from .pointwise import promoted
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES


def _sorted(self: Spec, dim: int, descending: bool) -> Outputs:
    check(not self.dtype.is_complex, lambda: " Sort does not support complex dtypes on CPU")
    axis = wrap_dim(dim, self.ndim)
    stride = preserved_strides(self.shape, self.stride)
    specs = tuple(Spec.of(dtype, self.device, self.shape, stride) for dtype in (self.dtype, int64))
    return Outputs(specs, values=(self, axis, descending))


def _sort(self: Spec, dim: int = -1, descending: bool = False) -> Outputs:
    return _sorted(self, dim, descending)


def _sort_stable(self: Spec, stable: bool | None, dim: int = -1, descending: bool = False) -> Outputs:
    return _sorted(self, dim, descending)


_VALUES = Apart(PARTLY, results=1)
sort = MetaRule(_sort, out=True, exact=True, apart=_VALUES)
"""`sort(self, dim, descending)`; the kernel gets (self, dim, descending)."""

sort_stable = MetaRule(_sort_stable, out=True, exact=True, apart=_VALUES)
"""`sort(self, stable=...)`, the same kernel arguments: sorting is always stable."""


def _topk(self: Spec, k: int, dim: int = -1, largest: bool = True, sorted_: bool = True) -> Outputs:
    axis = wrap_dim(dim, self.ndim)
    extent = self.shape[axis] if self.ndim else 1
    check(0 <= k <= extent, lambda: "selected index k out of range")
    check(not self.dtype.is_complex, lambda: " topk does not support complex dtypes on CPU")
    check(self.dtype is not bool_dtype, lambda: "topk does not support bool dtypes on CPU")
    check_kernel(self, "topk_cpu")
    shape = list(self.shape)
    if shape:
        shape[axis] = k
    specs = tuple(Spec.of(dtype, self.device, shape) for dtype in (self.dtype, int64))
    return Outputs(specs, values=(self, k, axis, largest, sorted_))


topk = MetaRule(_topk, out=True, exact=True, apart=unless_number)
"""`topk`; the kernel gets (self, k, dim, largest, sorted)."""


def _check_side(right: bool, side: str | None) -> None:
    if side is None:
        return
    check(
        side in ("left", "right"),
        lambda: f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}",
    )
    check(
        not right or side == "right",
        lambda: (
            f"torch.searchsorted(): side and right can't be set to opposites, got side of {side} while right was True"
        ),
    )


def _check_sorter(sequence: Spec, sorter: Spec | None) -> None:
    if sorter is None:
        return
    check(
        sequence.shape == sorter.shape,
        lambda: (
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{shape_text(sequence.shape)}and got sorter tensor {shape_text(sorter.shape)}"
        ),
    )
    check(
        sorter.dtype is int64,
        lambda: f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_name}",
    )


def _check_extents(sequence: Spec, values: object) -> None:
    shape = tuple(values.shape) if isinstance(values, Spec) else ()
    count = values.numel if isinstance(values, Spec) else 1
    check(
        len(shape) > 0 or sequence.ndim == 1,
        lambda: (
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we "
            f"got boundaries tensor dim({sequence.ndim}) and input value's dim({len(shape)}) numel({count})"
        ),
    )
    check(
        sequence.ndim > 0,
        lambda: "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension",
    )
    check(
        sequence.ndim == 1 or tuple(sequence.shape[:-1]) == shape[:-1],
        lambda: (
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {shape_text(sequence.shape)} and "
            "input "
            f"value tensor {shape_text(shape)}"
        ),
    )


def _searchsorted(
    sorted_sequence: Spec,
    self: Any,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Spec | None = None,
) -> Outputs:
    _check_side(right, side)
    _check_sorter(sorted_sequence, sorter)
    _check_extents(sorted_sequence, self)
    compute = promoted((sorted_sequence, self))
    if not isinstance(self, Spec) or self.numel:
        check_kernel(sorted_sequence.with_(dtype=compute), "searchsorted_out_cpu", refuses=BOOL_NAMES)
    spec = Spec.of(int32 if out_int32 else int64, sorted_sequence.device, self.shape if isinstance(self, Spec) else ())
    place = "right" if right or side == "right" else "left"
    return Outputs(spec, cast={0: compute, 1: compute}, values=(sorted_sequence, self, place, 0, 0, sorter))


searchsorted = MetaRule(_searchsorted, out=True)
"""`searchsorted`; the kernel gets (sequence, values, side, -, -, sorter)."""


def _bucketize(self: Any, boundaries: Spec, out_int32: bool = False, right: bool = False) -> Outputs:
    check(boundaries.ndim == 1, lambda: f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    compute = promoted((boundaries, self))
    check_kernel(boundaries.with_(dtype=compute), "searchsorted_out_cpu", refuses=BOOL_NAMES)
    spec = Spec.of(int32 if out_int32 else int64, boundaries.device, self.shape if isinstance(self, Spec) else ())
    return Outputs(spec, cast=compute, values=(self, boundaries, "right" if right else "left"))


bucketize = MetaRule(_bucketize, out=True)
"""`bucketize`; the kernel gets (values, boundaries, side)."""


def _compares_all(elements: object, test: object) -> bool:
    """True where torch compares every pair; with more elements to test it sorts, which more dtypes support."""
    count = elements.numel if isinstance(elements, Spec) else 1
    return isinstance(test, Spec) and test.numel < int(10 * count**0.145)


_SCALARS = {bool: bool_dtype, int: int64, float: float64, complex: complex128}


def _isin(elements: Any, test: Any, assume_unique: bool = False, invert: bool = False) -> Outputs:
    for value in (elements, test):
        dtype = value.dtype if isinstance(value, Spec) else _SCALARS[type(value)]
        check(
            not dtype.is_complex and dtype is not bool_dtype,
            lambda dtype=dtype: f"Unsupported input type encountered for isin(): {dtype.scalar_name}",
        )
    compute = promoted((elements, test))
    if _compares_all(elements, test):
        check_kernel(test.with_(dtype=compute), "isin_default_cpu")
    device = (elements if isinstance(elements, Spec) else test).device
    spec = Spec.of(bool_dtype, device, elements.shape if isinstance(elements, Spec) else ())
    return Outputs(spec, cast=compute)


def _isin_apart(elements: Any, test: Any, *rest: object) -> Apart:
    return Apart("", {0: PARTLY}) if not isinstance(test, Spec) or _compares_all(elements, test) else ANYWHERE


isin = MetaRule(_isin, out=True, apart=_isin_apart)
"""`isin`."""
