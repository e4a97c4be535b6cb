"""Gradients that meet are added in place only where nobody else sees the memory that is written."""

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same

scenarios = Scenarios()


def tied(T, later, *, hook=None, node_hook=None, first=lambda w: w.view(3, 2)):
    """A leaf whose gradient is the sum of what comes through a view (`first`), and then of `later`'s."""
    w = T.arange(6.0).reshape(2, 3).requires_grad_()
    early = later(w)  # made before, so its gradient arrives after
    seen = first(w)
    if hook is not None:
        seen.register_hook(hook)
    if node_hook is not None:
        seen.grad_fn.register_hook(node_hook)
    loss = (seen * T.arange(6.0).reshape(seen.shape)).sum() + early.sum()
    del early, seen
    loss.backward()
    return w.grad


def squares(w):
    return w * w


@scenarios.each(
    itself=lambda grad: grad,
    detached=lambda grad: grad.detach(),
    array=lambda grad: grad.numpy(),
    view=lambda grad: grad.view(-1),
    part=lambda grad: grad[1:],
    alias=lambda grad: grad.data,
    storage=lambda grad: grad.untyped_storage(),
)
def kept_gradients_stay(T, keep):
    held = []
    grads = [
        tied(T, squares, hook=lambda grad: held.append(keep(grad))),
        tied(T, squares, node_hook=lambda given, got: held.append(keep(given[0]))),
        tied(T, lambda w: w.view(6) * 2, node_hook=lambda given, got: held.append(keep(got[0]))),
    ]
    return [list(one) if not hasattr(one, "tolist") else one.tolist() for one in held], grads


@scenarios
def repeated_elements(T):
    w = T.arange(3.0).requires_grad_()
    sums = [w.expand(2, 3).sum(0), w.expand(2, 3).sum(0)]
    (sums[0].sum() + sums[1].sum() + w.sum() + w.sum()).backward()
    return w.grad


@scenarios
def scalars_spread(T):
    w = T.arange(3.0).requires_grad_()
    y = w * 1
    (y.sum() + y.sum() + y.exp().sum()).backward()
    return w.grad


@scenarios
def of_parts(T):
    w = T.arange(6.0).requires_grad_()
    a, b = w[:3], w[3:]
    (a.sum() + (b * a).sum() + w.view(2, 3).t().exp().sum() + w.flip(0).mul(2)[0]).backward()
    return w.grad


@scenarios
def recorded(T):
    w = T.arange(6.0).reshape(2, 3).requires_grad_()
    loss = (w.t() ** 3).sum() + (w**2).sum()
    (grad,) = T.autograd.grad(loss, w, create_graph=True)
    grad.sum().backward()
    return grad, w.grad


@scenarios
def captured_on_the_way(T):
    w = T.arange(6.0).reshape(2, 3).requires_grad_()
    y = w * 1
    z = y.t()
    loss = (z * z).sum() + y.exp().sum()
    return T.autograd.grad(loss, [z, y, w])


@scenarios
def twice_over_a_kept_graph(T):
    w = T.arange(6.0).reshape(2, 3).requires_grad_()
    loss = (w.t() ** 2).sum() + (w**2).sum()
    loss.backward(retain_graph=True)
    first = w.grad
    loss.backward()
    return first, w.grad, first is w.grad


@scenarios
def the_two_orders(T):
    return [
        tied(T, squares),
        tied(T, lambda w: w.t() * 2, first=lambda w: w * w),
        tied(T, lambda w: T.nn.functional.embedding(T.tensor([1, 1, 0]), w)),
        tied(T, lambda w: w.reshape(-1), first=lambda w: T.nn.functional.embedding(T.tensor([0, 1]), w)),
    ]


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)


def test_what_nobody_sees_is_added_to():
    places = []
    look = lambda given, got: places.append(given[0].data_ptr())  # noqa: E731
    assert tied(mt, squares, node_hook=look).data_ptr() in places
