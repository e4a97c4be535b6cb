"""The arguments of each row that has a native kernel: `RECIPES[row](draw)` gives positional and keyword arguments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindtorch as mt
from mindtorch_testing.operands.draw import INTEGERS, Operands

Arguments = tuple[list[Any], dict[str, Any]]
Recipe = Callable[[Operands], Arguments]

RECIPES: dict[str, Recipe] = {}


def rows(names: str) -> Callable[[Callable[[Operands], Any]], Recipe]:
    """Enter the recipe of these rows; it returns a list, or a list and a dictionary."""

    def enter(recipe: Callable[[Operands], Any]) -> Recipe:
        def complete(draw: Operands) -> Arguments:
            made = recipe(draw)
            return made if isinstance(made, tuple) else (made, {})

        RECIPES.update(dict.fromkeys(names.split(), complete))
        return complete

    return enter


def generator(draw: Operands) -> Any:
    """Return a seeded generator."""
    return mt.Generator().manual_seed(draw.whole(0, 1 << 40))


def integers(draw: Operands) -> Operands:
    """Return the draw with a dtype that has bits to speak of, mostly."""
    if draw.chance(0.9):
        draw.dtype = draw.pick(INTEGERS)
    return draw


def at_least(draw: Operands, ndim: int) -> tuple[int, ...]:
    """Return the call's shape with one more dimension or more where it has too few."""
    return draw.shape if len(draw.shape) >= ndim else draw.draw_shape(ndim)


# --- pointwise

rows(
    "logical_not isnan isinf isfinite neg abs sqrt rsqrt reciprocal relu floor ceil round trunc sign exp expm1 "
    "log log2 log10 log1p sin cos tanh erf sigmoid silu hardswish hardsigmoid mish log_sigmoid_forward clone zero_ nonzero "
    "zeros_like ones_like sgn angle erfc erfinv exp2 frac lgamma sinc i0 special_i0e special_i1 "
    "special_i1e special_modified_bessel_i0 special_modified_bessel_i1 special_entr special_spherical_bessel_j0"
)(lambda d: [d.tensor()])
rows(
    "logical_and logical_or logical_xor maximum minimum mul.Tensor "
    "div.Tensor eq.Tensor ne.Tensor lt.Tensor le.Tensor gt.Tensor ge.Tensor clamp_min.Tensor clamp_max.Tensor "
    "pow.Tensor_Tensor logaddexp logaddexp2 copy_ copysign.Tensor hypot"
)(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape))])
rows(
    "mul.Scalar div.Scalar eq.Scalar ne.Scalar lt.Scalar le.Scalar gt.Scalar ge.Scalar "
    "clamp_min clamp_max pow.Tensor_Scalar fill_.Scalar full_like hardshrink leaky_relu copysign.Scalar"
)(lambda d: [d.tensor(), d.number()])
rows("logit")(lambda d: [d.tensor(), *([abs(d.number()) / 99] if d.chance(0.5) else [])])
rows("softshrink")(lambda d: [d.tensor(), abs(d.number())])
rows("threshold clamp hardtanh")(lambda d: [d.tensor(), d.number(), d.number()])
rows("bitwise_not")(lambda d: [integers(d).tensor()])
rows("bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor")(
    lambda d: [integers(d).tensor(), d.tensor(d.broadcast(d.shape))]
)
rows("bitwise_and.Scalar bitwise_or.Scalar bitwise_xor.Scalar")(lambda d: [integers(d).tensor(), d.whole(-9, 9)])
rows("bitwise_and.Scalar_Tensor bitwise_or.Scalar_Tensor bitwise_xor.Scalar_Tensor")(
    lambda d: [d.whole(-9, 9), integers(d).tensor()]
)
rows("bitwise_left_shift.Tensor bitwise_right_shift.Tensor")(
    lambda d: [integers(d).tensor(), d.tensor(d.broadcast(d.shape))]
)
rows("bitwise_left_shift.Tensor_Scalar bitwise_right_shift.Tensor_Scalar")(
    lambda d: [integers(d).tensor(), d.whole(-2, 70)]
)
rows("bitwise_left_shift.Scalar_Tensor bitwise_right_shift.Scalar_Tensor")(
    lambda d: [d.whole(-9, 70), integers(d).tensor()]
)
rows("fmod.Tensor remainder.Tensor floor_divide _div_floor.Tensor _prelu_kernel")(
    lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape))]
)
rows("_prelu_kernel_backward")(lambda d: [d.tensor(), d.tensor(), d.tensor()])
rows("fmod.Scalar remainder.Scalar _div_floor.Scalar")(lambda d: [d.tensor(), d.number()])
rows("remainder.Scalar_Tensor")(lambda d: [d.number(), d.tensor()])
rows("nan_to_num")(lambda d: [d.tensor(), *(float(d.number()) if d.chance(0.5) else None for _ in "npm")])
rows("add.Tensor sub.Tensor rsub.Tensor")(
    lambda d: ([d.tensor(), d.tensor(d.broadcast(d.shape))], {"alpha": d.number()} if d.chance(0.4) else {})
)
rows("add.Scalar sub.Scalar rsub.Scalar")(lambda d: [d.tensor(), d.number(), *([d.number()] if d.chance(0.4) else [])])
rows("clamp.Tensor")(lambda d: [d.tensor(), *(d.tensor(d.broadcast(d.shape)) if d.chance(0.8) else None for _ in "ab")])
rows("elu")(lambda d: [d.tensor(), *(d.number() for _ in range(3))])
rows("softplus")(lambda d: [d.tensor(), d.number() or 1, d.number()])
rows("gelu")(lambda d: ([d.tensor()], {"approximate": d.pick(["none", "tanh"])}))
rows("silu_backward hardswish_backward hardsigmoid_backward mish_backward tanh_backward sigmoid_backward")(
    lambda d: [d.tensor(), d.tensor()]
)
rows("gelu_backward")(lambda d: ([d.tame().tensor(), d.tensor()], {"approximate": d.pick(["none", "tanh"])}))
rows("leaky_relu_backward")(lambda d: [d.tensor(), d.tensor(), d.number(), d.chance(0.3)])
rows("elu_backward")(lambda d: [d.tensor(), d.number(), d.number(), d.number(), d.chance(0.3), d.tensor()])
rows("softplus_backward hardtanh_backward")(lambda d: [d.tensor(), d.tensor(), d.number(), d.number()])
rows("threshold_backward softshrink_backward hardshrink_backward")(lambda d: [d.tensor(), d.tensor(), d.number()])
rows("log_sigmoid_backward")(lambda d: [d.tensor(), d.tensor(), d.tensor()])


