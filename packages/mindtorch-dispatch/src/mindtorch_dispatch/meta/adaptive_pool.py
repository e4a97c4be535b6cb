"""Meta rules of pooling to a given size, of fractional pooling and of unpooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.spec import Spec

from .checks import check, shape_text, wrap_dim
from .factory import check_size
from .memory_format import suggested
from .pool import check_gradient_dtype
from .rule import MetaRule, Outputs
from .support import require_floating

_WORDS = {2: "two elements (height, width)", 3: "three elements (depth, height, width)"}


def _check_not_empty(self: Any, dims: int, name: str, tail: str = "input has sizes ", end: str = "") -> None:
    for dim in range(len(self.shape) - dims, len(self.shape)):
        check(
            self.shape[dim] > 0,
            lambda dim=dim: (
                f"{name}: Expected input to have non-zero size for non-batch dimensions, but {tail}"
                f"{shape_text(self.shape)} with dimension {dim} being empty{end}"
            ),
        )


def check_average_size(output_size: Sequence[int], dims: int) -> None:
    """Raise torch's errors for the size given to `adaptive_avg_pool`."""
    name = f"adaptive_avg_pool{dims}d"
    check(len(output_size) == dims, lambda: f"{name}: output_size must be {dims}")
    listed = ", ".join(str(extent) for extent in output_size[:2]) + "".join(f",{extent}" for extent in output_size[2:])
    check(
        min(output_size) >= 0,
        lambda: f"{name}: elements of output_size must be greater than or equal to 0 but received {{{listed}}}",
    )


def average(dims: int) -> MetaRule:
    """Return the rule of `_adaptive_avg_pool{dims}d`."""
    name = f"adaptive_avg_pool{dims}d"

    def rule(self: Spec, output_size: Sequence[int]) -> Spec:
        check(len(output_size) == dims, lambda: f"{name}: output_size must be {dims}")
        check(
            self.ndim in (dims + 1, dims + 2),
            lambda: f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got {shape_text(self.shape)}",
        )
        _check_not_empty(self, 2 if dims == 2 else self.ndim - 1, f"{name}()")
        require_floating(self, name if dims == 2 else f"{name}_cpu")
        shape = (*self.shape[:-dims], *output_size)
        return suggested(self, shape) if dims == 2 else Spec.of(self.dtype, self.device, shape)

    return MetaRule(rule, out=True)


def largest(dims: int) -> MetaRule:
    """Return the rule of `adaptive_max_pool{dims}d`."""
    name = f"adaptive_max_pool{dims}d"

    def rule(self: Spec, output_size: Sequence[int]) -> tuple[Spec, Spec]:
        check(
            self.ndim in (dims + 1, dims + 2),
            lambda: f"{name}(): Expected {dims + 1}D or {dims + 2}D tensor, but got: {shape_text(self.shape)}",
        )
        _check_not_empty(self, self.ndim - 1, f"{name}()")
        check(len(output_size) == dims, lambda: f"{name}(): internal error: output_size.size() must be {dims}")
        shape = check_size((*self.shape[:-dims], *output_size))
        require_floating(self, name if dims == 2 else f"{name}_cpu")
        out = suggested(self, shape) if dims == 2 else Spec.of(self.dtype, self.device, shape)
        return out, out.with_(dtype=int64)

    return MetaRule(rule, out=True)


def _check_gradient_not_empty(grad_output: Spec, name: str) -> None:
    for dim in range(1, grad_output.ndim):
        check(
            grad_output.shape[dim] > 0,
            lambda dim=dim: (
                f"{name}(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes "
                f"{shape_text(grad_output.shape)} with dimension {dim} being empty"
            ),
        )


def _check_dims(given: Spec, self: Spec, start: str, name: str) -> None:
    check(
        given.ndim == self.ndim, lambda: f"{start} dimensions {self.ndim} for `{name}` but got dimensions {given.ndim}"
    )


def average_backward(dims: int) -> MetaRule:
    """Return the rule of `_adaptive_avg_pool{dims}d_backward`."""
    start = f"adaptive_avg_pool{dims}d_backward_out_cpu_template: Expected"
    given = "grad_output" if dims == 2 else "gradOutput_"

    def rule(grad_output: Spec, self: Spec) -> Spec:
        _check_gradient_not_empty(grad_output, f"adaptive_avg_pool{dims}d_backward")
        if dims == 2:
            check(self.ndim in (3, 4), lambda: f"{start} 3D or 4D tensor, but got {shape_text(self.shape)}")
        wrap_dim(-dims - 1, self.ndim)
        check_gradient_dtype(grad_output, self, start, given)
        _check_dims(grad_output, self, start, given)
        return suggested(self)

    return MetaRule(rule, out=True)


def largest_backward(dims: int) -> MetaRule:
    """Return the rule of `adaptive_max_pool{dims}d_backward`."""
    name, given = f"adaptive_max_pool{dims}d_backward", "grad_output" if dims == 2 else "gradOutput"
    shown = "adaptive_max_pooling2d_backward" if dims == 2 else name

    def rule(grad_output: Spec, self: Spec, indices: Spec) -> Spec:
        check(
            grad_output.ndim in (dims + 1, dims + 2),
            lambda: f"{shown}(): Expected {dims + 1}D or {dims + 2}D {given}, but got: {shape_text(grad_output.shape)}",
        )
        _check_gradient_not_empty(grad_output, name)
        check_gradient_dtype(grad_output, self, name=given)
        _check_dims(indices, self, "expected", "indices")
        _check_dims(grad_output, self, "expected", given)
        return suggested(self)

    return MetaRule(rule, out=True)


