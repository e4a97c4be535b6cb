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


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
