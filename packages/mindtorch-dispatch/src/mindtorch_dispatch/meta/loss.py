"""Meta rules of losses: reduced or not, and what targets and weights must look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import int64, uint8
from mindtorch_storage.promotion import can_cast
from mindtorch_storage.spec import Spec

from ..typing import Scalar
from .checks import check, shape_text
from .pointwise import broadcast_spec, promoted, refuse_bool_sub
from .rule import MetaRule, Outputs
from .support import FLOATS, HALVES, require, require_floating

NONE, MEAN, SUM = 0, 1, 2
"""The numbers of the reductions."""
_MARGINS = FLOATS - HALVES
"""Dtypes that the kernels of losses of margins between classes have."""


def scalar(like: Spec) -> Spec:
    """Return the spec of a reduced loss."""
    return Spec.of(like.dtype, like.device, ())


def reduced(spec: Spec, reduction: int) -> Spec:
    """Return `spec` unreduced, or that of a number."""
    return scalar(spec) if reduction in (MEAN, SUM) else spec


def elementwise(name: str, check_options: Callable[..., None] | None = None) -> MetaRule:
    """Return the rule of `op(self, target, reduction, *options)` over broadcast operands."""

    def rule(self: Spec, target: Spec, reduction: int, *options: Any) -> Outputs:
        if check_options is not None:
            check_options(*options)
        compute = promoted((self, target))
        spec = broadcast_spec((self, target), compute)
        require_floating(spec, name)
        return Outputs(reduced(spec, reduction), cast=compute)

    return MetaRule(rule, out=True)


def elementwise_backward(name: str) -> MetaRule:
    """Return the rule of `op_backward(grad_output, self, target, reduction, *options)`."""

    def rule(grad_output: Spec, self: Spec, target: Spec, reduction: int, *options: Any) -> Outputs:
        compute = promoted((self, target))
        spec = broadcast_spec((self, target, grad_output), compute)
        require_floating(spec, name)
        return Outputs(spec, cast=compute)

    return MetaRule(rule, out=True)


def check_beta(beta: float) -> None:
    """Refuse a negative beta."""
    check(beta >= 0, lambda: "smooth_l1_loss does not support negative values for beta.")


def check_delta(delta: float) -> None:
    """Refuse a delta that is not positive."""
    check(delta > 0, lambda: "huber_loss does not support non-positive values for delta.")


def _binary_cross_entropy(self: Spec, target: Spec, weight: Spec | None, reduction: int) -> Outputs:
    require_floating(self, "binary_cross_entropy")
    check(
        self.dtype is target.dtype,
        lambda: f"Found dtype {target.dtype.scalar_name} but expected {self.dtype.scalar_name}",
    )
    operands = (self, target) if weight is None else (self, target, weight)
    broadcast_spec(operands, self.dtype)
    spec = broadcast_spec((self, target), self.dtype)
    return Outputs(reduced(spec, reduction), cast=self.dtype)


binary_cross_entropy = MetaRule(_binary_cross_entropy, out=True)
"""`binary_cross_entropy`: all operands have one dtype."""


def _binary_cross_entropy_backward(
    grad_output: Spec, self: Spec, target: Spec, weight: Spec | None, reduction: int
) -> Outputs:
    return Outputs(Spec.of(self.dtype, self.device, self.shape), cast=self.dtype)


binary_cross_entropy_backward = MetaRule(_binary_cross_entropy_backward, out=True)
"""`binary_cross_entropy_backward`: the input's shape."""


def _binary_cross_entropy_with_logits(
    self: Spec, target: Spec, weight: Spec | None, pos_weight: Spec | None, reduction: int
) -> Outputs:
    specs = [spec for spec in (self, target, weight, pos_weight) if spec is not None]
    compute = promoted(specs)
    if pos_weight is not None:
        raised = broadcast_spec([pos_weight, target], promoted([pos_weight, target]))
        _check_written(self, broadcast_spec([self, raised], promoted([self, raised])))
    spec = broadcast_spec(specs, compute)
    require_floating(spec, "log_sigmoid_cpu")
    if target.dtype is bool_dtype:
        refuse_bool_sub(target, target)  # of which torch makes its 1, too
    product = broadcast_spec([self, target], compute)
    if product.shape != spec.shape:
        raise RuntimeError(
            f"output with shape {shape_text(product.shape)} doesn't match the broadcast shape {shape_text(spec.shape)}"
        )
    _check_written(target, broadcast_spec([self, target], promoted([self, target])))
    # torch writes into `1 - target`, whose strides the losses have.
    return Outputs(reduced(broadcast_spec([target], compute, numbers=True), reduction), cast=compute)


