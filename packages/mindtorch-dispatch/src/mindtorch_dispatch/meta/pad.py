"""Meta rules of padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import preserved_strides

from ..typing import Scalar
from .checks import check, expect, shape_text, wrap_dim
from .memory_format import suggested
from .rule import MetaRule, Outputs, meta_rule
from .support import BOOL_NAMES, WIDE_UNSIGNED, refuse, refuse_on_meta

_NOT_PADDED = (
    BOOL_NAMES
    | WIDE_UNSIGNED
    | {"complex32", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"}
)
"""Dtypes that constant padding alone takes."""


def padded_shape(self: Spec, pad: Any) -> tuple[int, ...]:
    """Return the shape after padding the last dims by (left, right) pairs, last dim first."""
    shape = list(self.shape)
    for place in range(len(pad) // 2):
        shape[-1 - place] += pad[2 * place] + pad[2 * place + 1]
    return tuple(shape)


@meta_rule(out=True)
def constant(self: Spec, pad: Sequence[int], value: Scalar = 0) -> Spec:
    """`constant_pad_nd`; negative padding cuts."""
    check(len(pad) % 2 == 0, lambda: f"Length of pad must be even but instead it equals {len(pad)}")
    check(
        self.ndim >= len(pad) // 2,
        lambda: (
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(pad)} while the input has {self.ndim} dimensions."
        ),
    )
    for place in range(len(pad) // 2):
        cut = sum(min(side, 0) for side in pad[2 * place : 2 * place + 2])
        check(self.shape[-1 - place] + cut >= 0, lambda: "narrow(): length must be non-negative.")
    shape = padded_shape(self, pad)
    for place, extent in enumerate(shape):
        side = 2 * (self.ndim - 1 - place)
        check(
            extent >= 0,
            lambda place=place, extent=extent, side=side: (
                f"The input size {self.shape[place]}, plus negative padding "
                f"{pad[side]} and {pad[side + 1]} resulted in a negative output size, which is invalid. Check dimension {place} "
                "of your input."
            ),
        )
    if all(side <= 0 for side in pad):
        return Spec.of(self.dtype, self.device, shape, preserved_strides(shape, self.stride))
    return suggested(self, shape)


def _sized(mode: str, dims: int) -> MetaRule:
    name = f"{mode}_pad{dims}d"

    def rule(self: Spec, padding: Any) -> Outputs:
        check(
            len(padding) == 2 * dims,
            lambda: f"padding size is expected to be {2 * dims}, but got: {len(padding)}",
        )
        check(
            self.ndim in (dims + 1, dims + 2) and all(extent > 0 for extent in self.shape[self.ndim - dims - 1 :]),
            lambda: (
                f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with possibly 0 batch size and other "
                f"non-zero dimensions for input, but got: {shape_text(self.shape)}"
                if dims > 1
                else "Expected 2D or 3D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
                f"input, but got: {shape_text(self.shape)}"
            ),
        )
        if mode == "reflection":
            for place in range(dims):
                left, right = padding[2 * place], padding[2 * place + 1]
                extent = self.shape[-1 - place]
                check(
                    left < extent and right < extent,
                    lambda left=left, right=right, place=place: (
                        "Argument #"
                        f"{4 + 2 * place}: Padding size should be less than the corresponding input dimension, but got: padding "
                        f"({left}, {right}) at dimension {self.ndim - 1 - place} of input {shape_text(self.shape)}"
                    ),
                )
        shape = padded_shape(self, padding)
        check(
            any(extent >= 1 for extent in shape[-dims:]),
            lambda: f"input (W: {self.shape[-1]}) is too small. Calculated output W: {shape[-1]}",
        )
        _check_dtype(self, name)
        return Outputs(suggested(self, shape))

    rule.__name__ = name
    return MetaRule(rule, out=True)


def _check_dtype(self: Spec, name: str) -> None:
    if self.device.type == "cpu":
        refuse(self, name, _NOT_PADDED)
    elif name.startswith("replication"):
        refuse_on_meta(self, name, BOOL_NAMES)


reflection = {dims: _sized("reflection", dims) for dims in (1, 2, 3)}
replication = {dims: _sized("replication", dims) for dims in (1, 2, 3)}


def _extent(self: Spec, dim: int) -> int:
    found: int = self.shape[wrap_dim(dim, self.ndim, scalar=False)]
    return found


_SIDES = ("width", "height", "depth")


def _backward(mode: str, dims: int) -> MetaRule:
    """Return the rule of a gradient.

    torch looks for the padded dimensions right after the channels, wherever the input's own dimensions end, and reads
    memory as it comes where the rest of the shapes differ; here they must agree.
    """
    name = "grad_output" if mode == "reflection" and dims != 2 else "gradOutput"
    comma = "" if mode == "replication" and dims == 1 else ","

    def rule(grad_output: Spec, self: Spec, padding: Sequence[int]) -> Spec:
        first = _first_padded(mode, dims, grad_output, self, padding)
        wanted = list(self.shape)
        for place in reversed(range(dims)):
            at = first + dims - 1 - place
            wanted[at] = _extent(self, at) + padding[2 * place] + padding[2 * place + 1]
        if mode == "replication" and dims == 3:
            channels, found = self.shape[first - 1], _extent(grad_output, first - 1)
            check(channels == found, lambda: f"gradOutput channel unexpected. Expected: {channels}, Got: {found}")
        for place, side in enumerate(_SIDES[:dims]):
            at = first + dims - 1 - place
            found = _extent(grad_output, at)
            check(
                wanted[at] == found,
                lambda side=side, at=at, found=found: (
                    f"{name} {side} unexpected. Expected: {wanted[at]}{comma} Got: {found}"
                ),
            )
        check(
            first + dims == self.ndim and tuple(wanted) == grad_output.shape,
            lambda: (
                f"{mode}_pad{dims}d_backward: a gradient of shape {shape_text(grad_output.shape)} does not belong to an "
                f"input of shape {shape_text(self.shape)} padded by {list(padding)}; expected {shape_text(wanted)}"
            ),
        )
        return suggested(self)

    rule.__name__ = f"{mode}_pad{dims}d_backward"
    return MetaRule(rule, out=True)


def _first_padded(mode: str, dims: int, grad_output: Spec, self: Spec, padding: Sequence[int]) -> int:
    """Return the first padded dimension, after the checks that come before those of sizes."""
    if mode == "replication":
        check(len(padding) == 2 * dims, lambda: f"padding size is expected to be {2 * dims}")
    elif dims == 3:
        check(len(padding) == 6, lambda: f"padding size is expected to be 6, but got: {len(padding)}")
        expect(self.ndim > 3, "input.dim() > 3")
        expect(grad_output.ndim == self.ndim, "grad_output.dim() == input.dim()")
    else:
        # torch reads what is not there.
        check(len(padding) == 2 * dims, lambda: f"padding size is expected to be {2 * dims}, but got: {len(padding)}")
    first = 2 if self.ndim == dims + 2 else 1
    if mode == "replication" and dims == 3:
        for dim in range(first - 1, first + 3):
            _extent(self, dim)
        check(
            self.ndim in (4, 5) and all(extent > 0 for extent in self.shape[1:]),
            lambda: (
                "Expected 4D or 5D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for "
                f"input, but got: {shape_text(self.shape)}"
            ),
        )
    return first


reflection_backward = {dims: _backward("reflection", dims) for dims in (1, 2, 3)}
replication_backward = {dims: _backward("replication", dims) for dims in (1, 2, 3)}
