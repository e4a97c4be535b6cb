"""Meta rules of pooling over windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from .checks import c_type, check, shape_text, wrap_dim
from .memory_format import suggested, suggested_volumes
from .rule import MetaRule, Outputs
from .support import BOOL_NAMES, COMPLEX, FLOATS, HALVES, WIDE_UNSIGNED, refuse, refuse_on_meta, require
from .window import reach, window_count

_WORDS = {2: "two", 3: "three"}
_AXES = {2: "HW", 3: "THW"}


def check_listed(name: str, argument: str, values: Any, dims: int) -> list[int]:
    """Return one value per spatial dimension; torch's error for a list of another length."""
    values = list(values)
    optional = argument == "stride"
    either = "" if name == "avg_pool3d" else "either "
    check(
        len(values) in (1, dims) or (optional and not values),
        lambda: (
            f"{name}: {argument} must {either}be {'omitted, ' if optional else ''}a single int, or a tuple of "
            f"{_WORDS[dims]} ints"
        ),
    )
    check(
        all(-(2**31) <= value < 2**31 for value in values),
        lambda: "value cannot be converted to type int without overflow",
    )
    found: list[int] = values * dims if len(values) == 1 else values
    return found


def output_extent(extent: int, kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """Return how many windows fit along a dimension; torch's errors for impossible ones."""
    check(stride != 0, lambda: "stride should not be zero")
    check(padding >= 0, lambda: f"pad must be non-negative, but got pad: {padding}")
    check(
        padding <= reach(kernel, dilation) // 2,
        lambda: (
            f"pad should be at most half of effective kernel size, but got pad={padding}, kernel_size={kernel} and "
            f"dilation={dilation}"
        ),
    )
    return window_count(extent, kernel, stride, padding, dilation, ceil_mode)


def _named(prefix: str, values: list[int], dims: int) -> str:
    return " ".join(f"{prefix}{axis}: {value}" for axis, value in zip(_AXES[dims], values, strict=True))


def _check_window(self: Spec, dims: int, name: str, kernel: list[int], stride: list[int], dilation: list[int]) -> None:
    for what, prefix, values in (
        ("kernel size", "k", kernel),
        ("stride", "d", stride),
        ("dilation", "dilation", dilation),
    ):
        check(
            min(values) > 0,
            lambda what=what, prefix=prefix, values=values: (
                f"{what} should be greater than zero, but got {_named(prefix, values, dims)}"
            ),
        )
    shape = self.shape
    if dims == 2:
        batched = self.ndim == 4
        check(
            (self.ndim == 3 and 0 not in shape) or (batched and 0 not in shape[1:]),
            lambda: (
                "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, but got:"
                f"{shape_text(shape)}"
            ),
        )
        return
    for dim in range(1 if self.ndim == 5 else 0, self.ndim):
        check(
            shape[dim] > 0,
            lambda dim=dim: (
                f"{name}: Expected input's non-batch dimensions to have positive length, but input has a shape "
                f"of {shape_text(shape)} and non-batch dimension {shape[dim]} has length zero!"
            ),
        )


def _pads(padding: list[int], kernel: list[int]) -> str:
    if len(kernel) == 2:
        return f"padW = {padding[1]}, padH = {padding[0]}, kW = {kernel[1]}, kH = {kernel[0]}"
    return " ".join(
        f"{name}{axis}: {at[place]}" for name, at in (("k", kernel), ("pad", padding)) for axis, place in _ORDER
    )


_ORDER = (("T", 0), ("W", 2), ("H", 1))
"""The axes of three dimensions as this message lists them."""


def _size(
    self: Spec,
    dims: int,
    name: str,
    kernel: list[int],
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    ceil_mode: bool,
) -> tuple[int, ...]:
    """Return the output's shape."""
    spatial = self.shape[-dims:]
    size = [
        output_extent(spatial[at], kernel[at], stride[at], padding[at], dilation[at], ceil_mode) for at in range(dims)
    ]
    _check_window(self, dims, name, kernel, stride, dilation)
    if name == "avg_pool3d()":
        check(
            all(extent >= width for extent, width in zip(spatial, kernel, strict=True)),
            lambda: (
                f"input image (T: {spatial[0]} H: {spatial[1]} W: {spatial[2]}) smaller than kernel size "
                f"({_named('k', kernel, dims)})"
            ),
        )
    if dims > 1:
        check(
            all(pad <= width // 2 for pad, width in zip(padding, kernel, strict=True)),
            lambda: f"pad should be smaller than or equal to half of kernel size, but got {_pads(padding, kernel)}",
        )
    planes = self.shape[-dims - 1]
    check(
        min(size) >= 1,
        lambda: (
            f"Given input size: ({'x'.join(map(str, (planes, *spatial)))}). Calculated output size: "
            f"({'x'.join(map(str, (planes, *size)))}). Output size is too small"
        ),
    )
    return (*self.shape[:-dims], *size)


def max_pool(dims: int) -> MetaRule:
    """Return the rule of `max_pool{dims}d_with_indices`."""
    name = f"max_pool{dims}d"

    def rule(
        self: Spec,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> Outputs:
        kernel = check_listed(name, "kernel_size", kernel_size, dims)
        steps = check_listed(name, "stride", stride, dims) or kernel
        pads = check_listed(name, "padding", padding, dims)
        gaps = check_listed(name, "dilation", dilation, dims)
        check(
            self.ndim in (dims + 1, dims + 2),
            lambda: f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input",
        )
        shape = _size(self, dims, f"{name}_with_indices_out_cpu_template()", kernel, steps, pads, gaps, ceil_mode)
        refuse(self, name, BOOL_NAMES | WIDE_UNSIGNED | COMPLEX)
        out = (suggested_volumes if dims == 3 else suggested)(self, shape)
        return Outputs((out, out.with_(dtype=int64)), values=(self, kernel, steps, pads, gaps, ceil_mode))

    return MetaRule(rule, out=True)


def avg_pool(dims: int) -> MetaRule:
    """Return the rule of `avg_pool{dims}d`."""
    name = f"avg_pool{dims}d"
    kernel_name, averaged = ("avg_pool2d", FLOATS) if dims == 2 else ("avg_pool3d_out_frame", FLOATS - HALVES)
    averaged |= {"int64"}

    def rule(
        self: Spec,
        kernel_size: Any,
        stride: Any = (),
        padding: Any = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Outputs:
        kernel = check_listed(name, "kernel_size", kernel_size, dims)
        steps = check_listed(name, "stride", stride, dims) or kernel
        pads = check_listed(name, "padding", padding, dims)
        if dims == 3:
            check(self.ndim in (4, 5), lambda: "non-empty 4D or 5D (batch mode) tensor expected for input")
        check(divisor_override is None or divisor_override != 0, lambda: "divisor must be not zero")
        wrap_dim(-dims - 1, self.ndim)
        shape = _size(self, dims, f"{name}()", kernel, steps, pads, [1] * dims, ceil_mode)
        require(self.dtype.name in averaged, self, kernel_name)
        refuse_on_meta(self, name, WIDE_UNSIGNED | {"uint8"})
        out = suggested(self, shape) if dims == 2 else Spec.of(self.dtype, self.device, shape)
        return Outputs(out, values=(self, kernel, steps, pads, ceil_mode, count_include_pad, divisor_override))

    return MetaRule(rule, out=True)


def _check_shape(given: Spec, result: Spec, dims: Sequence[int]) -> None:
    """Raise torch's error for a gradient, or positions, whose `dims` are not those of the forward's result."""
    for dim in dims:
        check(
            given.ndim == result.ndim and given.shape[dim] == result.shape[dim],
            lambda dim=dim: (
                f"Expected a tensor of dimension {result.ndim} and tensor.size[{dim}] == {result.shape[dim]} but got: "
                f"dimension {given.ndim} and tensor.size[{dim}] = {given.shape[wrap_dim(dim, given.ndim)]}"
            ),
        )


def check_gradient_dtype(grad_output: Spec, self: Spec, start: str = "expected", name: str = "gradOutput") -> None:
    """Raise torch's error for a gradient of another dtype than the input's."""
    check(
        grad_output.dtype is self.dtype,
        lambda: f"{start} dtype {c_type(self.dtype)} for `{name}` but got dtype {c_type(grad_output.dtype)}",
    )


def max_pool_backward(dims: int) -> MetaRule:
    """Return the rule of `max_pool{dims}d_with_indices_backward`, which checks what the forward does, and the gradient."""
    forward = max_pool(dims)

    def rule(
        grad_output: Spec,
        self: Spec,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        indices: Spec,
    ) -> Outputs:
        check_gradient_dtype(grad_output, self)
        answer = forward.fn(self, kernel_size, stride, padding, dilation, ceil_mode)
        result = answer.specs[0]
        planes = result.ndim - dims - 1
        checked = [planes] if dims == 3 else [*range(planes, result.ndim), *range(planes)]
        _check_shape(grad_output, result, checked)
        _check_shape(indices, result, checked)
        check(indices.dtype is int64, lambda: f"expected scalar type Long but found {indices.dtype.scalar_name}")
        _check_shape(indices, grad_output, range(grad_output.ndim))
        return Outputs(suggested(self), values=(grad_output, *answer.values, indices))

    return MetaRule(rule, out=True)


def avg_pool_backward(dims: int) -> MetaRule:
    """Return the rule of `avg_pool{dims}d_backward`, which checks what the forward does, and the gradient."""
    forward = avg_pool(dims)

    def rule(
        grad_output: Spec,
        self: Spec,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Outputs:
        answer = forward.fn(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)
        result = answer.specs
        _check_shape(grad_output, result, range(result.ndim - dims - 1, result.ndim))
        check_gradient_dtype(grad_output, self)
        return Outputs(suggested(self), values=(grad_output, *answer.values))

    return MetaRule(rule, out=True)