def _check_written(target: Spec, product: Spec) -> None:
    """torch multiplies `1 - target` by the input in place, and logarithms by weights: neither shape nor dtype may grow."""
    check(
        product.shape == target.shape,
        lambda: (
            f"output with shape {shape_text(target.shape)} doesn't match the broadcast shape {shape_text(product.shape)}"
        ),
    )
    check(
        can_cast(product.dtype, target.dtype),
        lambda: (
            f"result type {product.dtype.scalar_name} can't be cast to the desired output type {target.dtype.scalar_name}"
        ),
    )


binary_cross_entropy_with_logits = MetaRule(_binary_cross_entropy_with_logits, out=True)
"""`binary_cross_entropy_with_logits`: input and target broadcast, weights to them."""


def _check_nll_weight(self: Spec, weight: Spec | None, text: Callable[[], str], channels: int) -> None:
    if weight is None:
        return
    check(weight.numel == channels, text)
    check(
        weight.dtype is self.dtype,
        lambda: f"expected scalar type {self.dtype.scalar_name} but found {weight.dtype.scalar_name}",
    )


def _check_target_dtype(target: Spec) -> None:
    check(
        target.dtype is int64 or target.dtype is uint8,
        lambda: f"expected target dtype to be Long or Byte, but got {target.dtype.scalar_name}",
    )


def _nll_checks(self: Spec, target: Spec, weight: Spec | None) -> None:
    check(0 < self.ndim <= 2, lambda: "input tensor should be 1D or 2D")
    check(target.ndim <= 1, lambda: "0D or 1D target tensor expected, multi-target not supported")
    _check_target_dtype(target)
    if self.ndim == 1 and target.ndim == 1:
        check(
            target.shape[0] == 1,
            lambda: f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}",
            ValueError,
        )
    check(
        self.ndim == 1 or (target.ndim == 1 and self.shape[0] == target.shape[0]),
        lambda: f"size mismatch (got input: {shape_text(self.shape)}, target: {shape_text(target.shape)})",
    )
    classes = self.shape[-1]
    _check_nll_weight(
        self,
        weight,
        lambda: (
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor "
            f"of shape: {shape_text(weight.shape if weight else ())}"
        ),
        classes,
    )


def _nll_loss_forward(
    self: Spec, target: Spec, weight: Spec | None, reduction: int, ignore_index: int
) -> tuple[Spec, Spec]:
    _nll_checks(self, target, weight)
    require_floating(self, "nll_loss_out_frame")
    if reduction == NONE and self.ndim == 2:
        return Spec.of(self.dtype, self.device, (self.shape[0],)), scalar(self)
    return scalar(self), scalar(self)


nll_loss_forward = MetaRule(_nll_loss_forward, out=True)
"""`nll_loss_forward`: the loss and the weight of the targets that counted."""


def _nll_loss_backward(
    grad_output: Spec, self: Spec, target: Spec, weight: Spec | None, reduction: int, ignore_index: int, total: Spec
) -> Spec:
    _nll_checks(self, target, weight)
    return Spec.of(self.dtype, self.device, self.shape)


nll_loss_backward = MetaRule(_nll_loss_backward, out=True)
"""`nll_loss_backward`: the input's shape."""


def _nll2d_checks(self: Spec, target: Spec, weight: Spec | None) -> None:
    check(
        target.ndim == 3,
        lambda: f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {target.ndim}",
    )
    check(
        self.ndim == 4,
        lambda: f"only batches of spatial inputs supported (4D tensors), but got input of dimension: {self.ndim}",
    )
    _check_target_dtype(target)
    _check_nll_weight(
        self, weight, lambda: "weight tensor should be defined either for all or no classes", self.shape[1]
    )
    check(
        (self.shape[0], *self.shape[2:]) == tuple(target.shape),
        lambda: f"size mismatch (got input: {shape_text(self.shape)} , target: {shape_text(target.shape)}",
    )


