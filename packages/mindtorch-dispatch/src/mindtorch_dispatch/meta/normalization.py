"""Meta rules of normalization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32
from mindtorch_storage.promotion import promote_types
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import (
    channels_last_3d_strides,
    channels_last_strides,
    is_channels_last_3d_contiguous,
    is_channels_last_contiguous,
)

from ..apart import BY_ELEMENT
from .checks import check, expect, shape_text, wrap_dim
from .memory_format import lies_in, suggested, suggested_format
from .rule import MetaRule, Outputs, meta_rule
from .support import require_floating

_REDUCED = ("float16", "bfloat16")


def statistics_dtype(input: Spec, *parameters: Spec | None) -> Dtype:
    """Return the dtype of saved statistics: that of the parameters, which may be float32 for a reduced input."""
    given = [parameter.dtype for parameter in parameters if parameter is not None]
    if not given or given[0] is input.dtype:
        for other in given:
            check(
                other is input.dtype,
                lambda other=other: f"expected scalar type {input.dtype.scalar_name} but found {other.scalar_name}",
            )
        return input.dtype
    check(
        all(dtype.name == "float32" for dtype in given),
        lambda: "mixed dtype (CPU): expect parameter to have scalar type of Float",
    )
    check(input.dtype.name in _REDUCED, lambda: "mixed dtype (CPU): all inputs must share same datatype.")
    return given[0]


def check_normalized_shape(input: Spec, normalized: Any, weight: Any, bias: Spec | None, *, star: str = "*, ") -> int:
    """Return the first normalized dimension; torch's errors when the shapes do not fit.

    `weight` and `bias` are specs or tensors or None.
    """
    normalized = tuple(normalized)
    check(
        len(normalized) >= 1,
        lambda: (
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            f"normalized_shape = {shape_text(normalized)}"
        ),
    )
    for name, given in (("weight", weight), ("bias", bias)):
        check(
            given is None or tuple(given.shape) == normalized,
            lambda name=name, given=given: (
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {shape_text(given.shape)} and normalized_shape = {shape_text(normalized)}"
            ),
        )
    first = len(input.shape) - len(normalized)
    check(
        first >= 0 and tuple(input.shape[first:]) == normalized,
        lambda: (
            f"Given normalized_shape={shape_text(normalized)}, expected input with shape [{star}"
            + ", ".join(map(str, normalized))
            + f"], but got input of size{shape_text(input.shape)}"
        ),
    )
    return first


@meta_rule(out=True)
def layer_norm(
    input: Spec, normalized_shape: Sequence[int], weight: Spec | None, bias: Spec | None, eps: float
) -> tuple[Spec, ...]:
    """`native_layer_norm`: result, mean, reciprocal of the deviation."""
    first = check_normalized_shape(input, normalized_shape, weight, bias)
    require_floating(input, "LayerNormKernelImpl")
    dtype = statistics_dtype(input, weight, bias)
    shape = (*input.shape[:first], *[1] * len(normalized_shape))
    statistics = Spec.of(dtype, input.device, shape)
    return input.contiguous(), statistics, statistics


def masked(mask: Sequence[bool], *specs: Spec | None) -> tuple[Spec | None, ...]:
    """Return the specs that are asked for, None for the others."""
    return tuple(spec if wanted else None for spec, wanted in zip(specs, mask, strict=True))


def _parameter_grad(parameter: Spec | None, shape: Sequence[int], input: Spec) -> Spec:
    return parameter.contiguous() if parameter is not None else Spec.of(input.dtype, input.device, tuple(shape))


@meta_rule()
def layer_norm_backward(
    grad_out: Spec,
    input: Spec,
    normalized_shape: Sequence[int],
    mean: Spec,
    rstd: Spec,
    weight: Spec | None,
    bias: Spec | None,
    output_mask: Sequence[bool],
) -> tuple[Spec | None, ...]:
    """`native_layer_norm_backward`: gradients of input, weight, bias."""
    return masked(
        output_mask,
        input.contiguous(),
        _parameter_grad(weight, normalized_shape, input),
        _parameter_grad(bias or weight, normalized_shape, input),
    )


def check_group_norm(input: Any, weight: Any, bias: Any, channels: int, groups: int) -> None:
    """Raise torch's errors for `group_norm`."""
    check(groups > 0, lambda: f"Expected num groups to be greater than 0, got {groups}")
    check(
        channels % groups == 0,
        lambda: (
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{shape_text(input.shape)} and num_groups={groups}"
        ),
    )
    for name, given in (("weight", weight), ("bias", bias)):
        check(
            given is None or (len(given.shape) == 1 and given.shape[0] == channels),
            lambda name=name: (
                f"Expected {name} to be a vector of size equal to the number of channels in input, but got "
                f"{name} of shape {shape_text((weight if weight is not None else bias).shape)} and input of shape "
                f"{shape_text(input.shape)}"
            ),
        )