def condition(draw: Operands) -> Any:
    """Return truth values that spread to the call's shape."""
    return draw.tensor(draw.broadcast(draw.shape), "bool")


rows("where.self")(lambda d: [condition(d), d.tensor(), d.tensor(d.broadcast(d.shape))])
rows("where.ScalarSelf")(lambda d: [condition(d), d.number(), d.tensor()])
rows("where.ScalarOther")(lambda d: [condition(d), d.tensor(), d.number()])
rows("scalar_tensor")(lambda d: ([d.number()], {"dtype": getattr(mt, d.dtype)}))
rows("where.Scalar")(lambda d: [condition(d), d.number(), d.number()])
rows("masked_fill.Scalar")(lambda d: [d.tensor(), condition(d), d.number()])
rows("masked_fill.Tensor")(lambda d: [d.tensor(), condition(d), d.tensor(())])
rows("addcmul addcdiv")(
    lambda d: ([d.tensor(), d.tensor(d.broadcast(d.shape)), d.tensor()], {"value": d.number()} if d.chance(0.5) else {})
)
rows("lerp.Scalar")(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape)), d.number()])
rows("lerp.Tensor")(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape)), d.tensor(d.broadcast(d.shape))])

# --- reductions

rows("sum mean max min any all median nanmedian")(lambda d: [d.tensor()])
rows("prod")(lambda d: [d.tame().tensor()])
rows("amax amin logsumexp sum.dim_IntList mean.dim any.dims all.dims")(
    lambda d: [d.tensor(), d.dims(len(d.shape)), d.chance(0.5)]
)
rows("prod.dim_int")(lambda d: [d.tame().tensor(), d.dim(len(d.shape)), d.chance(0.5)])
rows("nansum")(lambda d: [d.tensor(), d.dims(len(d.shape)) if d.chance(0.7) else None, d.chance(0.5)])
rows("any.dim all.dim max.dim min.dim median.dim nanmedian.dim")(
    lambda d: [d.tensor(), d.dim(len(d.shape)), d.chance(0.5)]
)
rows("kthvalue")(lambda d: [d.tensor(), d.whole(0, max(d.shape, default=1)), d.dim(len(d.shape)), d.chance(0.5)])
rows("argmax argmin")(lambda d: [d.tensor(), d.dim(len(d.shape)) if d.chance(0.8) else None, d.chance(0.5)])
rows("cumsum cummax cummin")(lambda d: [d.tensor(), d.dim(len(d.shape))])
rows("cumprod")(lambda d: [d.tame().tensor(), d.dim(len(d.shape))])
rows("sort")(lambda d: [d.tensor(), d.dim(len(d.shape)), d.chance(0.5)])
rows("sort.stable")(lambda d: ([d.tensor()], {"stable": True, "dim": d.dim(len(d.shape)), "descending": d.chance(0.5)}))
rows("var.correction std.correction var_mean.correction std_mean.correction")(
    lambda d: (
        [d.tensor(), d.dims(len(d.shape)) if d.chance(0.7) else None],
        {"correction": d.pick([0, 1, 2, 1.5]), "keepdim": d.chance(0.5)},
    )
)
rows("linalg_vector_norm")(
    lambda d: [
        d.tensor(),
        d.pick([2, 1, 0, math.inf, -math.inf, 3, 2.5]),
        d.dims(len(d.shape)) if d.chance(0.7) else None,
        d.chance(0.5),
    ]
)
rows("_softmax _log_softmax")(lambda d: [d.tensor(), d.dim(len(d.shape)), False])
rows("_softmax_backward_data _log_softmax_backward_data")(
    lambda d: [d.tensor(), d.tensor(unit=True), d.dim(len(d.shape)), getattr(mt, d.dtype)]
)


