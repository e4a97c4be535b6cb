"""Geometry of ops on masks, and of the positions where a mask holds."""

from __future__ import annotations

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import broadcast_shapes

from ..apart import ANYWHERE, NOTHING_SHARED, PARTLY, Apart
from ..typing import Scalar
from .checks import c_type, check
from .rule import MetaRule, Outputs, every_dim, meta_rule


def _masked_fill(self: Spec, mask: Spec, value: Scalar | Spec) -> Outputs:
    check(
        mask.dtype is bool_dtype,
        lambda: f"masked_fill_ only supports boolean masks, but got mask with dtype {c_type(mask.dtype)}",
    )
    if isinstance(value, Spec):
        check(
            value.ndim == 0,
            lambda: (
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            ),
        )
    shape = broadcast_shapes(self.shape, mask.shape)
    follows = not self.ndim and self.device.type == "cpu"  # a CPU scalar goes where the mask is
    return Outputs(Spec.of(self.dtype, mask.device if follows else self.device, shape))


_BUT_VALUE = Apart(PARTLY, {2: ""}, first=True)
masked_fill = MetaRule(_masked_fill, inplace=True, aliases_ok=True, leading=every_dim, apart=_BUT_VALUE)
"""`masked_fill`: a number or 0-d tensor where the mask holds."""


@meta_rule(
    out=True,
    apart=NOTHING_SHARED,
    exact=lambda spec, given: "masked_select(): self and result must have the same scalar type",
)
def masked_select(self: Spec, mask: Spec) -> Spec:
    """`masked_select`: as many elements as the mask holds."""
    check(mask.dtype is bool_dtype, lambda: "masked_select: expected BoolTensor for mask")
    broadcast_shapes(self.shape, mask.shape)
    return Spec.of(self.dtype, self.device, (0,))


@meta_rule(
    out=True,
    apart=NOTHING_SHARED,
    exact=lambda spec, given: (
        f"nonzero: Expected out tensor to have scalar type Long but got scalar type{given.scalar_name}"
    ),
)
def nonzero(self: Spec) -> Spec:
    """`nonzero`: one row per non-zero element."""
    return Spec.of(int64, self.device, (0, self.ndim), (1, 0))  # a row of every dimension's positions, transposed


@meta_rule()
def nonzero_static(self: Spec, size: int, fill_value: int = -1) -> Spec:
    """`nonzero` with a fixed number of rows, the missing ones filled."""
    check(size >= 0, lambda: "nonzero_static: 'size' must be an non-negative integer")
    return Spec.of(int64, self.device, (size, self.ndim))


def _masked_scatter(self: Spec, mask: Spec, source: Spec) -> Spec:
    check(
        self.dtype is source.dtype,
        lambda: (
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{self.dtype.scalar_name} and {source.dtype.scalar_name}"
        ),
    )
    check(
        mask.dtype is bool_dtype,
        lambda: f"masked_scatter_ only supports boolean masks, but got mask with dtype {mask.dtype.scalar_name}",
    )
    return Spec.of(self.dtype, self.device, broadcast_shapes(self.shape, mask.shape))


masked_scatter = MetaRule(_masked_scatter, inplace=True, aliases_ok=True, apart=ANYWHERE)
"""`masked_scatter`: the source's elements in order where the mask holds."""
