"""What transforms give can be differentiated outside of them, where something outside took part; else nothing is recorded."""

import pytest
import torch

import mindtorch
from mindtorch_autograd.recorder import Recorder


def _leaf(lib, *shape, start=0.1):
    count = 1
    for extent in shape:
        count *= extent
    return (lib.arange(float(count)).reshape(shape) / 7 + start).requires_grad_()


def _captured(lib, transform):
    """The gradients of what is captured, or given with a history, by what a transform gives."""
    w, x = _leaf(lib, 3), _leaf(lib, 4, 3, start=0.3)
    results = transform(lib, w, x)
    results = results if isinstance(results, tuple) else (results,)
    seen = [one.requires_grad for one in results]
    total = sum(one.sum() for one in results if one.requires_grad)
    grads = lib.autograd.grad(total, [w, x], allow_unused=True) if any(seen) else (None, None)
    return seen, [one.tolist() for one in results], [None if one is None else one.tolist() for one in grads]


def _loss(lib, w):
    return lambda one: (one * w).sin().sum() ** 2


TRANSFORMS = {
    "grad of a captured leaf": lambda lib, w, x: lib.func.grad(_loss(lib, w))(x.detach()[0]),
    "grad of an argument": lambda lib, w, x: lib.func.grad(_loss(lib, w.detach()))(x[0]),
    "grad of neither": lambda lib, w, x: lib.func.grad(_loss(lib, w.detach()))(x.detach()[0]),
    "vmap of grad, captured": lambda lib, w, x: lib.vmap(lib.func.grad(_loss(lib, w)))(x.detach()),
    "vmap of grad, shared": lambda lib, w, x: lib.vmap(
        lib.func.grad(lambda v, one: (one * v).sin().sum() ** 2), (None, 0)
    )(w, x.detach()),
    "vmap of grad, mapped": lambda lib, w, x: lib.vmap(lib.func.grad(_loss(lib, w.detach())))(x),
    "vmap of grad, neither": lambda lib, w, x: lib.vmap(lib.func.grad(_loss(lib, w.detach())))(x.detach()),
    "jvp, captured": lambda lib, w, x: lib.func.jvp(_loss(lib, w), (x.detach()[0],), (x.detach()[1],)),
    "jvp, tangent": lambda lib, w, x: lib.func.jvp(_loss(lib, w.detach()), (x.detach()[0],), (x[1],)),
    "jvp, primal": lambda lib, w, x: lib.func.jvp(_loss(lib, w.detach()), (x[0],), (x.detach()[1],)),
    "jvp, neither": lambda lib, w, x: lib.func.jvp(_loss(lib, w.detach()), (x.detach()[0],), (x.detach()[1],)),
    "jacrev": lambda lib, w, x: lib.func.jacrev(lambda one: (one * w).sin())(x.detach()[0]),
    "jacfwd": lambda lib, w, x: lib.func.jacfwd(lambda one: (one * w).sin())(x.detach()[0]),
    "hessian": lambda lib, w, x: lib.func.hessian(_loss(lib, w))(x.detach()[0]),
    "vmap of hessian": lambda lib, w, x: lib.vmap(lib.func.hessian(_loss(lib, w)))(x.detach()),
    "grad of grad": lambda lib, w, x: lib.func.grad(
        lambda one: lib.func.grad(_loss(lib, w))(one).pow(2).sum()
    )(x.detach()[0]),
    "grad of vmap of grad": lambda lib, w, x: lib.func.grad(
        lambda v: lib.vmap(lib.func.grad(_loss(lib, v)))(x.detach()).pow(2).sum()
    )(w.detach()),
    "grad of vmap of grad, captured": lambda lib, w, x: lib.func.grad(
        lambda one: lib.vmap(lib.func.grad(_loss(lib, w)))(one).pow(2).sum()
    )(x.detach()),
    "jvp of grad": lambda lib, w, x: lib.func.jvp(
        lib.func.grad(_loss(lib, w)), (x.detach()[0],), (x.detach()[1],)
    ),
    "jacrev of vmap of grad": lambda lib, w, x: lib.func.jacrev(
        lambda v: lib.vmap(lib.func.grad(_loss(lib, v)))(x.detach())
    )(w.detach()),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_history_outside_of_a_transform(name):
    ours, theirs = (_captured(lib, TRANSFORMS[name]) for lib in (mindtorch, torch))
    assert ours[0] == theirs[0]
    for mine, wanted in zip(ours[1:], theirs[1:], strict=True):
        for one, other in zip(mine, wanted, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(torch.tensor(one), torch.tensor(other), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("outer", ["grad", "vmap", "jvp", "jacrev"])
def test_backward_functions_find_grad_mode_on(outer):
    def modes(lib):
        found = []

        class Doubled(lib.autograd.Function):
            generate_vmap_rule = True

            @staticmethod
            def forward(x):
                return x * 2

            @staticmethod
            def setup_context(ctx, inputs, output):
                pass

            @staticmethod
            def backward(ctx, grad):
                found.append(lib.is_grad_enabled())
                return grad * 2

            @staticmethod
            def jvp(ctx, tangent):
                return tangent * 2

        def loss(one):
            return Doubled.apply(one).sum()

        x = lib.ones(3)
        if outer == "vmap":
            lib.vmap(lib.func.grad(loss))(lib.ones(2, 3))
        elif outer == "jvp":
            lib.func.jvp(lib.func.grad(loss), (x,), (x,))
        else:
            getattr(lib.func, outer)(loss)(x)
        return set(found)

    assert modes(mindtorch) == modes(torch) == {True}


def test_a_gradient_that_nobody_differentiates_records_nothing(monkeypatch):
    made = []
    after = Recorder.after
    monkeypatch.setattr(Recorder, "after", lambda self, *rest: made.append(self.row.name) or after(self, *rest))
    weight = mindtorch.ones(3)
    mindtorch.vmap(mindtorch.func.grad(lambda one: (one * weight).exp().sum()))(mindtorch.ones(2, 3))
    assert made == ["mul.Tensor", "exp", "sum"]
