"""Ops over lists against torch: values, kinds of results, version counters, error texts."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)


def first(t):
    return [t.tensor([1.0, 2.0]), t.tensor([[3.0], [0.5]])]


def second(t):
    return [t.tensor([4.0, 5.0]), t.tensor([[6.0], [0.25]])]


def described(value):
    if isinstance(value, (tuple, list)):
        return (type(value).__name__, [described(item) for item in value])
    if hasattr(value, "dtype"):
        return str(value.dtype), tuple(value.shape), value._version, value.tolist()
    return repr(value)


def outcome(module, call):
    try:
        return described(call(module))
    except (RuntimeError, TypeError, ValueError, AttributeError) as error:
        return type(error).__name__, str(error).split("\nException raised")[0]


UNARY = "abs ceil cos cosh exp expm1 floor frac log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign".split()
UNARY += "sin sinh sqrt tan tanh trunc acos asin atan erf erfc lgamma".split()


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("suffix", ["", "_"])
def test_unary(name, suffix):
    results = []
    for module in (torch, mt):
        made = getattr(module, f"_foreach_{name}{suffix}")([module.tensor([0.25, 0.5]), module.tensor([0.125])])
        results.append((type(made).__name__, [item._version for item in made], made))
    assert results[0][:2] == results[1][:2]
    for theirs, ours in zip(results[0][2], results[1][2], strict=True):
        assert ours.tolist() == pytest.approx(theirs.tolist(), rel=2e-6)


BINARY = "add sub mul div clamp_min clamp_max maximum minimum pow".split()


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("suffix", ["", "_"])
def test_binary(name, suffix):
    def calls(t):
        op = getattr(t, f"_foreach_{name}{suffix}")
        return [op(first(t), 2.0), op(first(t), second(t)), op(first(t), [2.0, 3.0])]

    assert outcome(mt, calls) == outcome(torch, calls)


CALLS = {
    "add tensor": lambda t: t._foreach_add(first(t), t.tensor(2.0), alpha=2),
    "add alpha": lambda t: t._foreach_add(first(t), second(t), alpha=2),
    "sub alpha in place": lambda t: t._foreach_sub_(first(t), second(t), alpha=0.5),
    "mul tensor": lambda t: t._foreach_mul_(first(t), t.tensor(2.0)),
    "mul vector": lambda t: t._foreach_mul(first(t), t.tensor([1.0, 2.0])),
    "div tensor": lambda t: t._foreach_div_(first(t), t.tensor(2.0)),
    "powers": lambda t: t._foreach_pow(2.0, first(t)),
    "addcmul": lambda t: t._foreach_addcmul(first(t), second(t), second(t), value=2),
    "addcmul scalars": lambda t: t._foreach_addcmul_(first(t), second(t), second(t), [2, 3]),
    "addcdiv packed": lambda t: t._foreach_addcdiv(first(t), second(t), second(t), t.tensor([2.0, 3.0])),
    "addcdiv unpacked": lambda t: t._foreach_addcdiv(first(t), second(t), second(t), t.tensor(2.0)),
    "addcdiv many": lambda t: t._foreach_addcdiv(first(t), second(t), second(t), t.tensor([2.0, 3.0, 4.0])),
    "addcdiv gapped": lambda t: t._foreach_addcdiv(first(t), second(t), second(t), t.ones(4)[::2]),
    "lerp": lambda t: [t._foreach_lerp(first(t), second(t), w) for w in (0.25, [0.25, 0.5], first(t))],
    "lerp in place": lambda t: t._foreach_lerp_(first(t), second(t), 0.25),
    "zero": lambda t: t._foreach_zero_(first(t)),
    "copy": lambda t: t._foreach_copy_(first(t), second(t)),
    "clone": lambda t: t._foreach_clone(first(t)),
    "max": lambda t: t._foreach_max(first(t)),
    "mm": lambda t: t._foreach_mm([t.ones(2, 3)], [t.ones(3, 2)]),
    "norm one": lambda t: t._foreach_norm([t.tensor([3.0, 4.0])], 1),
    "norm": lambda t: t._foreach_norm([t.tensor([3.0, 4.0])]),
    "norm infinite": lambda t: t._foreach_norm(first(t), float("inf"), dtype=t.float64),
    "empty": lambda t: t._foreach_add([], 1),
    "empty sqrt": lambda t: t._foreach_sqrt([]),
    "lengths": lambda t: t._foreach_add(first(t), second(t)[:1]),
    "scalars": lambda t: t._foreach_add(first(t), [1.0]),
    "no list": lambda t: t._foreach_sqrt(t.tensor([1.0])),
    "no lists": lambda t: t._foreach_add(1, 2),
    "tuple": lambda t: t._foreach_add(tuple(first(t)), 1),
    "integer": lambda t: t._foreach_add_([t.tensor([1, 2])], 1.5),
    "leaf": lambda t: t._foreach_add_([t.ones(2, requires_grad=True)], 1.0),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    call = CALLS[name]
    assert outcome(mt, call) == outcome(torch, call)


def test_returns_the_list_it_wrote():
    tensors = first(mt)
    assert mt._foreach_add_(tensors, 1.0) is tensors


def test_gradients_flow_through_each():
    leaf = mt.tensor([1.0, 2.0], requires_grad=True)
    out = mt._foreach_mul([leaf, leaf], [leaf, 3 * leaf])
    (out[0].sum() + out[1].sum()).backward()
    assert leaf.grad.tolist() == [8.0, 16.0]
