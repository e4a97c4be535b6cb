"""Custom functions: arguments by name and by default, boxed gradients, saved tensors that go when they are read."""

import warnings

import pytest

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()

CALLS = {
    "named": lambda x, y: ((), {"a": x}),
    "second_named": lambda x, y: ((x,), {"b": y}),
    "gap": lambda x, y: ((x,), {"c": 4}),
    "last_named": lambda x, y: ((x, y), {"c": 4}),
    "turned": lambda x, y: ((), {"b": y, "a": x}),
    "unknown": lambda x, y: ((x,), {"q": 3}),
    "twice": lambda x, y: ((x,), {"a": x}),
    "all": lambda x, y: ((x, y, 3), {}),
    "two": lambda x, y: ((x, y), {}),
    "context": lambda x, y: ((), {"ctx": 3, "a": x}),
    "none": lambda x, y: ((), {}),
}


@scenarios.each(**CALLS)
def with_context(T, call):
    seen = []

    class Product(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, b=None, c=2):
            seen.append((b is None, c, ctx.needs_input_grad))
            ctx.c = c
            return a * c if b is None else a * b * c

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.c, grad * 3, None

    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    args, kwargs = call(x, y)

    def run():
        out = Product.apply(*args, **kwargs)
        out.sum().backward()
        return x.grad, y.grad, [node for node, _ in out.grad_fn.next_functions]

    return caught(run), seen


@scenarios.each(**CALLS)
def without_context(T, call):
    seen = []

    class Product(T.autograd.Function):
        @staticmethod
        def forward(a, b=None, c=2):
            return a * c

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((len(inputs), inputs[2]))
            ctx.c = inputs[2]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.c, None, None

    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    args, kwargs = call(x, y)

    def run():
        Product.apply(*args, **kwargs).sum().backward()
        return x.grad, y.grad

    return caught(run), seen


@scenarios
def variable_arguments(T):
    class First(T.autograd.Function):
        @staticmethod
        def forward(ctx, a, *others, c=2):
            return a * c

        @staticmethod
        def backward(ctx, grad):
            return grad, None, None

    x = T.ones(2, requires_grad=True)
    return [caught(lambda: First.apply(x, 1, 2)), caught(lambda: First.apply(x, c=3)), caught(lambda: First.apply(c=3))]


@scenarios
def boxed_gradients(T):
    seen = []

    class Boxed(T.autograd.Function):
        boxed_grads_call = True

        @staticmethod
        def forward(ctx, a, b):
            return a * 2, b * 3

        @staticmethod
        def backward(ctx, grads):
            seen.append((type(grads).__name__, len(grads)))
            first, second = grads
            grads.clear()
            return first * 2, second * 3

    x, y = T.ones(2, requires_grad=True), T.ones(2, requires_grad=True)
    one, other = Boxed.apply(x, y)
    (one + other).sum().backward()
    return seen, x.grad, y.grad


def keeping(T, backward, **attributes):
    class Keeps(T.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

    Keeps.backward = staticmethod(backward)
    for name, value in attributes.items():
        setattr(Keeps, name, value)
    return Keeps.apply(T.ones(2, requires_grad=True)).sum()


@scenarios
def saved_tensors_that_are_read_once(T):
    def twice(ctx, grad):
        return grad * len(ctx.saved_tensors) * len(ctx.saved_tensors)

    once = keeping(T, lambda ctx, grad: grad * len(ctx.saved_tensors), clear_saved_tensors_on_access=True)
    return [
        caught(lambda: once.backward(retain_graph=True)),
        caught(once.backward),
        caught(keeping(T, twice, clear_saved_tensors_on_access=True).backward),
        caught(keeping(T, twice).backward),
    ]


@scenarios.each(kept=True, freed=False)
def saved_tensors_that_may_go(T, keep):
    def backward(ctx, grad):
        ctx.maybe_clear_saved_tensors()
        return grad * len(ctx.saved_tensors)

    return caught(lambda: keeping(T, backward).backward(retain_graph=keep))


@scenarios
def too_many_gradients(T):
    def double(backward):
        class Double(T.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a * 2

        Double.backward = staticmethod(backward)
        return caught(Double.apply(T.ones(2, requires_grad=True)).sum().backward)

    return [
        double(lambda ctx, g: (g, None, None)),
        double(lambda ctx, g: (g, g, None)),
        double(lambda ctx, g: (g, None, g)),
    ]


@scenarios
def what_warns(T):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        T.autograd.function.FunctionCtx().mark_shared_storage()
        T.autograd.function.InplaceFunction(True)
    return [(one.category.__name__, str(one.message)) for one in found]


@scenarios
def what_flows_into_a_node(T):
    (metadata,) = (T.ones(2, 3, requires_grad=True) * 2).grad_fn._input_metadata
    names = [name for name in dir(metadata) if not name.startswith("_")]
    return (
        metadata.shape,
        type(metadata.shape).__name__,
        metadata.is_nested_tensor,
        metadata.is_cpp_nested_tensor,
        names,
    )


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
