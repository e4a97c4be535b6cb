"""Meta rules of softmax and of sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..apart import BY_ELEMENT
from .checks import broadcastable, check, shape_text, wrap_dim, wrap_dims
from .reduce import float_result, reduced
from .rule import MetaRule, Outputs, before_dim, before_kept_dims, meta_rule
from .support import require_floating


def _check_softmax(self: Spec, dtype: Dtype, dim: int, name: str) -> int:
    wrapped = wrap_dim(dim, self.ndim)
    if self.numel:
        last = "lastdim_" if wrapped == max(self.ndim - 1, 0) else ""
        require_floating(self.with_(dtype=dtype), f"{name}_{last}kernel_impl")
    return wrapped


def softmax(name: str) -> MetaRule:
    """Return the rule of `_softmax`, `_log_softmax`."""

    def rule(self: Spec, dim: int, half_to_float: bool) -> Outputs:
        check(not half_to_float, lambda: "softmax with half to float conversion is not supported on CPU")
        wrapped = _check_softmax(self, self.dtype, dim, name)
        return Outputs(self.contiguous(), values=(self, wrapped, half_to_float))

    return MetaRule(rule, out=True, leading=before_dim(1))


@meta_rule(out=True, leading=before_dim(1))
def safe_softmax(self: Spec, dim: int, dtype: Dtype | None = None) -> Outputs:
    """`_safe_softmax`: converts first."""
    chosen = dtype or self.dtype
    wrapped = _check_softmax(self, chosen, dim, "softmax")
    check(not self.dtype.is_complex, lambda: "isneginf does not support complex inputs.")
    return Outputs(Spec.of(chosen, self.device, self.shape), cast=chosen, values=(self, wrapped, dtype))


def backward_data(name: str) -> MetaRule:
    """Return the rule of `_softmax_backward_data`, `_log_softmax_backward_data`."""

    def rule(grad_output: Spec, output: Spec, dim: int, input_dtype: Dtype) -> Outputs:
        check(
            grad_output.shape == output.shape,
            lambda: (
                "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but "
                f"{shape_text(grad_output.shape)} does not equal {shape_text(output.shape)} (while checking arguments for "
                f"{name}_backward)"
            ),
        )
        wrapped = wrap_dim(dim, output.ndim)
        spec = Spec.of(input_dtype, output.device, output.shape)
        return Outputs(spec, values=(grad_output, output, wrapped, input_dtype))

    return MetaRule(rule, out=True, leading=before_dim(2))


@meta_rule(out=True, leading=before_kept_dims)
def logsumexp(self: Spec, dim: Sequence[int], keepdim: bool = False) -> Outputs:
    """`logsumexp`: integers become the default float dtype."""
    dtype = float_result(self.dtype)
    dims = wrap_dims(dim, self.ndim)
    if dim is not None and not dim and self.numel and self.ndim and not keepdim:
        # torch's maxima keep every dimension where none is named
        broadcastable((1,) * self.ndim, ())
    return Outputs(reduced(self, dims, keepdim, dtype), cast=dtype, values=(self, dims, keepdim))


@meta_rule(out=True, apart=BY_ELEMENT)
def logcumsumexp(self: Spec, dim: int) -> Outputs:
    """`logcumsumexp`."""
    wrapped = wrap_dim(dim, self.ndim)
    if self.numel and not self.dtype.is_complex:
        require_floating(self, "logcumsumexp_out_cpu")
    return Outputs(self.contiguous(), values=(self, wrapped))
