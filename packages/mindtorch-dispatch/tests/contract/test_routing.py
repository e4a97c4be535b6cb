"""How a call finds its kernel: key order, fallthrough, fallbacks, redispatch, devices, and what the registry refuses."""

import itertools

import pytest

from mindtorch_dispatch.extend.entries import Registration
from mindtorch_dispatch.extend.key_names import KEY_NAMES, names_for, parse_key
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.pipeline import pipeline_context
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.state import exclude_keys, include_keys

mt = pytest.importorskip("mindtorch", reason="kernels take and return real tensors")
from mindtorch_dispatch import current_dispatch_keyset, dispatch, redispatch  # noqa: E402

K = DispatchKey
_numbers = itertools.count()
UPPER = [K.Python, K.Functionalize, K.Autocast, K.Autograd]
"""Keys above the backends whose registered kernels a call meets when the key is included. Batching rules are for
batched tensors alone."""


@pytest.fixture
def name():
    """The name of a new operator `(Tensor x) -> Tensor`, taken back after the test."""
    made = f"routing::op{next(_numbers)}"
    registry.register_schema(made, "(Tensor x) -> Tensor")
    yield made
    for key in list(registry.get(made).registrations):
        registry.get(made).registrations[key].clear()
    registry.remove(made)


def reaching(key, order):
    def kernel(x):
        order.append(key)
        return x + 1

    return kernel


@pytest.mark.parametrize("higher,lower", [*itertools.combinations([*UPPER, K.CPU], 2)])  # noqa: PT006
def test_the_higher_key_is_asked_first(name, higher, lower):
    order = []
    for key in (lower, higher):
        registry.register_kernel(name, key, reaching(key, order))
    with include_keys(DispatchKeySet([higher, lower])):
        dispatch(name, mt.ones(2))
    assert order[0] is higher


@pytest.mark.parametrize("key", [*UPPER, K.CPU])
def test_an_excluded_key_is_not_asked(name, key):
    order = []
    registry.register_kernel(name, key, reaching(key, order))
    backend = K.CPU if key is not K.CPU else K.Meta
    registry.register_kernel(name, backend, reaching(backend, order))
    with include_keys(DispatchKeySet([key])), exclude_keys(DispatchKeySet([key])):
        if key is K.CPU:
            with pytest.raises(NotImplementedError, match=r"There were no|Could not run"):
                dispatch(name, mt.ones(2))
        else:
            dispatch(name, mt.ones(2))
    assert key not in order


@pytest.mark.parametrize("key", UPPER)
def test_fallthrough_passes_a_key_by(name, key):
    order = []
    registry.register_kernel(name, key, reaching(key, order))
    registry.register_kernel(name, K.CPU, reaching(K.CPU, order))
    registry.register_fallthrough(name, key)
    with include_keys(DispatchKeySet([key])):
        dispatch(name, mt.ones(2))
    assert order == [K.CPU]


def test_fallthrough_of_autograd_leaves_a_table_op_unrecorded():
    x = mt.ones(2, requires_grad=True)
    registry.register_fallthrough("aten::tan", K.Autograd)
    try:
        assert not x.tan().requires_grad
    finally:
        registry.unregister_kernel("aten::tan", K.Autograd)
    assert x.tan().requires_grad


def test_fallthrough_of_the_pipeline_runs_at_once():
    registry.register_fallthrough("aten::atan", K.Pipeline)
    try:
        with pipeline_context():
            assert not mt.ones(2).atan()._pending
            assert mt.ones(2).asinh()._pending
    finally:
        registry.unregister_kernel("aten::atan", K.Pipeline)
    with pipeline_context():
        assert mt.ones(2).atan()._pending