def fractional_backward(dims: int) -> MetaRule:
    """Return the rule of `fractional_max_pool{dims}d_backward`."""
    name = f"fractional_max_pool{dims}d_backward" + ("_out" if dims == 3 else "")

    def rule(
        grad_output: Spec, self: Spec, kernel_size: Sequence[int], output_size: Sequence[int], indices: Spec
    ) -> Spec:
        size = list(output_size) * dims if len(output_size) == 1 else list(output_size)
        for dim in range(-dims, 0):
            wrap_dim(self.ndim + dim if self.ndim == dims + 2 else dim + dims + 1, self.ndim)
        fits = grad_output.ndim == self.ndim and list(grad_output.shape[-dims:]) == size
        what = "sizes" if dims == 2 else "time"
        check(fits, lambda: f"{name}(): gradOutput {what} unexpected")
        return suggested(self)

    return MetaRule(rule, out=True)


_FRACTIONAL_AXES = {2: ("height", "width"), 3: ("time", "height", "width")}


def fractional(dims: int) -> MetaRule:
    """Return the rule of `fractional_max_pool{dims}d`."""
    name = f"fractional_max_pool{dims}d"
    where = f"{name}()" if dims == 2 else f"{name}_out()"
    count = "" if dims == 2 else "three "

    def rule(self: Spec, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Spec) -> Outputs:
        kernel, size = list(kernel_size), list(output_size)
        check(len(kernel) == dims, lambda: f"{name}: kernel_size must either be a single Int or tuple of {count}Ints")
        check(len(size) == dims, lambda: f"{name}: output_size must either be a single Int or tuple of {count}Ints")
        check(
            self.ndim in (dims + 1, dims + 2),
            lambda: f"{where}: Expected {dims + 1}D or {dims + 2}D tensor, but got: {shape_text(self.shape)}",
        )
        _check_not_empty(self, dims + 1, where, "got", ".")
        for axis, extent, width, wanted in zip(_FRACTIONAL_AXES[dims], self.shape[-dims:], kernel, size, strict=True):
            check(
                wanted + width - 1 <= extent - (dims - 2),  # in three dimensions torch wants one more
                lambda axis=axis, extent=extent, width=width: (
                    f"{where}: pool {axis} {width} too large relative to input {axis} {extent}"
                ),
            )
        _check_samples(self, random_samples, dims)
        out = Spec.of(self.dtype, self.device, (*self.shape[:-dims], *size))
        return Outputs((out, out.with_(dtype=int64)), values=(self, kernel, size, random_samples))

    return MetaRule(rule, out=True)


def _check_samples(self: Spec, samples: Spec, dims: int) -> None:
    check(self.dtype is samples.dtype, lambda: "Expect _random_samples to have the same dtype as input")
    check(samples.ndim == 3, lambda: f"Expect _random_samples to have 3 dimensions, got {samples.ndim}")
    count, channels, width = samples.shape
    batch = 1 if self.ndim == dims + 1 else self.shape[0]
    check(count >= batch, lambda: "Expect _random_samples.size(0) no less then input batch size.")
    check(channels == self.shape[-dims - 1], lambda: "Expect _random_samples.size(1) equals to input channel size.")
    check(width == dims, lambda: f"Expect _random_samples.size(2) equals to {dims}; got {width}.")


def unpool(dims: int) -> MetaRule:
    """Return the rule of `max_unpool{dims}d`."""

    def rule(self: Spec, indices: Spec, output_size: Any, stride: Any = (), padding: Any = ()) -> Outputs:
        check(
            indices.dtype is int64,
            lambda: f"elements in indices should be type int64 but got: {indices.dtype.scalar_name}",
        )
        check(
            len(output_size) == dims,
            lambda: f"There should be exactly {_WORDS[dims]} in output_size, but got {len(output_size)} elements.",
        )
        check(
            self.ndim in (dims + 1, dims + 2),
            lambda: (
                f"Input to max_unpooling{dims}d should be a {dims + 1}d or {dims + 2}d Tensor, but got a tensor with "
                f"{self.ndim} dimensions."
            ),
        )
        check(
            self.shape == indices.shape,
            lambda: (
                "Expected shape of indices to be same as that of the input tensor "
                f"({shape_text(self.shape)}) but got indices tensor with shape: {shape_text(indices.shape)}"
            ),
        )
        for dim in range(1, self.ndim):
            check(
                self.shape[dim] > 0,
                lambda dim=dim: (
                    f"max_unpooling{dims}d_forward_out_cpu(): Expected input to have non-zero size for "
                    f"non-batch dimensions, but got {shape_text(self.shape)} with dimension {dim} being empty."
                ),
            )
        check(
            min(output_size) >= 0,
            lambda: (
                f"max_unpooling{dims}d(): output_size must contain non-negative spatial dimensions, but got "
                f"output_size=({', '.join(map(str, output_size))})"
            ),
        )
        check(
            not stride or min(stride) > 0,
            lambda: f"strides should be greater than zero, but got stride: {shape_text(stride)}",
        )
        shape = (*self.shape[:-dims], *output_size)
        out = suggested(self, shape) if dims == 2 else Spec.of(self.dtype, self.device, shape)
        return Outputs(out, values=(self, indices, tuple(output_size), stride, padding))

    return MetaRule(rule, out=True)
