"""Key sets, guards and what they do to calls, against torch's where it has them."""

import itertools
import threading

import pytest

from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.state import exclude_keys, include_keys, state

from .sides import Scenarios, assert_same, caught

scenarios = Scenarios()
SHARED = ("CPU", "AutogradCPU", "AutocastCPU", "Python", "Functionalize", "FuncTorchBatched")
"""Keys that are single elements of torch's sets too; its backends are bits that multiply with the rest."""
PAIRS = {f"{a}_{b}": (a, b) for a, b in itertools.product(SHARED, SHARED)}
ABOVE = {"CPU": SHARED, "AutogradCPU": ("AutogradCPU", "AutocastCPU", "FuncTorchBatched")}
RANKS = {f"{low}_{high}": (low, high) for low, above in ABOVE.items() for high in above}
RANKS |= {f"{high}_{low}": (high, low) for low, high in RANKS.values()}
"""Pairs whose order is torch's. Python and Functionalize stand at the top here, as modes are asked first."""
ORDER = [
    DispatchKey.Python,
    DispatchKey.Functionalize,
    DispatchKey.Batched,
    DispatchKey.Autocast,
    DispatchKey.Pipeline,
    DispatchKey.Autograd,
    DispatchKey.Meta,
    DispatchKey.NPU,
    DispatchKey.CPU,
]
RANKED = list(itertools.pairwise(ORDER))


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def key_set(T, *names):
    keys = T._C.DispatchKeySet(getattr(T._C.DispatchKey, names[0]))
    for name in names[1:]:
        keys = keys | T._C.DispatchKeySet(getattr(T._C.DispatchKey, name))
    return keys


@scenarios.each(**PAIRS)
def algebra(T, ns, names):
    one, other = (key_set(T, name) for name in names)
    keys = [getattr(T._C.DispatchKey, name) for name in SHARED]
    sets = [one | other, one & other, one - other, one.add(keys[0]), one.remove(keys[0]), (one | other) - other]
    return [[made.has(key) for key in keys] for made in sets], one == other, (one | other) == (other | one)


@scenarios.each(**RANKS)
def priority(T, ns, names):
    top = key_set(T, *names).highestPriorityTypeId()
    return [top == getattr(T._C.DispatchKey, name) for name in SHARED]


@pytest.mark.parametrize(("higher", "lower"), RANKED, ids=lambda key: key.name)
def test_the_order_of_keys(higher, lower):
    assert higher > lower
    assert DispatchKeySet([lower, higher]).highest() is higher
    assert list(DispatchKeySet([lower, higher])) == [higher, lower]


@scenarios.each(excluded=True, included=False)
def guards_restore_what_was(T, ns, exclude):
    key = T._C.DispatchKey.AutogradCPU if exclude else T._C.DispatchKey.FuncTorchBatched
    asked = T._C._dispatch_tls_is_dispatch_key_excluded if exclude else T._C._dispatch_tls_is_dispatch_key_included
    guard = T._C._ExcludeDispatchKeyGuard if exclude else T._C._IncludeDispatchKeyGuard
    seen = [asked(key)]
    given = T._C.DispatchKeySet(key) if exclude else key
    with guard(given):
        seen.append(asked(key))
        with guard(given):
            seen.append(asked(key))
        seen.append(asked(key))
    try:
        with guard(given):
            raise KeyError
    except KeyError:
        seen.append(asked(key))
    return seen


@scenarios
def excluded_autograd_records_nothing(T, ns):
    x = T.ones(2, requires_grad=True)
    with T._C._AutoDispatchBelowAutograd():
        inside = (x * 2).requires_grad
    return inside, (x * 2).requires_grad


@scenarios
def exclusion_is_set_and_taken_back(T, ns):
    key = T._C.DispatchKey.AutogradCPU
    T._C._dispatch_tls_set_dispatch_key_excluded(key, True)
    try:
        during = T._C._dispatch_tls_is_dispatch_key_excluded(key), T._C._dispatch_tls_local_exclude_set().has(key)
    finally:
        T._C._dispatch_tls_set_dispatch_key_excluded(key, False)
    return during, T._C._dispatch_tls_is_dispatch_key_excluded(key)


@scenarios
def guards_are_of_their_thread(T, ns):
    seen = []
    key = T._C.DispatchKey.AutogradCPU

    def work():
        seen.append(T._C._dispatch_tls_is_dispatch_key_excluded(key))
        seen.append((T.ones(1, requires_grad=True) * 2).requires_grad)

    with T._C._ExcludeDispatchKeyGuard(T._C.DispatchKeySet(key)):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return seen


@scenarios.each(cpu="cpu", meta="meta")
def keys_of_tensors(T, ns, device):
    plain = T._C._dispatch_keys(T.ones(1, device=device))
    with T.inference_mode():
        inferred = T._C._dispatch_keys(T.ones(1, device=device))
    names = ("CPU", "Meta", "AutogradCPU") if device == "cpu" else ("CPU", "Meta", "AutogradMeta")
    return [[keys.has(getattr(T._C.DispatchKey, name)) for name in names] for keys in (plain, inferred)]


@scenarios
def kernels_are_told_their_keys(T, ns):
    seen = []
    lib = T.library.Library(ns, "DEF")
    lib.define("op(Tensor x) -> Tensor")
    op = getattr(T.ops, ns).op

    def has(keys):
        return [keys.has(getattr(T._C.DispatchKey, name)) for name in ("CPU", "AutogradCPU", "Meta")]

    def upper(keys, x):
        seen.append(has(keys))
        return op.default.redispatch(keys & T._C._after_autograd_keyset, x)

    def lower(keys, x):
        seen.append(has(keys))
        return x.clone()

    lib.impl("op", upper, "Autograd", with_keyset=True)
    lib.impl("op", lower, "CPU", with_keyset=True)
    op(T.ones(1, requires_grad=True))
    op(T.ones(1))
    return seen


@scenarios
def excluding_a_backend_leaves_no_kernel(T, ns):
    lib = T.library.Library(ns, "DEF")
    lib.define("op(Tensor x) -> Tensor")
    lib.impl("op", lambda x: x * 2, "CPU")
    lib.impl("op", lambda x: x * 3, "Autograd")
    op = getattr(T.ops, ns).op
    with T._C._ExcludeDispatchKeyGuard(T._C.DispatchKeySet(T._C.DispatchKey.AutogradCPU)):
        below = op(T.ones(1))
    return below, op(T.ones(1))


@pytest.mark.parametrize("key", list(DispatchKey), ids=lambda key: key.name)
@pytest.mark.parametrize("guard", [exclude_keys, include_keys], ids=["exclude", "include"])
def test_guards_nest_and_restore(guard, key):
    before = state.mode
    with guard(DispatchKeySet([key])):
        inner = state.mode
        assert (inner.exclude if guard is exclude_keys else inner.include) >> key & 1
        with guard(DispatchKeySet([DispatchKey.CPU])):
            assert state.mode is not before
        assert state.mode is inner
    assert state.mode is before
    with pytest.raises(KeyError), guard(DispatchKeySet([key])):
        raise KeyError
    assert state.mode is before


@pytest.mark.parametrize("key", list(DispatchKey), ids=lambda key: key.name)
def test_without_and_add_are_inverse(key):
    every = DispatchKeySet(DispatchKey)
    assert key in every
    assert key not in every.without(key)
    assert every.without(key).add(key) == every
    assert len(every.without(key)) == len(every) - 1
    assert caught(lambda: every.without(key).has(key)) is False
