"""The errors for writes that a batch cannot make."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.strides import broadcast_shapes
from mindtorch_storage.tensor_base import TensorBase

from ..meta.checks import shape_text
from ..table import OpRow
from . import levels
from .wrapper import unbatchable

_ARITHMETIC = {
    "clamp_max_", "clamp_min_", "copy_", "div_", "logical_and_", "logical_or_", "logical_xor_", "masked_fill_", "mul_", "sub_",
}  # fmt: skip
_BROADCAST = {
    "add_", "atan2_", "bitwise_and_", "bitwise_left_shift_", "bitwise_or_", "bitwise_right_shift_", "bitwise_xor_",
    "copysign_", "gcd_", "lcm_",
}  # fmt: skip
_OWN_NAME = {"fill_", "index_add_", "index_fill_", "index_put_", "scatter_add_"}


def refused_write(row: OpRow, target: TensorBase, others: Sequence[TensorBase], level: int) -> RuntimeError:
    """The error of torch for a batched value written to a tensor that all examples share."""
    packet = row.packet
    if packet in _BROADCAST:
        size = levels.batch_at(level).size
        wide = broadcast_shapes(tuple(target.shape), *[tuple(one.shape) for one in others])
        return unbatchable(
            f"output with shape {shape_text(target.shape)} doesn't match the broadcast shape {shape_text((size, *wide))}"
        )
    if packet in _OWN_NAME:
        name, where = packet, "in a vmap"
    elif (packet in _ARITHMETIC and row.overload != "Tensor") or packet in _ARITHMETIC - {"masked_fill_"}:
        name, where = "inplace arithmetic", "in a vmap"
    else:
        name, where = f"aten::{packet}", f"at level {level}"
    return unbatchable(
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has more "
        f"elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over {where}. "
        f"Please try to use out-of-place operators instead of {name}. If said operator is being called inside the PyTorch "
        "framework, please file a bug report instead."
    )
