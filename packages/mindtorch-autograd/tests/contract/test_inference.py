"""Inference mode: which tensors are inference tensors, what may be done with them where, what is recorded."""

import copy

import numpy as np
import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


def inferred(T, call):
    with T.inference_mode():
        return call()


def state(T, call):
    """What a call gives: the flags of its tensor, or anything else as it is."""

    def flags():
        found = call()
        if not isinstance(found, T.Tensor):
            return found
        return found.requires_grad, found.is_leaf, found.is_inference(), found.grad_fn, found._is_view()

    return caught(flags)


USES = {
    "double": lambda T, one: one * 2,
    "product": lambda T, one: one * T.ones(one.shape, requires_grad=True),
    "sum_with_normal": lambda T, one: one + T.ones(one.shape, requires_grad=True),
    "exp": lambda T, one: one.exp(),
    "view": lambda T, one: one.view(-1),
    "item": lambda T, one: one[0],
    "unbind": lambda T, one: one.unbind()[0],
    "detach": lambda T, one: one.detach(),
    "data": lambda T, one: one.data,
    "version": lambda T, one: one._version,
    "requires": lambda T, one: one.requires_grad_(),
    "requires_not": lambda T, one: one.requires_grad_(False),
    "assigned": lambda T, one: setattr(one, "requires_grad", True),
    "backward": lambda T, one: (one + 1).sum().backward(),
    "write": lambda T, one: one.add_(1),
    "write_inferred": lambda T, one: inferred(T, lambda: one.add_(1)),
    "view_inferred": lambda T, one: inferred(T, lambda: one.view(-1)),
    "requires_inferred": lambda T, one: inferred(T, lambda: one.requires_grad_()),
    "out": lambda T, one: T.add(T.ones(one.shape), 1, out=one),
    "copied_from": lambda T, one: T.zeros(one.shape).copy_(one),
    "item_write": lambda T, one: one.__setitem__(0, 1.0),
    "filled": lambda T, one: one.view(-1).zero_(),
    "set": lambda T, one: one.set_(T.zeros(3)),
    "resize": lambda T, one: one.resize_(1),
    "unsqueezed": lambda T, one: one.unsqueeze_(0),
    "detach_": lambda T, one: one.detach_(),
    "hook": lambda T, one: one.register_hook(print) is None,
    "retain": lambda T, one: one.retain_grad(),
    "deepcopy": lambda T, one: copy.deepcopy(one),
    "new_data": lambda T, one: (setattr(one, "data", T.zeros(one.shape)), one.is_inference()),
    "cat": lambda T, one: T.cat([one, T.ones(3)]),
    "where": lambda T, one: T.where(one > 0, one, T.zeros(one.shape)),
    "linear": lambda T, one: T.nn.functional.linear(T.ones(1, one.numel()), one.reshape(1, -1)),
    "numpy": lambda T, one: one.numpy().tolist(),
    "text": lambda T, one: repr(one),
}


def makers(T):
    """Tensors made in inference mode, by name."""
    leaf, normal = T.ones(3, requires_grad=True), T.ones(3)
    with T.inference_mode():
        return {
            "fresh": T.ones(3),
            "tracked": T.ones(3, requires_grad=True),
            "random": T.zeros(3).normal_().zero_().requires_grad_(),
            "parameter": T.nn.Parameter(T.ones(2)),
            "result": leaf * 1,
            "view_of_leaf": leaf.view(3),
            "view_of_normal": normal.view(3),
            "view_of_fresh": T.ones(3)[1:],
            "detached": leaf.detach(),
        }


NAMES = "fresh tracked random parameter result view_of_leaf view_of_normal view_of_fresh detached".split()


@scenarios.each(**{f"{maker}-{use}": (maker, use) for maker in NAMES for use in USES})
def used_outside(T, case):
    maker, use = case
    one = makers(T)[maker]
    seen = [state(T, lambda: one), state(T, lambda: USES[use](T, one))]
    failed = isinstance(seen[1], tuple) and isinstance(seen[1][0], str) and seen[1][0].endswith("Error")
    return seen if failed else [*seen, state(T, lambda: one)]


@scenarios.each(
    tensor=lambda T: T.tensor(0),
    tensor_tracked=lambda T: T.tensor([1.0], requires_grad=True),
    as_tensor=lambda T: T.as_tensor([1]),
    from_numpy=lambda T: T.from_numpy(np.ones(2)),
    nonzero=lambda T: T.nonzero(T.ones(3)),
    masked=lambda T: T.ones(3)[T.ones(3) > 0],
    unique=lambda T: T.unique(T.ones(3)),
    permutation=lambda T: T.randperm(3),
    like=lambda T: T.ones_like(T.ones(3), requires_grad=True),
    empty=lambda T: T.empty(2, requires_grad=True).zero_(),
    buffer=lambda T: T.nn.BatchNorm1d(3).num_batches_tracked,
    weight=lambda T: T.nn.Linear(2, 2).weight,
    clone=lambda T: T.ones(2, requires_grad=True).clone(),
    split=lambda T: T.ones(4).split(2)[0],
)
def made_inside(T, make):
    return state(T, lambda: inferred(T, lambda: make(T)))


