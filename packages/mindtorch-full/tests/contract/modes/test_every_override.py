"""Every overridable function of torch, called with a subclass and under a mode: who is asked, and what for."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import mindtorch as mt
import mindtorch.overrides

torch = pytest.importorskip("torch", reason="oracle")

_COUNTS = frozenset(
    "dim k p dim0 dim1 split_size chunks num_classes n axis0 axis1 groups kernel_size output_size decimals upscale_factor "
    "downscale_factor N n_fft padding size shape sizes normalized_shape num_groups repeats diagonal blocks dims source "
    "destination start length".split()
)
_LISTS = frozenset(("tensors", "indices_or_sections", "arrays"))


def functions() -> list[Any]:
    """Return (name, required parameters) of what torch lets override in `torch`, `torch.nn.functional` and `Tensor`."""
    found = []
    for function, testing in torch.overrides.get_testing_overrides().items():
        name = torch.overrides.resolve_name(function)
        if name is None or "__get__" in name or "__set__" in name or name.startswith("torch.nn.init"):
            continue
        parameters = inspect.signature(testing).parameters.values()
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        needed = [one.name for one in parameters if one.default is one.empty and one.kind in kinds]
        found.append((name, tuple(needed)))
    return sorted(found)


def overriding(T: Any, log: list[Any]) -> tuple[Any, Any]:
    def note(func: Any, args: Any, kwargs: Any) -> int:
        log.append((func.__name__, len(args), sorted(kwargs or {})))
        return -7

    class Sub(T.Tensor):  # type: ignore[misc, name-defined]
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return note(func, args, kwargs)

    class Mode(T.overrides.TorchFunctionMode):  # type: ignore[misc, name-defined]
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return note(func, args, kwargs)

    return Sub, Mode


def find(T: Any, name: str) -> Any:
    owner = T
    for part in name.split(".")[1:]:
        owner = inspect.getattr_static(owner, part) if isinstance(owner, type) else getattr(owner, part, None)
    return owner


def asked(T: Any, name: str, needed: tuple[str, ...], by_mode: bool) -> Any:
    """Return what the first one asked was asked for, None when nobody was."""
    log: list[Any] = []
    sub, mode = overriding(T, log)

    def value(parameter: str) -> Any:
        if parameter in _COUNTS:
            return 1
        made = T.ones(2, 2) if by_mode else T.ones(2, 2).as_subclass(sub)
        return [made] if parameter in _LISTS else made

    arguments = [value(parameter) for parameter in needed]
    function = find(T, name)
    log.clear()
    try:
        if by_mode:
            with mode():
                function(*arguments)
        else:
            function(*arguments)
    except Exception:  # noqa: BLE001 (a wrong call is as good as any: only who was asked counts)
        return log[0] if log else None
    return log[0] if log else None


FUNCTIONAL = [one for one in functions() if one[0].startswith("torch.nn.functional.") and "._" not in one[0]]
NATIVE = [one for one in functions() if one[0].count(".") == 1]

DIFFERENT = {
    "torch.nn.functional.l1_loss": "torch forgets to pass `weight` on",
    "torch.nn.functional.threshold": "torch's function is called `_threshold`",
}


@pytest.mark.parametrize("by_mode", [False, True], ids=["subclass", "mode"])
@pytest.mark.parametrize(("name", "needed"), FUNCTIONAL, ids=[name.rpartition(".")[2] for name, _ in FUNCTIONAL])
def test_functional_asks_as_torch(name, needed, by_mode):
    if name in DIFFERENT:
        pytest.skip(DIFFERENT[name])
    expected = asked(torch, name, needed, by_mode)
    if expected is not None:
        assert asked(mt, name, needed, by_mode) == expected


ELSEWHERE = ("__index__", "__get__")
"""What torch asks first where the function itself is not overridden."""


@pytest.mark.slow
@pytest.mark.parametrize("by_mode", [False, True], ids=["subclass", "mode"])
def test_every_function_of_torch_asks(by_mode):
    missing = []
    for name, needed in NATIVE:
        if not hasattr(mt, name.partition(".")[2]):
            continue
        expected = asked(torch, name, needed, by_mode)
        if expected is not None and expected[0] not in ELSEWHERE and asked(mt, name, needed, by_mode) != expected:
            missing.append(name)
    assert missing == []


SMALL = frozenset(
    "__len__ _is_view dim element_size get_device is_contiguous is_inference ndimension nelement size storage_offset "
    "is_complex is_conj is_neg is_floating_point is_signed numel".split()
)
"""Questions that plain tensors answer at once while there is no mode."""


@pytest.mark.slow
def test_methods_of_tensors_ask_modes():
    missing = []
    for name, needed in functions():
        owner, _, short = name.rpartition(".")
        if owner != "torch.Tensor" or not hasattr(mt.Tensor, short):
            continue
        expected = asked(torch, name, needed, True)
        if expected is None or expected[0] == "__index__" or asked(mt, name, needed, True) is not None:
            continue
        missing.append(short)
    assert missing == []


@pytest.mark.parametrize("name", sorted(SMALL - {"_is_view", "get_device", "ndimension", "nelement"}))
@pytest.mark.parametrize("unbound", [False, True])
def test_a_subclass_is_asked_for_its_geometry(name, unbound):
    def question(T):
        log = []
        sub, _ = overriding(T, log)
        value = T.ones(2, 2).as_subclass(sub)
        log.clear()
        if unbound:
            result = getattr(T.Tensor, name)(value)
        else:
            result = getattr(value, name)() if name != "__len__" else caught_len(value)
        return log[:1], result

    assert question(mt) == question(torch)


@pytest.mark.parametrize("name", sorted(SMALL - {"ndimension", "nelement"}))
def test_a_mode_is_asked_for_the_geometry_of_a_plain_tensor(name):
    def question(T):
        log = []
        _, mode = overriding(T, log)
        value = T.ones(2, 2)
        with mode():
            getattr(value, name)()
        return log[:1]

    assert question(mt) == question(torch) != []


def test_modes_do_not_see_as_subclass():
    def seen(T):
        log = []
        sub, mode = overriding(T, log)
        value = T.ones(2, 2)
        with mode():
            value.as_subclass(sub)
        return log

    assert seen(mt) == seen(torch) == []


def test_no_type_is_asked_while_types_are_disabled():
    def seen(T):
        log = []
        sub, _ = overriding(T, log)
        value = T.ones(2, 2).as_subclass(sub)
        log.clear()
        with T._C.DisableTorchFunctionSubclass():
            return T.overrides.has_torch_function((value,)), log

    assert seen(mt) == seen(torch)


def caught_len(value):
    try:
        return len(value)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", ["shape", "dtype", "device", "requires_grad", "grad", "ndim", "is_leaf", "layout"])
def test_a_subclass_is_asked_for_its_properties(name):
    def question(T):
        log = []
        sub, _ = overriding(T, log)
        value = T.ones(2, 2).as_subclass(sub)
        log.clear()
        return getattr(value, name), log

    assert question(mt) == question(torch)


def test_testing_overrides_have_the_functions_parameters():
    table = mindtorch.overrides.get_testing_overrides()
    for function, required in ((mt.add, ["input", "other"]), (mt.Tensor.add, ["self", "other"]), (mt.cat, ["tensors"])):
        parameters = inspect.signature(table[function]).parameters.values()
        assert [one.name for one in parameters if one.default is one.empty] == required
        assert table[function]() == -1


@pytest.mark.parametrize(
    "name",
    ["add", "is_tensor", "Tensor.add", "nn.functional.relu", "Tensor.__add__", "ops.aten.add.Tensor", "linalg.norm"],
)
def test_names_are_resolved(name):
    def found(T):
        value = T
        for part in name.split("."):
            value = getattr(value, part)
        overrides = T.overrides
        return overrides.resolve_name(value), overrides.is_tensor_method_or_property(value)

    assert found(mt) == found(torch)


def test_the_default_override_keeps_what_torch_keeps():
    def types(T):
        kind = type("Sub", (T.Tensor,), {})
        value = T.ones(2, 2).as_subclass(kind).requires_grad_()
        (value * 2).sum().backward()
        made = (value.grad, value[0]._base, value.T, value.data, value[0], value.split(1)[0], value.max(0).values)
        return [type(one).__name__ for one in made], len(T.overrides.get_default_nowrap_functions())

    assert types(mt) == types(torch)