def test_a_pipeline_records_a_kernel_that_has_a_meta_kernel(name):
    ran = []
    registry.register_kernel(name, K.CPU, lambda x: (ran.append(1), x * 2)[1])
    registry.register_kernel(name, K.Meta, lambda x: x * 1)
    with pipeline_context() as pipe:
        result = dispatch(name, mt.ones(2))
        assert result._pending
        assert not ran
        pipe.flush()
        assert result.tolist() == [2.0, 2.0]
    assert ran == [1]


def test_a_pipeline_needs_a_meta_kernel(name):
    registry.register_kernel(name, K.CPU, lambda x: x * 2)
    with pipeline_context(), pytest.raises(RuntimeError) as error:
        dispatch(name, mt.ones(2))
    assert str(error.value) == f"pipeline requires meta kernel for op {name}"


def test_a_pipeline_passes_kernels_what_differs_from_its_default():
    made = f"routing::op{next(_numbers)}"
    registry.register_schema(made, "(Tensor x, int by=2, *, float bias=0.) -> Tensor")
    seen = []
    registry.register_kernel(made, K.CPU, lambda x, by=2, *, bias=0.0: (seen.append((by, bias)), x * by + bias)[1])
    registry.register_kernel(made, K.Meta, lambda x, by=2, *, bias=0.0: x * 1)
    with pipeline_context():
        result = dispatch(made, mt.ones(2), 5, bias=1.0), dispatch(made, mt.ones(2))
    assert [one.tolist() for one in result] == [[6.0, 6.0], [2.0, 2.0]]
    assert seen == [(5, 1.0), (2, 0.0)]


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_redispatch_finds_the_backend_by_the_arguments(name, device):
    registry.register_kernel(name, K.CPU, lambda x: x * 2)
    registry.register_kernel(name, K.Meta, lambda x: mt.empty(7, device="meta"))
    below = DispatchKeySet([K.CPU])
    registry.register_kernel(name, K.Autograd, lambda x: redispatch(name, below, x))
    result = dispatch(name, mt.ones(2, device=device))
    assert result.device.type == device
    assert result.shape == ((2,) if device == "cpu" else (7,))


def test_redispatch_bypasses_the_keys_removed(name):
    order = []
    registry.register_kernel(name, K.Autograd, reaching(K.Autograd, order))
    registry.register_kernel(name, K.CPU, reaching(K.CPU, order))
    redispatch(name, DispatchKeySet([K.CPU]), mt.ones(2))
    redispatch(name, DispatchKeySet([K.CPU, K.Autograd]), mt.ones(2))
    assert order == [K.CPU, K.Autograd]


def test_redispatch_leaves_what_the_kernel_calls_alone(name):
    registry.register_kernel(name, K.CPU, lambda x: x * 2)
    x = mt.ones(2, requires_grad=True)
    assert redispatch(name, DispatchKeySet([K.CPU]), x).requires_grad
    for _ in range(2):
        assert not redispatch("aten::mul.Tensor", DispatchKeySet([K.CPU]), x, x).requires_grad
        assert not redispatch("aten::mul", DispatchKeySet([K.CPU]), x, x).requires_grad
    assert (x * x).requires_grad


def test_the_keys_of_a_call_are_told_while_its_kernel_runs(name):
    seen = []
    registry.register_kernel(name, K.CPU, lambda x: (seen.append(current_dispatch_keyset()), x)[1])
    with exclude_keys(DispatchKeySet([K.Autograd])):
        dispatch(name, mt.ones(2, requires_grad=True))
    assert seen == [DispatchKeySet([K.CPU])]
    assert current_dispatch_keyset() == DispatchKeySet()


def test_the_keys_are_put_back_after_an_error(name):
    def kernel(x):
        raise KeyError("no")

    registry.register_kernel(name, K.CPU, kernel)
    with pytest.raises(KeyError):
        dispatch(name, mt.ones(2))
    assert current_dispatch_keyset() == DispatchKeySet()


