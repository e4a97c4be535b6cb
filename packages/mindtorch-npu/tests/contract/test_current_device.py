"""The current device is part of a plan's key: calls that name the device are planned once for each, and land on it."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_dispatch import call  # noqa: E402


def plans_made(function):
    before = call.planned["count"]
    function()
    return call.planned["count"] - before


CALLS = {
    "a factory": lambda: mindtorch.zeros(3, device="npu"),
    "a factory with a device": lambda: mindtorch.zeros(3, device=mindtorch.device("npu")),
    "a copy": lambda: mindtorch.ones(2).to("npu"),
    "a copy by keyword": lambda: mindtorch.ones(2).to(device="npu"),
    "an overload": lambda: mindtorch.ops.aten.empty.memory_format([2], device="npu"),
}


@pytest.mark.parametrize("made", CALLS.values(), ids=CALLS)
def test_it_is_planned_once_for_every_current_device(npu, made):
    for index in (0, 1):
        with mindtorch.npu.device(index):
            made(), made()
            assert plans_made(lambda: [made() for _ in range(5)]) == 0
            assert made().device == mindtorch.device("npu", index)
    assert made().device.index == 0


def test_a_default_device_without_an_index_follows_the_current_one(npu):
    with mindtorch.device("npu"):
        for index in (1, 0):
            with mindtorch.npu.device(index):
                assert mindtorch.zeros(3).device.index == index