@scenarios
def recording_switched_on_inside(T):
    leaf, normal = T.ones(3, requires_grad=True), T.ones(3)
    result = leaf * 2
    with T.inference_mode():
        seen = [T.is_grad_enabled()]
        with T.enable_grad():
            for call in (
                lambda: leaf * 2,
                lambda: leaf.exp(),
                lambda: normal * 2,
                lambda: leaf.view(3),
                lambda: leaf[0],
                lambda: leaf.unbind()[0],
                lambda: leaf.detach(),
                lambda: leaf.add_(1),
                lambda: result.mul_(2),
                lambda: (leaf * 2).sum().backward(),
                lambda: T.ones(2, requires_grad=True),
                lambda: T.add(leaf, leaf, out=T.empty(3)),
                lambda: T.is_grad_enabled(),
            ):
                seen.append(state(T, call))
        with T.inference_mode(False):
            for call in (
                lambda: leaf * 2,
                lambda: normal * 2,
                lambda: T.ones(2, requires_grad=True),
                lambda: T.is_grad_enabled(),
            ):
                seen.append(state(T, call))
            with T.no_grad():
                seen.append(state(T, lambda: leaf * 2))
        with T.set_grad_enabled(True):
            seen += [T.is_grad_enabled(), state(T, lambda: leaf * 2)]
        seen.append(T.is_grad_enabled())
    return [*seen, T.is_grad_enabled()]


@scenarios
def gradients_of_inference_tensors(T):
    p = inferred(T, lambda: T.nn.Parameter(T.ones(2)))
    (p + 1).sum().backward()
    seen = [p.grad, p.grad.is_inference()]
    (p.clone() * 1).sum().backward()
    seen.append(p.grad)
    p.double().sum().backward()
    seen.append(p.grad)
    seen.append(caught(lambda: (p * T.ones(2, requires_grad=True)).sum()))
    seen.append(caught(lambda: T.optim.SGD([p], lr=0.1).step()))
    x = T.ones(3, requires_grad=True)
    given = inferred(T, lambda: T.ones(3))
    (x * 2).backward(given)
    seen.append(x.grad)
    (x * x).backward(given)
    seen.append(caught(lambda: T.autograd.grad(x * x, x, given, create_graph=True)))
    return [*seen, x.grad, x.grad.is_inference()]


@scenarios
def backward_inside(T):
    x = T.ones(3, requires_grad=True)
    out = (x * x).sum()
    inferred(T, lambda: out.backward(retain_graph=True))
    seen = [x.grad, x.grad.is_inference()]
    found = inferred(T, lambda: T.autograd.grad(out, x))
    return [*seen, found, found[0].is_inference(), caught(lambda: inferred(T, lambda: (x * 2).sum().backward()))]


@scenarios
def saved_by_functions(T):
    class Keeps(T.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(y)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad, None

    x = T.ones(3, requires_grad=True)
    y = inferred(T, lambda: T.ones(3))
    return caught(lambda: Keeps.apply(x, y)), caught(lambda: inferred(T, lambda: Keeps.apply(x, y).requires_grad))


@scenarios
def buffers_of_inferred_modules(T):
    norm, other = inferred(T, lambda: T.nn.BatchNorm1d(3)), T.nn.BatchNorm1d(3)
    inferred(T, lambda: other(T.ones(2, 3)))
    return [
        caught(lambda: norm(T.ones(2, 3))),
        caught(lambda: str(inferred(T, lambda: norm.load_state_dict(other.state_dict())))),
        other.running_mean.is_inference(),
        [one.is_inference() for one in norm.state_dict().values()],
    ]


@scenarios
def views_of_what_requires_grad(T):
    leaf, normal = T.ones(3, requires_grad=True), T.ones(3)
    result = leaf * 2
    with T.no_grad():
        one, two = leaf.view(3), result.view(3)
    late = normal.view(3)
    normal.requires_grad_()
    seen = []
    for view in (one, two, late):
        for call in (
            lambda view=view: view,
            lambda view=view: view.requires_grad_(False),
            lambda view=view: view,
            lambda view=view: view.requires_grad_(),
            lambda view=view: view.detach_(),
        ):
            seen.append(state(T, call))
    return [*seen, state(T, lambda: T.ones(3).view(3).detach_())]


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