def _nll_loss2d_forward(
    self: Spec, target: Spec, weight: Spec | None, reduction: int, ignore_index: int
) -> tuple[Spec, Spec]:
    _nll2d_checks(self, target, weight)
    require_floating(self, "nll_loss2d_forward_out_frame")
    if reduction == NONE:
        return Spec.of(self.dtype, self.device, target.shape), scalar(self)
    return scalar(self), scalar(self)


nll_loss2d_forward = MetaRule(_nll_loss2d_forward, out=True)
"""`nll_loss2d_forward`: as `nll_loss_forward`, for images of classes."""


def _nll_loss2d_backward(
    grad_output: Spec, self: Spec, target: Spec, weight: Spec | None, reduction: int, ignore_index: int, total: Spec
) -> Spec:
    _nll2d_checks(self, target, weight)
    return Spec.of(self.dtype, self.device, self.shape)


nll_loss2d_backward = MetaRule(_nll_loss2d_backward, out=True)
"""`nll_loss2d_backward`: the input's shape."""


def _frame(self: Spec) -> tuple[int, int]:
    """Return batch and class count of a margin loss's input."""
    valid = self.ndim <= 2 and (self.ndim == 0 or self.shape[-1] != 0)
    check(
        valid,
        lambda: (
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {shape_text(self.shape)}"
        ),
    )
    if self.ndim <= 1:
        return 1, (self.shape[0] if self.ndim else 1)
    return self.shape[0], self.shape[1]


def _multi_margin_checks(self: Spec, target: Spec, p: object, weight: Spec | None) -> int:
    check(p == 1 or p == 2, lambda: "only p == 1 and p == 2 supported")
    batch, classes = _frame(self)
    check(
        target.ndim <= 1 and target.numel == batch,
        lambda: (
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{batch}], but got {shape_text(target.shape)}. Input has shape "
            f"{shape_text(self.shape)}."
        ),
    )
    if weight is not None and not (weight.ndim <= 1 and weight.numel == classes):
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {shape_text(weight.shape)}")
    check(target.dtype is int64, lambda: f"expected scalar type Long but found {target.dtype.scalar_name}")
    return batch


def _multi_margin_loss(
    self: Spec, target: Spec, p: Scalar, margin: Scalar, weight: Spec | None, reduction: int
) -> Spec:
    batch = _multi_margin_checks(self, target, p, weight)
    require(self.dtype.name in _MARGINS, self, "multi_margin_loss_cpu_kernel")
    if reduction == NONE and target.ndim > 0:
        return Spec.of(self.dtype, self.device, (batch,))
    return scalar(self)


multi_margin_loss = MetaRule(_multi_margin_loss, out=True)
"""`multi_margin_loss`: one target per sample."""


def _multi_margin_loss_backward(
    grad_output: Spec, self: Spec, target: Spec, p: Scalar, margin: Scalar, weight: Spec | None, reduction: int
) -> Spec:
    _multi_margin_checks(self, target, p, weight)
    return Spec.of(self.dtype, self.device, self.shape)


multi_margin_loss_backward = MetaRule(_multi_margin_loss_backward, out=True)
"""`multi_margin_loss_backward`: the input's shape."""


def _multilabel_margin_loss_forward(self: Spec, target: Spec, reduction: int) -> tuple[Spec, Spec]:
    batch, _ = _frame(self)
    check(
        tuple(target.shape) == tuple(self.shape),
        lambda: f"inconsistent target size: {shape_text(target.shape)} for input of size: {shape_text(self.shape)}",
    )
    require(self.dtype.name in _MARGINS, self, "multilabel_margin_loss_forward_out_frame")
    check(target.dtype is int64, lambda: f"expected scalar type Long but found {target.dtype.scalar_name}")
    is_target = Spec.of(self.dtype, self.device, target.shape)
    if reduction == NONE and target.ndim > 1:
        return Spec.of(self.dtype, self.device, (batch,)), is_target
    return scalar(self), is_target


multilabel_margin_loss_forward = MetaRule(_multilabel_margin_loss_forward, out=True)
"""`multilabel_margin_loss_forward`: the loss and which classes are targets."""


def _multilabel_margin_loss_backward(
    grad_output: Spec, self: Spec, target: Spec, reduction: int, is_target: Spec
) -> Spec:
    return Spec.of(self.dtype, self.device, self.shape)


multilabel_margin_loss_backward = MetaRule(_multilabel_margin_loss_backward, out=True)
"""`multilabel_margin_loss_backward`: the input's shape."""