@pytest.mark.parametrize("key", ["CPU", "Autograd", "AutocastCPU", "Functionalize"])
def test_a_fallback_answers_for_operators_without_a_kernel(name, key):
    if key == "Autograd":
        pytest.importorskip("mindtorch.library", reason="it holds this key's fallback")
        with pytest.raises(
            RuntimeError, match="Tried to register multiple backend fallbacks for the same dispatch key"
        ):
            registry.register_fallback(key, Registration(lambda op, *args: args[0]))
        return
    asked = []
    known = K.CPU if key == "CPU" else K[key]
    x, answer = mt.ones(1), mt.full((1,), 5.0)
    registry.register_fallback(key, Registration(lambda op, *args: (asked.append((str(op), args)), answer)[1]))
    try:
        with include_keys(DispatchKeySet([known])):
            assert dispatch(name, x) is answer
    finally:
        registry.unregister_fallback(key)
    assert asked == [(name.replace("::", ".") + ".default", (x,))]
    with pytest.raises(NotImplementedError, match="Could not run"):
        dispatch(name, x)


def test_the_latest_registration_holds_and_the_one_before_comes_back(name):
    first, second = Registration(lambda x: x * 2), Registration(lambda x: x * 3)
    registry.add(name, "CPU", first)
    registry.add(name, "CPU", second)
    assert dispatch(name, mt.ones(1)).tolist() == [3.0]
    registry.discard(name, "CPU", second)
    assert dispatch(name, mt.ones(1)).tolist() == [2.0]
    registry.discard(name, "CPU", first)
    with pytest.raises(NotImplementedError):
        dispatch(name, mt.ones(1))


def test_plans_do_not_outlive_a_registration(name):
    registry.register_kernel(name, K.CPU, lambda x: x * 2)
    assert [dispatch(name, mt.ones(1)).item() for _ in range(3)] == [2.0] * 3
    registry.register_kernel(name, K.CPU, lambda x: x * 4)
    assert dispatch(name, mt.ones(1)).item() == 4.0


SIGNATURES = {
    "too few": (lambda: None, "(Tensor x) -> Tensor"),
    "too many": (lambda x, y: x, "(Tensor x) -> Tensor"),
    "missing keyword": (lambda x: x, "(Tensor x, *, int k) -> Tensor"),
    "positional for keyword": (lambda x, other: x, "(Tensor x, *, int k) -> Tensor"),
    "keyword for positional": (lambda *, x: x, "(Tensor x) -> Tensor"),
    "one of two": (lambda x: x, "(Tensor x, int y) -> Tensor"),
}
FITTING = {
    "exact": (lambda x: x, "(Tensor x) -> Tensor"),
    "renamed": (lambda anything: anything, "(Tensor x) -> Tensor"),
    "any": (lambda *args, **kwargs: args[0], "(Tensor x, int y, *, int k) -> Tensor"),
    "defaults left out": (lambda x: x, "(Tensor x, int y=2, *, int k=3) -> Tensor"),
    "defaults taken": (lambda x, y: x, "(Tensor x, int y=2) -> Tensor"),
    "keyword": (lambda x, *, k: x, "(Tensor x, *, int k) -> Tensor"),
    "own default": (lambda x, y=7: x, "(Tensor x, int y) -> Tensor"),
    "built in": (max, "(Tensor x) -> Tensor"),
}


@pytest.mark.parametrize("case", SIGNATURES)
def test_a_kernel_that_cannot_take_the_arguments_is_refused(case):
    kernel, schema = SIGNATURES[case]
    made = f"routing::op{next(_numbers)}"
    registry.register_schema(made, schema)
    with pytest.raises(TypeError) as error:
        registry.register_kernel(made, K.CPU, kernel)
    assert f"does not take the arguments of {made}" in str(error.value)
    assert str(registry.get(made).schema) in str(error.value)
    assert K.CPU not in registry.get(made).kernels


