"""Writes to saved tensors where they are allowed: gradients, what is copied and when, errors."""

import pytest

import mindtorch as mt

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()


def unrecorded(T, a):
    with T.no_grad():
        a.mul_(3)


@scenarios.each(
    base=lambda T, a: a.mul_(3),
    row=lambda T, a: a[0].mul_(3),
    item=lambda T, a: a.__setitem__(0, 7.0),
    transposed=lambda T, a: a.t().mul_(3),
    out=lambda T, a: T.mul(a.detach(), 3, out=a.detach()),
    data=lambda T, a: a.data.mul_(3),
    no_grad=unrecorded,
    foreach=lambda T, a: T._foreach_mul_([a], 3.0),
    twice=lambda T, a: (a.mul_(3), a.mul_(3)),
    filled=lambda T, a: a.zero_(),
    resized=lambda T, a: a.unsqueeze_(0),
    other=lambda T, a: T.ones(3).mul_(3),
    nothing=lambda T, a: a * 3,
)
def writes(T, write):
    x = T.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    with T.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = x.clone()
        b = (a.exp() + a * a).sum() + a.sin().sum()
        counts = [(len(context.cloned), len(context.original))]
        write(T, a)
        counts.append((len(context.cloned), len(context.original)))
        b.backward()
        del b
        counts.append((len(context.cloned), len(context.original)))
    return counts[:2], x.grad, len(context.cloned), len(context.original)


@scenarios
def writes_to_leaves(T):
    x = T.ones(3, requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors() as context:
        y = x * x
        with T.no_grad():
            x.add_(1)
        y.sum().backward()
        return x.grad, len(context.cloned), len(context.original)


@scenarios
def written_before_the_second_derivative(T):
    x = T.full((3,), 2.0, requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        z = x.clone()
        y = z**3
        z.mul_(2)
        (first,) = T.autograd.grad(y.sum(), x, create_graph=True)
        return first, T.autograd.grad(first.sum(), x)


@scenarios
def what_is_held(T):
    x = T.ones(3, requires_grad=True)
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        y = x * x
        return type(y.grad_fn._raw_saved_self.data).__name__, y.grad_fn._saved_self is x, y.grad_fn._saved_self


@scenarios
def errors(T):
    graph = T.autograd.graph

    def nested():
        with graph.allow_mutation_on_saved_tensors(), graph.allow_mutation_on_saved_tensors():
            pass

    def after():
        x = T.ones(3, requires_grad=True)
        with graph.allow_mutation_on_saved_tensors():
            y = x.exp()
        y.sum().backward()

    def cleared():
        x = T.ones(3, requires_grad=True)
        with graph.allow_mutation_on_saved_tensors() as context:
            y = (x * x).exp()
            context.clear()
            y.sum().backward()

    def recorded_before():
        y = (T.ones(3, requires_grad=True) * 2).exp()
        with graph.allow_mutation_on_saved_tensors():
            y.mul_(2)
            y.sum().backward()

    def forbidden():
        with graph.disable_saved_tensors_hooks("not here"), graph.allow_mutation_on_saved_tensors():
            pass

    return [caught(one) for one in (nested, after, cleared, recorded_before, forbidden)]


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)


def test_a_write_to_a_later_part_is_noticed():
    """Here we differ: torch looks at addresses, misses this write, and returns another gradient."""
    x = mt.arange(1.0, 4.0).requires_grad_()
    with mt.autograd.graph.allow_mutation_on_saved_tensors() as context:
        a = x.clone()
        b = (a * a).sum()
        a[1:].mul_(3)
        assert len(context.cloned) == 1
        b.backward()
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_nothing_is_copied_without_a_write():
    x = mt.ones(3, requires_grad=True)
    with mt.autograd.graph.allow_mutation_on_saved_tensors():
        y = x.clone()
        z = y * y
        assert z.grad_fn._saved_self.data_ptr() == y.data_ptr()
        y.mul_(2)
        assert z.grad_fn._saved_self.data_ptr() != y.data_ptr()
