"""Plans: one geometry is planned once, and nothing outside the key influences a plan."""

from concurrent.futures import ThreadPoolExecutor

import pytest

mt = pytest.importorskip("mindtorch", reason="plans are made for calls on real tensors")
from mindtorch_dispatch import call, table  # noqa: E402
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet  # noqa: E402
from mindtorch_dispatch.registry import registry  # noqa: E402
from mindtorch_dispatch.state import exclude_keys  # noqa: E402


def plans_made(fn):
    before = call.planned["count"]
    fn()
    return call.planned["count"] - before


def test_one_geometry_is_planned_once():
    def calls():
        for seed in range(20):
            a = mt.full((3, 5), float(seed))
            (a + a) * 2.5

    calls()
    assert plans_made(calls) == 0


def test_float_scalars_do_not_plan_again():
    a = mt.zeros(7)
    a + 0.5
    assert plans_made(lambda: [a + value / 8 for value in range(50)]) == 0


def test_an_index_moves_only_the_offset():
    a = mt.arange(60).reshape(20, 3)
    a[0], a[2:4]
    assert plans_made(lambda: [a[i] for i in range(-20, 20)]) == 0
    assert plans_made(lambda: [a[i : i + 2] for i in range(18)]) == 0
    assert [int(a[i, 1]) for i in range(20)] == [3 * i + 1 for i in range(20)]


def test_an_index_out_of_range_is_refused_on_a_cached_plan():
    a = mt.zeros(4)
    a[3]
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        a[4]


def test_true_and_one_are_different_arguments():
    a = mt.arange(6).reshape(2, 3)
    assert a.sum(1).shape == (2,)
    with pytest.raises(TypeError):
        a.sum(1.0)
    assert a.sum(1, True).shape == (2, 1)


def test_grad_mode_is_part_of_the_key():
    a = mt.ones(3, requires_grad=True)
    assert (a * 2).requires_grad
    with mt.no_grad():
        assert not (a * 2).requires_grad
    assert (a * 2).requires_grad


def test_default_dtype_is_part_of_the_key():
    a = mt.tensor([1, 2])
    assert (a / 2).dtype is mt.float32
    mt.set_default_dtype(mt.float64)
    try:
        assert (a / 2).dtype is mt.float64
    finally:
        mt.set_default_dtype(mt.float32)
    assert (a / 2).dtype is mt.float32


def test_plan_tables_are_bounded(monkeypatch):
    monkeypatch.setattr(call, "PLAN_LIMIT", 16)
    packet = table.find_packet("neg")
    packet.plans.clear()
    for extent in range(1, 60):
        mt.zeros(extent).neg()
    assert len(packet.plans) <= 16


def test_threads_share_plans_and_agree():
    def work():
        return [float((mt.full((extent,), 2.0) ** 2).sum()) for extent in range(1, 40)]

    with ThreadPoolExecutor(4) as pool:
        results = [task.result() for task in [pool.submit(work) for _ in range(4)]]
    assert results == [[4.0 * extent for extent in range(1, 40)]] * 4


def test_a_registered_kernel_takes_the_place_of_planned_ones():
    a = mt.ones(2)
    assert float(a.sinh()[0]) != 7.0
    registry.register_kernel("aten::sinh", DispatchKey.CPU, lambda self: mt.full((2,), 7.0))
    try:
        assert float(a.sinh()[0]) == 7.0
    finally:
        registry.unregister_kernel("aten::sinh", DispatchKey.CPU)
    assert float(a.sinh()[0]) != 7.0


def test_names_of_keywords_are_part_of_the_key():
    a = mt.arange(5.0)
    assert a.clamp(min=2.0).tolist() == [2.0, 2.0, 2.0, 3.0, 4.0]
    assert a.clamp(max=2.0).tolist() == [0.0, 1.0, 2.0, 2.0, 2.0]


def test_equal_values_of_several_types_are_different_arguments():
    full = mt.ops.aten.full.default
    assert [full([1], value).dtype for value in (True, 1, 1.0)] == [mt.bool, mt.int64, mt.float32]
    assert [full([1], value).dtype for value in (1.0, True, 1)] == [mt.float32, mt.bool, mt.int64]


def test_tensors_of_several_devices_do_not_meet():
    host, nowhere = mt.ones(2), mt.ones(2, device="meta")
    for one, other in ((host, nowhere), (nowhere, host)):
        told = f"^Tensor on device {other.device} is not on the expected device {one.device}!$"
        with pytest.raises(RuntimeError, match=told):
            one * other
    assert (nowhere * mt.tensor(2.0)).device.type == "meta"


def test_fallthrough_passes_a_registered_kernel_by():
    a = mt.ones(3)
    key = DispatchKey.CPU
    registry.register_kernel("aten::hardswish", key, lambda self: mt.zeros(3))
    try:
        assert mt.nn.functional.hardswish(a).tolist() == [0.0, 0.0, 0.0]
        registry.register_fallthrough("aten::hardswish", key)
        assert mt.nn.functional.hardswish(a)[0] > 0.5
    finally:
        registry.unregister_kernel("aten::hardswish", key)
        for entry in registry._entries_of("aten::hardswish"):
            entry.fallthrough.discard(key)
            entry.row.__dict__["fallthrough"].discard(key)


def test_guards_hold_for_their_block_alone():
    a = mt.ones(3, requires_grad=True)
    with exclude_keys(DispatchKeySet([DispatchKey.Autograd])):
        assert not (a * 2).requires_grad

    def fails():
        with exclude_keys(DispatchKeySet([DispatchKey.Autograd])):
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert (a * 2).requires_grad


def test_excluded_keys_have_no_say():
    key = DispatchKey.Autograd
    registry.register_kernel("aten::hardsigmoid", key, lambda self: mt.zeros(3))
    try:
        a = mt.ones(3, requires_grad=True)
        assert mt.nn.functional.hardsigmoid(a).tolist() == [0.0, 0.0, 0.0]
        with exclude_keys(DispatchKeySet([key])):
            assert mt.nn.functional.hardsigmoid(a)[0] > 0.5
    finally:
        registry.unregister_kernel("aten::hardsigmoid", key)