@rows("topk")
def _topk(draw: Operands) -> list[Any]:
    # Of equal elements, and without an order, native code gives torch's and numpy's kernel any.
    x = draw.tensor()
    if not x.is_complex() and x.numel() > (
        1 / mt.finfo(x.dtype).eps if x.dtype.is_floating_point else mt.iinfo(mt.int8).max
    ):
        x = x.float()
    x.copy_(mt.from_numpy(draw.random.permutation(x.numel()).reshape(x.shape)) - x.numel() // 2)
    return [x, draw.whole(0, max(draw.shape, default=1)), draw.dim(len(draw.shape)), draw.chance(0.5), True]


@rows("glu")
def _glu(draw: Operands) -> list[Any]:
    shape = list(at_least(draw, 1))
    dim = draw.whole(0, len(shape) - 1)
    shape[dim] += shape[dim] % 2 if draw.chance(0.9) else 0
    return [draw.tensor(shape), dim]


@rows("glu_backward")
def _glu_backward(draw: Operands) -> list[Any]:
    (given, dim), _ = _glu(draw)
    halved = [extent // 2 if place == dim else extent for place, extent in enumerate(given.shape)]
    return [draw.tensor(halved), given, dim]


# --- losses

rows("mse_loss")(lambda d: [d.tensor(), d.tensor(d.broadcast(d.shape)), d.whole(0, 2)])
rows("smooth_l1_loss huber_loss")(lambda d: [d.tensor(), d.tensor(), d.whole(0, 2), abs(float(d.number())) or 1.0])
rows("binary_cross_entropy")(
    lambda d: [d.tensor(unit=True), d.tensor(unit=True), d.tensor() if d.chance(0.4) else None, d.whole(0, 2)]
)
rows("binary_cross_entropy_with_logits")(
    lambda d: [
        d.tensor(),
        d.tensor(unit=True),
        d.tensor(d.broadcast(d.shape)) if d.chance(0.3) else None,
        d.tensor(d.broadcast(d.shape)) if d.chance(0.3) else None,
        d.whole(0, 2),
    ]
)


def cotangent(draw: Operands, reduction: int) -> Any:
    """Return a gradient of what a loss of the call's shape gives."""
    return draw.tensor(draw.shape if reduction == 0 else ())


@rows("mse_loss_backward")
def _mse_loss_backward(draw: Operands) -> list[Any]:
    reduction = draw.whole(0, 2)
    return [cotangent(draw, reduction), draw.tensor(), draw.tensor(), reduction]


@rows("smooth_l1_loss_backward huber_loss_backward")
def _smooth_backward(draw: Operands) -> list[Any]:
    return [*_mse_loss_backward(draw)[0], abs(float(draw.number())) or 1.0]


@rows("binary_cross_entropy_backward")
def _cross_entropy_backward(draw: Operands) -> list[Any]:
    reduction = draw.whole(0, 2)
    weight = draw.tensor() if draw.chance(0.4) else None
    return [cotangent(draw, reduction), draw.tensor(unit=True), draw.tensor(unit=True), weight, reduction]


@rows("nll_loss_forward")
def _nll_loss(draw: Operands) -> list[Any]:
    classes = draw.pick([1, 2, 5, 17, 40])
    count = draw.pick([(), (0,), (1,), (7,), (33,)])
    weight = draw.tensor((classes,)) if draw.chance(0.4) else None
    return [
        draw.tensor((*count, classes)),
        draw.indices(count, classes),
        weight,
        draw.whole(0, 2),
        draw.pick([-100, 0]),
    ]


@rows("nll_loss_backward")
def _nll_loss_backward(draw: Operands) -> list[Any]:
    (scores, targets, weight, reduction, ignored), _ = _nll_loss(draw)
    grad = draw.tensor(targets.shape if reduction == 0 else ())
    return [grad, scores, targets, weight, reduction, ignored, draw.tensor(())]


@rows("nll_loss2d_forward")
def _nll_loss2d(draw: Operands) -> list[Any]:
    classes, count = draw.pick([1, 2, 5, 17]), draw.pick([(0, 2, 3), (1, 1, 1), (2, 3, 5), (3, 1, 7)])
    weight = draw.tensor((classes,)) if draw.chance(0.4) else None
    scores = draw.tensor((count[0], classes, *count[1:]))
    return [scores, draw.indices(count, classes), weight, draw.whole(0, 2), draw.pick([-100, 0])]


@rows("nll_loss2d_backward")
def _nll_loss2d_backward(draw: Operands) -> list[Any]:
    (scores, targets, weight, reduction, ignored), _ = _nll_loss2d(draw)
    grad = draw.tensor(targets.shape if reduction == 0 else ())
    return [grad, scores, targets, weight, reduction, ignored, draw.tensor(())]
