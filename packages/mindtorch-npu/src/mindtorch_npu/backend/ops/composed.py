"""Elementwise rows, losses and draws that several of the vendor's operators make up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.ops.random import launch_drawing
from mindtorch_npu.backend.register import aclnn, written


def _array(value: object, like: DeviceArray) -> DeviceArray:
    """Return an operand as an array: numbers become one of a single element."""
    if isinstance(value, DeviceArray):
        return value if value.dtype == like.dtype else value.astype(like.dtype)
    if isinstance(value, np.ndarray):
        return on.constant(value.astype(like.dtype), like)
    return on.filled(like, value, ())


def _two(fn: Callable[..., Any]) -> Any:
    """Return a kernel of two operands of the result's dtype."""

    def run(out: DeviceArray, x: DeviceArray, y: DeviceArray) -> None:
        if out.size:
            on.copied(out, fn(_array(x, out), _array(y, out)))

    return run


def _one(fn: Callable[..., Any]) -> Any:
    def run(out: DeviceArray, x: DeviceArray, *rest: object) -> None:
        if out.size:
            on.copied(out, fn(x if x.dtype.kind in "fc" or x.dtype == out.dtype else x.astype(out.dtype), *rest))

    return run


def _nan(x: DeviceArray) -> DeviceArray:
    return on.compare("Ne", x, x)


def _present(name: str) -> Any:
    """Return the larger or smaller of two, the other where one is no number."""

    def choose(x: DeviceArray, y: DeviceArray) -> DeviceArray:
        best = on.both(name, x, y)
        return on.where(_nan(x), y, on.where(_nan(y), x, best)) if x.dtype.kind == "f" else best

    return choose


def _copysign(x: DeviceArray, y: DeviceArray) -> DeviceArray:
    size = on.each("Abs", x)
    return on.where(on.each("Signbit", y, dtype=on.BOOL), on.mul(size, -1.0), size)


def _angle(x: DeviceArray) -> DeviceArray:
    if x.dtype.kind == "c":
        return on.both("Atan2", on.component(x, True), on.component(x, False))
    turned = on.where(on.compare("Lt", x, 0), on.filled(x, math.pi), on.filled(x, 0.0))
    return on.where(_nan(x), x, turned)


def _conjugate(out: DeviceArray, self: DeviceArray) -> None:
    if out is not self:
        on.copied(out, self)
    if out.dtype.kind == "c" and out.size:
        part = on.component(out, True)
        on.copied(part, on.mul(part, -1.0))


def _xlog1py(x: DeviceArray, y: DeviceArray) -> DeviceArray:
    made = on.mul(x, on.each("Log1p", y))
    made = on.where(on.compare("Eq", x, 0), on.filled(made, 0.0), made)
    return on.where(_nan(y), y, made)


def _entropy(x: DeviceArray) -> DeviceArray:
    inner = on.mul(on.mul(x, on.each("Log", x)), -1.0)
    inner = on.where(on.compare("Eq", x, 0), on.filled(x, 0.0), inner)
    inner = on.where(on.compare("Lt", x, 0), on.filled(x, -math.inf), inner)
    return on.where(_nan(x), x, inner)


def _least_common(x: DeviceArray, y: DeviceArray) -> DeviceArray:
    divisor = on.both("Gcd", x, y)
    nothing = on.compare("Eq", divisor, 0)
    safe = on.where(nothing, on.filled(divisor, 1), divisor)
    made = on.each("Abs", on.mul(on.both("FloorDivide", x, safe), y))
    return on.where(nothing, on.filled(made, 0), made)


def _log_gamma_of_many(x: DeviceArray, p: int) -> DeviceArray:
    made = on.filled(x, p * (p - 1) / 4 * math.log(math.pi))
    for at in range(p):
        made = on.add(made, on.each("Lgamma", on.sub(x, at / 2)))
    return made


def _normal_quantile(x: DeviceArray) -> DeviceArray:
    return on.mul(on.each("Erfinv", on.sub(on.mul(x, 2.0), 1.0)), math.sqrt(2))


def _log_cumulative(out: DeviceArray, self: DeviceArray, dim: int) -> None:
    if not out.size:
        return
    if not self.ndim:
        on.copied(out, self)
        return
    shape = [1 if axis == dim else n for axis, n in enumerate(self.shape)]
    top = on.apply("Amax", shape, self.dtype, self, [dim], True)
    finite = on.each("IsFinite", top, dtype=on.BOOL)
    top = on.where(finite, top, on.filled(top, 0.0))
    total = on.apply("Cumsum", self.shape, self.dtype, on.each("Exp", on.sub(self, top)), dim)
    on.copied(out, on.add(on.each("Log", total), top))


def _distance(out: DeviceArray, self: DeviceArray, other: DeviceArray, order: float, dims: Sequence[int]) -> None:
    difference = on.sub(self, other)
    if difference.size:
        axes = list(range(difference.ndim))
        on.into(out, "LinalgVectorNorm", difference, float(order), axes, False)
    elif out.size:
        launch("aclnnInplaceZero", [out])


def _huber(out: DeviceArray, self: Any, target: Any, reduction: int, delta: float) -> None:
    """Quadratic up to delta: delta times the smooth loss whose bend is there."""
    shape = np.broadcast_shapes(self.shape, target.shape)
    x, y = (on.expanded(one, shape).packed() for one in (self, target))
    made = on.apply("SmoothL1Loss", out.shape, out.dtype, x, y, reduction, float(delta))
    on.copied(out, on.mul(made, float(delta)))


