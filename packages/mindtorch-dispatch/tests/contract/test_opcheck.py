"""`opcheck` finds what torch's finds, with its texts."""

import warnings

import pytest

from .sides import Scenarios, assert_same

scenarios = Scenarios()


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def custom(T, ns, function=lambda x: x.sin(), fake=lambda x: x.clone(), backward=True, schema="(Tensor x) -> Tensor"):
    op = T.library.custom_op(f"{ns}::op", function, mutates_args=(), schema=schema)
    if fake is not None:
        op.register_fake(fake)
    if backward is True:
        op.register_autograd(
            lambda ctx, g: g * ctx.saved_tensors[0].cos(),
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
        )
    elif backward:
        op.register_autograd(backward)
    return op


def declared(T, ns, kernel, schema="(Tensor x) -> Tensor", fake=lambda x: x.clone()):
    lib = T.library.Library(ns, "FRAGMENT")
    lib.define(f"op{schema}")
    lib.impl("op", kernel, "CPU")
    T.library.register_fake(f"{ns}::op", fake, lib=lib)
    getattr(T.ops, ns).op.default.kept = lib
    return getattr(T.ops, ns).op.default


def leaf(T, grad=False):
    return T.linspace(0.0, 1.0, 3, requires_grad=grad)


def two(x):
    y = x.sin()
    return y, y


OPS = {
    "good": lambda T, ns: custom(T, ns),
    "overload": lambda T, ns: custom(T, ns)._opoverload,
    "packet": lambda T, ns: custom(T, ns)._opoverload.overloadpacket,
    "built_in": lambda T, ns: T.ops.aten.sin.default,
    "no_fake": lambda T, ns: custom(T, ns, fake=None),
    "shape": lambda T, ns: custom(T, ns, fake=lambda x: x.new_empty(4)),
    "dtype": lambda T, ns: custom(T, ns, fake=lambda x: x.new_empty(3, dtype=T.float64)),
    "no_backward": lambda T, ns: custom(T, ns, backward=None),
    "gradient_shape": lambda T, ns: custom(T, ns, backward=lambda ctx, g: g[:1]),
    "writes": lambda T, ns: custom(T, ns, lambda x: x.sin_().clone(), backward=None),
    "aliases": lambda T, ns: declared(T, ns, lambda x: x),
    "views": lambda T, ns: declared(T, ns, lambda x: x.view(-1)),
    "results_alias": lambda T, ns: declared(T, ns, two, "(Tensor x) -> (Tensor, Tensor)", lambda x: (x.sin(), x.cos())),
    "unregistered_gradient": lambda T, ns: declared(T, ns, lambda x: x.sin()),
    "fake_returns": lambda T, ns: declared(T, ns, two, "(Tensor x) -> (Tensor, Tensor)", lambda x: x.sin()),
    "function": lambda T, ns: len,
    "name": lambda T, ns: "aten::sin",
}


@scenarios.each(**OPS)
def checked(T, ns, make):
    return T.library.opcheck(make(T, ns), (leaf(T),))


@scenarios.each(**{name: op for name, op in OPS.items() if name not in ("writes", "function", "name")})
def checked_with_gradients(T, ns, make):
    return T.library.opcheck(make(T, ns), (leaf(T, grad=True),))


@scenarios.each(**{name: OPS[name] for name in ("good", "no_fake", "unregistered_gradient")})
def checked_without_raising(T, ns, make):
    with warnings.catch_warnings():  # how often a gradient is asked for is not compared
        warnings.simplefilter("ignore")
        found = T.library.opcheck(make(T, ns), (leaf(T, grad=True),), raise_exception=False)
    return {name: one if isinstance(one, str) else (type(one).__name__, str(one)) for name, one in found.items()}


@scenarios.each(one="test_schema", several=("test_schema", "test_faketensor"), unknown=("test_schema", "nope"), none=())
def chosen_tests(T, ns, names):
    return T.library.opcheck(custom(T, ns), (leaf(T, grad=True),), test_utils=names)


@scenarios
def keyword_arguments(T, ns):
    return T.library.opcheck(custom(T, ns), (), {"x": leaf(T)})


@scenarios
def strides(T, ns):
    op = custom(T, ns, lambda x: x.t().contiguous().t(), fake=lambda x: x.clone(), backward=None)
    return T.library.opcheck(op, (T.arange(12.0).reshape(3, 4),))


@scenarios.each(written=lambda x: x.sin_() and None, left=lambda x: None)
def operators_that_write(T, ns, function):
    op = declared(T, ns, lambda x: (function(x), None)[1], "(Tensor(a!) x) -> ()", lambda x: None)
    return T.library.opcheck(op, (leaf(T),))


@scenarios
def the_error_has_a_cause(T, ns):
    try:
        T.library.opcheck(custom(T, ns, fake=None), (leaf(T),))
    except Exception as error:  # noqa: BLE001 (its class is not torch's to import)
        return type(error).__name__, type(error.__cause__).__name__, str(error.__cause__)