@meta_rule(out=True)
def group_norm(
    input: Spec, weight: Spec | None, bias: Spec | None, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Spec, ...]:
    """`native_group_norm`: result, mean, reciprocal of the deviation of every group."""
    check_group_norm(input, weight, bias, C, group)
    expect(lies_in(input, suggested_format(input)), "X.is_contiguous(memory_format)")
    if input.numel:
        require_floating(input, "GroupNormKernelImpl")
    statistics = Spec.of(statistics_dtype(input, weight, bias), input.device, (N, group))
    return suggested(input), statistics, statistics


@meta_rule()
def group_norm_backward(
    grad_out: Spec,
    input: Spec,
    mean: Spec,
    rstd: Spec,
    weight: Spec | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[Spec | None, ...]:
    """`native_group_norm_backward`: gradients of input, weight, bias."""
    parameter = _parameter_grad(weight, (C,), input)
    return masked(output_mask, suggested(input), parameter, parameter)


def _of_batches(input: Spec, *vectors: Spec | None) -> Spec:
    """Return the spec of a result of batch norm: where all lies without gaps, an input in order of rows stays so.

    Else dimensions of one element do not count, so that more inputs are channels-last than `suggested` takes for it.
    """
    if not all(one is None or one.is_contiguous for one in vectors):
        return suggested(input)
    if input.is_contiguous:
        return Spec.of(input.dtype, input.device, input.shape)
    if input.ndim == 4 and is_channels_last_contiguous(input.shape, input.stride):
        return Spec.of(input.dtype, input.device, input.shape, channels_last_strides(input.shape))
    if input.ndim == 5 and is_channels_last_3d_contiguous(input.shape, input.stride):
        return Spec.of(input.dtype, input.device, input.shape, channels_last_3d_strides(input.shape))
    return suggested(input)


def _check_batches(input: Spec, running_mean: Spec | None, running_var: Spec | None, training: bool) -> None:
    check(
        (running_mean is None) == (running_var is None),
        lambda: "running_mean and running_var must either both be None or neither be None",
        ValueError,
    )
    check(
        not training or input.numel > 0,
        lambda: f"input tensor must have at least one element, but got input_sizes = {shape_text(input.shape)}",
    )
    for running in (running_mean, running_var):
        if running is not None:
            check(running.ndim == 1, lambda ndim=running.ndim: f"TensorAccessor expected 1 dims but tensor has {ndim}")


@meta_rule(out=True)
def batch_norm(
    input: Spec,
    weight: Spec | None,
    bias: Spec | None,
    running_mean: Spec | None,
    running_var: Spec | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Spec, ...]:
    """`native_batch_norm`: result, and in training mean and reciprocal of the deviation of every channel."""
    wrap_dim(1, input.ndim)
    _check_batches(input, running_mean, running_var, training)
    require_floating(input, "batch_norm")
    dtype = statistics_dtype(input, weight, bias, running_mean, running_var)
    statistics = Spec.of(dtype, input.device, (input.shape[1] if training else 0,))
    return _of_batches(input, weight, bias, running_mean, running_var), statistics, statistics


@meta_rule()
def batch_norm_backward(
    grad_out: Spec,
    input: Spec,
    weight: Spec | None,
    running_mean: Spec | None,
    running_var: Spec | None,
    save_mean: Spec | None,
    save_invstd: Spec | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[Spec | None, ...]:
    """`native_batch_norm_backward`: gradients of input, weight, bias."""
    parameter = _parameter_grad(weight, (input.shape[1],), input)
    return masked(output_mask, suggested(input), parameter, parameter)


def _renorm(self: Spec, p: Any, dim: int, maxnorm: Any) -> Outputs:
    check(not isinstance(p, complex), lambda: "renorm: p must be real-valued")
    check(p > 0, lambda: "renorm: non-positive-norm not supported")
    check(not isinstance(maxnorm, complex), lambda: "renorm: maxnorm must be real-valued")
    check(maxnorm >= 0, lambda: f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    check(self.ndim > 1, lambda: f"renorm: input needs at least 2 dimensions, got {self.ndim} dimensions")
    wrapped = wrap_dim(dim, self.ndim)
    check(
        self.dtype.is_floating_point or self.dtype.is_complex,
        lambda: (
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {self.dtype.scalar_name}"
        ),
    )
    promote_types(self.dtype, float32)  # torch takes the norms in float32, which float8 is not promoted to
    return Outputs(self.contiguous(), values=(self, p, wrapped, maxnorm))


renorm = MetaRule(_renorm, inplace=True, out=True, exact=True, apart=BY_ELEMENT)
"""`renorm`: sub-tensors along a dimension scaled down to a norm."""
