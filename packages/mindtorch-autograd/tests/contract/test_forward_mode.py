"""gradcheck's texts, in every mode, and what forward mode does beyond single ops: ours and torch's give the same."""

from __future__ import annotations

from typing import Any

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


def wrong(T: Any, backward: float, forward: float) -> Any:
    """Return a function that doubles, with derivatives that say otherwise."""

    class Wrong(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * backward

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * forward

    return Wrong.apply


def points(T: Any, kind: str) -> Any:
    """Return what to differentiate at."""
    if kind == "real":
        return T.arange(4.0, dtype=T.float64).reshape(2, 2).requires_grad_()
    return (T.arange(2.0, dtype=T.float64) + 1j).requires_grad_()


@scenarios.each(real="real", complex="complex")
def texts_of_wrong_derivatives(T, kind):
    x = points(T, kind)
    seen = []
    for fast in (False, True):
        for backward, forward in ((3, 2), (2, 3)):
            fn = wrong(T, backward, forward)
            for one in (fn, lambda x, fn=fn: fn(x) * 1j) if kind == "real" else (fn,):
                seen.append(
                    caught(
                        lambda one=one, fast=fast: T.autograd.gradcheck(
                            one, (x,), fast_mode=fast, check_forward_ad=True
                        )
                    )
                )
    return seen


@scenarios
def backward_that_changes(T):
    class Changing(T.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            Changing.calls += 1
            return grad * (2 + 1e-7 * (Changing.calls % 3))

    x = points(T, "real")
    return [caught(lambda fast=fast: T.autograd.gradcheck(Changing.apply, (x,), fast_mode=fast)) for fast in (0, 1)]


@scenarios
def outputs_without_gradient(T):
    x, z = points(T, "real"), points(T, "complex")
    return [
        caught(lambda fn=fn, one=one, fast=fast: T.autograd.gradcheck(fn, (one,), fast_mode=fast))
        for fn in (lambda x: x.detach(), lambda x: x.detach().real * 0)
        for one in (x, z)
        for fast in (False, True)
    ]


@scenarios
def fast_second_order(T):
    x, z = points(T, "real"), points(T, "complex")
    check = T.autograd.gradgradcheck
    return [
        check(lambda x: x.exp() * x, (x,), fast_mode=True),
        check(lambda z: z * z.conj(), (z,), fast_mode=True),
        T.autograd.gradcheck(lambda z: (z.abs(), z.real), (z,), fast_mode=True, check_forward_ad=True),
    ]


@scenarios
def tangents_of_views_in_place(T):
    fw = T.autograd.forward_ad
    x, t = T.arange(6.0).reshape(2, 1, 3), T.arange(6.0).reshape(2, 1, 3) + 10
    seen = []
    with fw.dual_level():
        for turn in (
            lambda d: d.squeeze_(1),
            lambda d: d.transpose_(0, 2),
            lambda d: d.unsqueeze_(0).mul_(2),
            lambda d: d.t()[0] if d.ndim == 2 else d.squeeze_().t_(),
        ):
            seen.append(tuple(fw.unpack_dual(turn(fw.make_dual(x.clone(), t.clone()) * 1))))
    return seen, t


@scenarios
def tangents_are_laid_out_as_their_tensors(T):
    fw = T.autograd.forward_ad
    x, t = T.arange(6.0).reshape(2, 3), T.arange(6.0).reshape(3, 2).t()
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        flat = fw.unpack_dual(dual.view(6)).tangent
        made = fw.unpack_dual(dual.t() * 1).tangent
        strided = fw.unpack_dual(dual.as_strided((2, 2), (1, 2), 1)).tangent
        return flat, made, made.stride(), strided


@scenarios
def tangents_of_named_results(T):
    fw = T.autograd.forward_ad
    x, t = T.eye(3, dtype=T.float64) * 2 + T.arange(9.0, dtype=T.float64).reshape(3, 3) / 9, T.ones(3, 3).double()
    with fw.dual_level():
        dual = fw.make_dual(x, t)
        found = T.linalg.qr(dual), T.max(dual, 1), T.linalg.slogdet(dual)
        names = [type(one).__name__ for one in found]
        return names, fw.unpack_dual(found[0].R).tangent, fw.unpack_dual(found[1].values).tangent


@scenarios
def tangents_of_gradients(T):
    fw = T.autograd.forward_ad
    x = T.arange(1.0, 4.0, dtype=T.float64).requires_grad_()
    seen = []
    with fw.dual_level():
        dual = fw.make_dual(x, T.ones(3, dtype=T.float64) * 10)
        for fn in (
            lambda d: d**3,
            lambda d: d.exp(),
            lambda d: (d.exp() * d.sin()).tanh(),
            lambda d: d.outer(d) @ d,
            lambda d: d[1:] * d[:-1],
            lambda d: d.max() * d,
        ):
            (found,) = T.autograd.grad(fn(dual).sum(), dual, create_graph=True)
            seen.append((found, fw.unpack_dual(found).tangent.detach()))
            (found,) = T.autograd.grad(fn(dual).sum(), dual)
            seen.append((found, fw.unpack_dual(found).tangent.detach()))
    check = T.autograd.gradgradcheck
    only = {"check_fwd_over_rev": True, "check_rev_over_rev": False}
    for options in ({}, {"check_undefined_grad": False}, {"check_undefined_grad": False, "check_batched_grad": True}):
        seen.append(caught(lambda options=options: check(lambda x: x.exp() * x, (x,), **only, **options)))
    return seen


@scenarios
def transforms(T):
    x, t = T.arange(1.0, 5.0, dtype=T.float64), T.ones(4, dtype=T.float64)
    fn = lambda x: x.logcumsumexp(0) * x.roll(1)  # noqa: E731
    z = x + 1j * x.flip(0)
    return [
        T.func.jvp(fn, (x,), (t,)),
        T.func.jacfwd(fn)(x),
        T.func.hessian(lambda x: fn(x).sum())(x),
        T.func.jvp(lambda z: z.sigmoid() * z, (z,), (t * (1 + 2j),)),
        T.func.jacfwd(lambda x: T.linalg.pinv(x.reshape(2, 2)))(x),
    ]


@scenarios
def tangents_of_gradients_of_writes(T):
    fw = T.autograd.forward_ad
    x = T.arange(1.0, 4.0, dtype=T.float64).requires_grad_()
    seen = []
    with fw.dual_level():
        dual = fw.make_dual(x, T.ones(3, dtype=T.float64) * 10)
        for fn in (
            lambda d: d.clone().mul_(d).exp_(),
            lambda d: d.clone().pow_(3),
            lambda d: (d * 2).div_(d + 1).sigmoid_(),
            lambda d: (d * 2).addcmul_(d, d.exp()).tanh_(),
            lambda d: _written_part(d * 3, d),
            lambda d: d.clone().mul_(d).mul_(d).mul_(d),
            lambda d: d.clone().copy_(d.exp() * d) * d,
            lambda d: d.new_zeros(3).add_(d).mul_(d),
            lambda d: (d * d).index_add_(0, T.tensor([0, 0]), (d * d * d)[:2]).pow_(2),
            lambda d: (d * d).masked_fill_(T.tensor([True, False, False]), 2.0) * d,
        ):
            (found,) = T.autograd.grad(fn(dual).sum(), dual, create_graph=True)
            seen.append((found, fw.unpack_dual(found).tangent.detach()))
    return seen


def _written_part(base, d):
    base[1:].mul_(d[:2])
    base[0] = d[1] ** 3
    return base * base


def _tangents_of(T, x, forward, jvp, *others):
    members = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    function = type("Made", (T.autograd.Function,), members)
    with T.autograd.forward_ad.dual_level():
        found = function.apply(T.autograd.forward_ad.make_dual(x.clone(), T.ones_like(x)), *others)
        outputs = found if type(found) is tuple else [found]
        return [T.autograd.forward_ad.unpack_dual(one).tangent for one in outputs]


@scenarios
def functions_and_what_their_jvp_returns(T):
    x = T.arange(1.0, 4.0, dtype=T.float64)

    def unmarked(ctx, a):
        made = a.clone()
        ctx.mark_non_differentiable(made)
        return made

    def written(ctx, *given):
        ctx.mark_dirty(given[-1])
        return given[-1].mul_(2)

    elsewhere = x.clone()

    def unrelated(ctx, a):
        ctx.mark_dirty(elsewhere)
        return elsewhere.mul_(2)

    seen = []

    def noted(ctx, g, h=None):
        seen.append((h, len(ctx.saved_tensors)))
        return g

    def saving(name):
        return lambda ctx, a, b: (getattr(ctx, name)(a), a * 2)[1]

    cases = [
        (lambda ctx, a: a.clone(), lambda ctx, g: (g, g)),
        (lambda ctx, a: a.clone(), lambda ctx, g: 3),
        (lambda ctx, a: a.clone(), lambda ctx, g: g[:2]),
        (lambda ctx, a: (a.clone(), T.tensor(3)), lambda ctx, g: (g, g)),
        (lambda ctx, a: (a.clone(), T.tensor(3)), lambda ctx, g: (g, None)),
        (unmarked, lambda ctx, g: g),
        (unmarked, lambda ctx, g: None),
        (lambda ctx, a: a, lambda ctx, g: g),
        (lambda ctx, a: a, lambda ctx, g: g.view_as(g)),
        (lambda ctx, a: a[:2], lambda ctx, g: g[:2].clone()),
        (lambda ctx, a: a[:2], lambda ctx, g: g[:2].clone()[:]),
        (lambda ctx, a: a[:2], lambda ctx, g: g[:2]),
        (lambda ctx, a, b: b[:2], lambda ctx, g, h: g[:2].clone(), x.clone()),
        (written, lambda ctx, g: g * 2),
        (written, lambda ctx, g: g.mul_(2)),
        (written, lambda ctx, g: None),
        (written, lambda ctx, g, h: g * 3, x.clone()),
        (unrelated, lambda ctx, g: g),
        (lambda ctx, a, b: a * 2, noted, x),
        (lambda ctx, a, b: a * 2, noted, T.tensor(2)),
        (lambda ctx, a, b: a * 2, noted, 2),
        (saving("save_for_backward"), noted, x),
        (saving("save_for_forward"), noted, x),
    ]
    return [caught(lambda case=case: _tangents_of(T, x, *case)) for case in cases], seen


@scenarios
def what_has_no_tangent(T):
    fw = T.autograd.forward_ad
    x = T.arange(1.0, 4.0, dtype=T.float64)
    seen = []
    with fw.dual_level():
        dual, other = fw.make_dual(x, T.ones_like(x)), x.clone()
        seen += [
            caught(lambda call=call: call())
            for call in (
                lambda: fw.make_dual(x, dual),
                lambda: fw.make_dual(dual, x),
                lambda: T.add(other, other, out=dual),
                lambda: T.add(dual, other, out=other),
                lambda: T.max(dual, 0, out=(T.zeros((), dtype=T.float64), T.tensor(1))),
                lambda: T.igamma(dual, dual),
                lambda: T.special.zeta(dual, other),
            )
        ]
        for name in ("eq_", "ge_", "lt_"):
            one = fw.make_dual(T.arange(1.0, 4.0), T.ones(3))
            getattr(one[:2], name)(T.ones(2))
            seen.append(tuple(fw.unpack_dual(one)))
        made = fw.make_dual(x.clone(), T.ones_like(x)).clone()
        seen.append(fw.unpack_dual(made.detach_()).tangent)
    return seen


@scenarios
def tangents_have_the_storage_of_their_tensors(T):
    fw = T.autograd.forward_ad
    part, t = T.arange(5.0)[1:4].detach(), T.ones(3)
    with fw.dual_level():
        dual = fw.make_dual(part, t)
        tangent = fw.unpack_dual(dual).tangent
        kept = fw.unpack_dual(fw.make_dual(T.arange(3.0), t)).tangent is t
        made = T.ops.aten._new_zeros_with_same_feature_meta(T.ones(4, 2), T.ones(2, 3).t(), self_num_batch_dims=1)
        tangent *= 2
        whole = dual.as_strided((5,), (1,), 0)
        return (
            kept, tangent is t, t, len(tangent.untyped_storage()), tangent.storage_offset(), tuple(fw.unpack_dual(whole)),
            made, made.stride(), len(made.untyped_storage()),
        )  # fmt: skip


@scenarios
def comparisons_in_place_have_zero_gradients(T):
    seen = []
    for name in ("eq_", "ne_", "lt_", "le_", "gt_", "ge_"):
        for other in (T.ones(2), 1.0):
            x = T.ones(2, requires_grad=True)
            made = getattr(x * 2, name)(other)
            seen.append((T.autograd.grad(made.sum(), x), type(made.grad_fn).__name__))
    return seen


@scenarios
def gradients_of_tangents_that_require_them(T):
    fw = T.autograd.forward_ad
    functional = T.nn.functional
    functions = (
        lambda x: x.exp(),
        lambda x: x.t()[1:] * 2,
        lambda x: x @ x.t(),
        lambda x: functional.softmax(x, 1),
        lambda x: x.max(1)[0],
        lambda x: T.cat([x, x.sin()]),
        lambda x: x.clone().mul_(x).sin_(),
    )
    seen = []
    for number, function in enumerate(functions):
        for recorded in (False, True):
            if recorded and number in (1, 3, 4):  # torch gives zeros, an error and zeros
                continue
            x = T.linspace(-1, 2, 6).reshape(2, 3).requires_grad_(recorded)
            t = T.linspace(1, 3, 6).reshape(2, 3).requires_grad_()
            with fw.dual_level():
                made = fw.unpack_dual(function(fw.make_dual(x, t)))
            seen.append((made.primal.requires_grad, made.tangent.requires_grad))
            seen.append(T.autograd.grad(made.tangent.square().sum(), [x, t] if recorded else [t]))
    return seen


@scenarios
def gradients_of_tangents_after_writes(T):
    fw = T.autograd.forward_ad
    x, t, seen = T.linspace(-1, 2, 4).requires_grad_(), T.linspace(1, 3, 4), []
    for write in (
        lambda dual: dual.clone().mul_(dual),
        lambda dual: dual.clone().sin_().mul_(3).cos_(),
        lambda dual: dual.clone().add_(dual.sin(), alpha=2).pow_(2),
    ):
        with fw.dual_level():
            tangent = fw.unpack_dual(write(fw.make_dual(x, t))).tangent
        seen.append((tangent, T.autograd.grad(tangent.square().sum(), x)))
    return seen


@scenarios
def random_numbers_that_the_checks_draw(T):
    x = T.linspace(0.1, 0.9, 4, dtype=T.float64).requires_grad_()
    z = (x.detach() + 0.3j).requires_grad_()
    seen = []
    for fast in (False, True):
        for point in (x, z):
            for non_contiguous in (False, True):
                T.manual_seed(3)
                T.autograd.gradgradcheck(T.sin, (point,), gen_non_contig_grad_outputs=non_contiguous, fast_mode=fast)
                seen.append(T.rand(2))
    return seen


@scenarios
def batched_tangents_through_views(T):
    fw = T.autograd.forward_ad
    x, t = T.arange(6.0).reshape(2, 3), T.arange(12.0).reshape(2, 2, 3)

    def along(tangent):
        with fw.dual_level():
            base = T.zeros(3, 3)
            view = base.t()[:, :2]
            view.copy_(fw.make_dual(x.clone(), tangent).t())
            return fw.unpack_dual(base).tangent * 2, fw.unpack_dual(view).tangent

    return T._vmap_internals._vmap(along)(t)


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
