"""Meta rules of resizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.spec import Spec

from .checks import check, shape_text
from .memory_format import suggested
from .rule import MetaRule
from .support import require

_AXES = {1: "W", 2: "HW", 3: "DHW"}


def _named(values: Any, dims: int) -> str:
    return "(" + ", ".join(f"{axis}: {value}" for axis, value in zip(_AXES[dims], values, strict=True)) + ")"


def check_sizes(input_size: Sequence[int], output_size: Sequence[int], dims: int) -> tuple[int, ...]:
    """Return the output's shape; torch's errors for sizes that do not fit."""
    check(
        len(output_size) == dims,
        lambda: f"It is expected output_size equals to {dims}, but got size {len(output_size)}",
    )
    check(
        len(input_size) == dims + 2,
        lambda: f"It is expected input_size equals to {dims + 2}, but got size {len(input_size)}",
    )
    spatial = tuple(input_size[2:])
    between = " and output " if dims == 1 else " output "
    check(
        min(spatial) > 0 and min(output_size) > 0,
        lambda: (
            f"Input and output sizes should be greater than 0, but got input {_named(spatial, dims)}{between}"
            f"{_named(output_size, dims)}"
        ),
    )
    return (*input_size[:2], *output_size)


def _fits(self: Spec, dims: int) -> bool:
    return 0 not in self.shape[1:]


def resize(dims: int, kernel_name: str, *, bytes_ok: bool) -> MetaRule:
    """Return the rule of a resize of `dims` spatial dimensions; `kernel_name` is what torch's dtype error says."""

    def rule(self: Spec, output_size: Sequence[int], *options: object) -> Spec:
        shape = check_sizes(self.shape, output_size, dims)
        check(
            _fits(self, dims),
            lambda: f"Non-empty {dims + 2}D data tensor expected but got a tensor with sizes {shape_text(self.shape)}",
        )
        require(self.dtype.is_floating_point or (bytes_ok and self.dtype.name == "uint8"), self, kernel_name)
        return suggested(self, shape)

    return MetaRule(rule, out=True)


def resize_backward(dims: int) -> MetaRule:
    """Return the rule of the gradient of a resize."""

    def rule(grad_output: Spec, output_size: Sequence[int], input_size: Sequence[int], *options: object) -> Spec:
        shape = check_sizes(input_size, output_size, dims)
        check(
            tuple(grad_output.shape) == shape,
            lambda: (
                f"Expected grad_output to have the same shape as output; output.size = {shape_text(shape)} but got "
                f"grad_output.size = {shape_text(grad_output.shape)}"
            ),
        )
        return suggested(grad_output, tuple(input_size))

    return MetaRule(rule, out=True)