@pytest.mark.parametrize("case", FITTING)
def test_a_kernel_that_some_call_reaches_is_taken(case):
    kernel, schema = FITTING[case]
    made = f"routing::op{next(_numbers)}"
    registry.register_schema(made, schema)
    registry.register_kernel(made, K.CPU, kernel)
    assert registry.get(made).kernels[K.CPU] is kernel


UNKNOWN = {
    "dispatch": lambda name: dispatch(name, mt.ones(1)),
    "redispatch": lambda name: redispatch(name, DispatchKeySet(), mt.ones(1)),
    "get": registry.get,
    "register": lambda name: registry.register_kernel(name, K.CPU, lambda x: x),
    "fallthrough": lambda name: registry.register_fallthrough(name, K.CPU),
    "unregister": lambda name: registry.unregister_kernel(name, K.CPU),
}


@pytest.mark.parametrize("how", UNKNOWN)
@pytest.mark.parametrize("unknown", ["nowhere::op", "aten::no_such_op", "aten::add.NoSuchOverload"])
def test_unknown_names_are_refused(how, unknown):
    with pytest.raises(KeyError) as error:
        UNKNOWN[how](unknown)
    assert unknown.rpartition(".")[2].rpartition("::")[2] in str(error.value)


def test_a_schema_may_be_declared_twice_only_alike(name):
    again = registry.register_schema(name, "(Tensor x) -> Tensor")
    assert again is registry.get(name)
    with pytest.raises(RuntimeError, match="is registered under the same name"):
        registry.register_schema(name, "(Tensor x, int y) -> Tensor")


@pytest.mark.parametrize("text", ["op", "", "(Tensor x -> Tensor", "(Nope x) -> Tensor", "(Tensor x) -> Nope"])
def test_what_is_no_schema_is_refused(text):
    with pytest.raises(RuntimeError):
        registry.register_schema("routing::wrong", text)
    with pytest.raises(KeyError):
        registry.get("routing::wrong")


def test_a_removed_operator_is_gone_and_may_come_again():
    registry.register_schema("routing::gone", "(Tensor x) -> Tensor")
    registry.register_kernel("routing::gone", K.CPU, lambda x: x * 2)
    held = mt.ops.routing.gone.default
    assert held(mt.ones(1)).item() == 2.0
    registry.remove("routing::gone")
    for attempt in (lambda: mt.ops.routing.gone, lambda: dispatch("routing::gone", mt.ones(1))):
        with pytest.raises((AttributeError, KeyError)):
            attempt()
    with pytest.raises(RuntimeError, match="was taken back"):
        held(mt.ones(1))
    registry.register_schema("routing::gone", "(Tensor x, int y) -> Tensor")
    assert str(registry.get("routing::gone").schema) == "routing::gone(Tensor x, int y) -> Tensor"
    registry.unregister_kernel("routing::gone", K.CPU)
    registry.remove("routing::gone")


def test_names_without_an_overload_answer_for_the_operator():
    assert registry.get("aten::add").schema.name == "aten::add"
    assert registry.get("add.Tensor") is registry.get("aten::add.Tensor")
    assert K.CPU in registry.get("aten::mm").kernels


@pytest.mark.parametrize("key", sorted(KEY_NAMES))
def test_every_name_of_a_key_is_kept_under_one_name(key):
    kept = parse_key(key)
    assert parse_key(kept) == kept
    assert kept == key or key.endswith(("PrivateUse1", "Batched"))


@pytest.mark.parametrize("key", ["", "cpu", "Autograd CPU", "NOPE", "AutogradHIP"])
def test_what_names_no_key_is_refused(key):
    with pytest.raises(RuntimeError) as error:
        parse_key(key)
    assert str(error.value) == f"could not parse dispatch key: {key}"


def test_special_names_go_before_general_ones():
    assert names_for(K.Autograd, ["CPU"]) == ["AutogradCPU", "Autograd"]
    assert names_for(K.CPU, ["CPU"]) == ["CPU"]
    assert names_for(K.Autocast, ["NPU"]) == ["AutocastNPU", "Autocast"]
