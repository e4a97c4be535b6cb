"""Results written into tensors the caller gave: the in-place and `out=` forms of composed ops."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..apart import ANYWHERE, Apart
from ..interface.autograd import hooks
from ..interface.wiring import wired
from ..meta.checks import check, shape_text
from ..meta.packs import Pack
from ..state import state
from ..table import OpRow
from .out_dtypes import check_out_dtype
from .targets import COPIED_OUT, check_out_device, check_result_type, check_writable, prepare_target, refuse_recorded


def copy_into(target: TensorBase, value: TensorBase) -> TensorBase:
    """Write `value` into `target` in place; torch's errors for another shape or a dtype that does not fit."""
    have, want = value._sig.spec, target._sig.spec
    check(
        have.shape == want.shape,
        lambda: (
            f"output with shape {shape_text(want.shape)} doesn't match the broadcast shape {shape_text(have.shape)}"
        ),
    )
    check_result_type(have.dtype, want.dtype)
    wired.copy_(target, value)
    return target


_OUT_NAMES = {
    "unbind_copy": "unbind_copy_int_out", "split_copy": "split_copy_Tensor_out()",
    "split_with_sizes_copy": "split_with_sizes_copy_out",
}  # fmt: skip
"""What torch calls the forms that write into a list."""


def _check_count(row: OpRow, given: int, made: int) -> None:
    """Raise torch's error for an `out=` list of another length than the results have."""
    check(
        given == made,
        lambda: f"{_OUT_NAMES.get(row.packet, row.packet)} expected an out= argument of size {made}, got size {given}",
    )


def copy_out(row: OpRow, targets: Any, values: Any) -> Any:
    """Write results into the tensors given as `out=`, resizing them as torch does, and return them.

    But for some ops torch gives `out=` to the last of those that are composed, which must not be recorded.
    """
    single = isinstance(targets, TensorBase)
    if not single:
        _check_count(row, len(targets), len(values))
    pairs = list(zip((targets,) if single else targets, (values,) if single else values, strict=True))
    if isinstance(row.apart, Apart) and row.apart is not ANYWHERE and row.packet not in COPIED_OUT:
        for target, _ in pairs:  # torch looks before it resizes
            check_writable(target._sig.spec)
    if state.mode.records and row.packet not in COPIED_OUT:
        for _, value in pairs:
            last = hooks.maker(value) if value._sig.requires_grad else ""
            if last not in ("", "clone", "copy_"):
                refuse_recorded(last, [value])
    for place, (target, value) in enumerate(pairs):
        if "meta" in (value.device.type, target.device.type):
            check_out_device(row, value.device, target.device)
        check_out_dtype(row, value._sig.spec, target.dtype, place)
        check_result_type(value.dtype, target.dtype)
        if row.packet != "split_copy":  # the one that torch copies without a look at the sizes
            prepare_target(target, value._sig.spec, row.packet)
        wired.copy_(target, value)
    return type(values).for_out()(targets) if isinstance(values, Pack) else targets