def _huber_backward(out: DeviceArray, grad: DeviceArray, self: Any, target: Any, reduction: int, delta: float) -> None:
    shape = np.broadcast_shapes(self.shape, target.shape)
    x, y = (on.expanded(one, shape).packed() for one in (self, target))
    made = on.apply("SmoothL1LossBackward", shape, out.dtype, grad, x, y, reduction, float(delta))
    on.copied(out, on.mul(made, float(delta)))


def _weighted_classes(out: DeviceArray | None, self: Any, weight: Any) -> DeviceArray:
    return weight if weight is not None else on.filled(self, 1.0, (self.shape[1],))


def _nll2d(
    out: Any, self: DeviceArray | None, target: Any, weight: DeviceArray, reduction: int, ignore_index: int
) -> None:
    value, total = out
    classes = _weighted_classes(out, self, weight)
    launch("aclnnNLLLoss2d", [self, target, classes, reduction, ignore_index, value, total])


def _nll2d_backward(
    out: DeviceArray,
    grad: DeviceArray,
    self: DeviceArray,
    target: object,
    weight: DeviceArray,
    reduction: int,
    ignore_index: int,
    total: object,
) -> None:
    classes = _weighted_classes(out, self, weight)
    launch("aclnnNLLLoss2dBackward", [grad, self, target, classes, reduction, ignore_index, total, out])


def _uniform(out: DeviceArray, generator: Any) -> DeviceArray:
    made = on.filled(out, 0.0)
    launch_drawing("aclnnInplaceUniform", [made, 0.0, 1.0], out, generator)
    return made


def _drawn(fn: Callable[..., Any]) -> Any:
    """Return a kernel that makes its numbers of uniform ones."""

    def run(out: DeviceArray, self: DeviceArray, *given: object) -> None:
        *numbers, generator = given
        if out.size:
            on.copied(out, fn(_uniform(out, generator), *numbers))

    return run


def _exponential(u: DeviceArray, rate: float) -> DeviceArray:
    return on.mul(on.each("Log1p", on.mul(u, -1.0)), -1.0 / rate)


def _cauchy(u: DeviceArray, median: float, sigma: float) -> DeviceArray:
    return on.add(on.mul(on.each("Tan", on.mul(on.sub(u, 0.5), math.pi)), sigma), median)


def _geometric(u: DeviceArray, p: float) -> DeviceArray:
    return on.each("Ceil", on.mul(on.each("Log1p", on.mul(u, -1.0)), 1.0 / math.log1p(-p)))


def _log_normal(out: DeviceArray, self: DeviceArray, mean: float, std: float, generator: object) -> None:
    if out.size:
        launch_drawing("aclnnInplaceNormal", [out, float(mean), float(std)], out, generator)
        on.copied(out, on.each("Exp", out))


def _normal(
    out: DeviceArray, mean: float, std: float, size: Sequence[int], generator: object, *options: object
) -> None:
    if out.size:
        launch_drawing("aclnnInplaceNormal", [out, float(mean), float(std)], out, generator)


def _multinomial(out: DeviceArray, self: DeviceArray, count: int, replacement: bool, generator: object) -> None:
    if out.size:
        launch_drawing("aclnnMultinomial", [self, count, replacement], out, generator, [out])


def _log_space(out: DeviceArray, start: object, end: object, steps: int, base: float, *options: object) -> None:
    if out.size:
        numbers = [one.item() if isinstance(one, DeviceArray) or hasattr(one, "item") else one for one in (start, end)]
        launch("aclnnLogSpace", [*numbers, steps, float(base), out])


written("hypot", "Mul", _two(lambda x, y: on.each("Sqrt", on.add(on.mul(x, x), on.mul(y, y)))))
written("fmax", "Maximum", _two(_present("Maximum")))
written("fmin", "Minimum", _two(_present("Minimum")))
written(("copysign.Tensor", "copysign.Scalar"), "SWhere", _two(_copysign))
written(("special_xlog1py", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar"), "Log1p", _two(_xlog1py))
written("lcm", "Gcd", _two(_least_common))
written("angle", "Atan2", _one(_angle))
written("special_entr", "Log", _one(_entropy))
written("mvlgamma", "Lgamma", _one(_log_gamma_of_many))
written("special_ndtri", "Erfinv", _one(_normal_quantile))
written("conj_physical", "InplaceCopy", _conjugate)
written("logcumsumexp", "Cumsum", _log_cumulative)
written("dist", "LinalgVectorNorm", _distance)
aclnn("logit", "Logit", outputs=("out",), adapt=lambda x, eps: (x, -1.0 if eps is None else eps))
aclnn(
    "logit_backward", "LogitGrad", outputs=("out",), adapt=lambda grad, x, eps: (x, grad, -1.0 if eps is None else eps)
)
written("huber_loss", "SmoothL1Loss", _huber)
written("huber_loss_backward", "SmoothL1LossBackward", _huber_backward)
written("nll_loss2d_forward", "NLLLoss2d", _nll2d)
written("nll_loss2d_backward", "NLLLoss2dBackward", _nll2d_backward)
aclnn("_prelu_kernel", "Prelu")
aclnn("_prelu_kernel_backward", "PreluBackward")
aclnn("index_fill.int_Tensor", "IndexFill", adapt=lambda x, dim, index, value, *rest: (x, dim, index, value))
written("exponential_", "InplaceUniform", _drawn(_exponential))
written("cauchy_", "InplaceUniform", _drawn(_cauchy))
written("geometric_", "InplaceUniform", _drawn(_geometric))
written("log_normal_", "InplaceNormal", _log_normal)
written("normal.float_float", "InplaceNormal", _normal)
written("multinomial", "Multinomial", _multinomial)
written("logspace", "LogSpace", _log_space)
