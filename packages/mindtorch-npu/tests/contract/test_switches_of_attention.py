"""Switches that torch_npu has under torch.npu's name, and modes of synchronising."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")


@pytest.mark.parametrize("kind", ["flash", "math", "mem_efficient"])
def test_switches_choose_kernels_of_every_device(npu, kind):
    asked, choose = (getattr(mindtorch.npu, name) for name in (f"{kind}_sdp_enabled", f"enable_{kind}_sdp"))
    assert asked()
    choose(False)
    try:
        assert not asked()
        assert not getattr(mindtorch.backends.cuda, f"{kind}_sdp_enabled")()
    finally:
        choose(True)


def test_modes_of_synchronising(npu):
    with pytest.raises(RuntimeError, match="invalid value of debug_mode, expected one of 0,1,2"):
        mindtorch.npu.set_sync_debug_mode(-1)
    assert mindtorch.npu.get_sync_debug_mode() == 0
    try:
        for mode in (1, 2, 0):
            mindtorch.npu.set_sync_debug_mode(mode)
            assert mindtorch.npu.get_sync_debug_mode() == mode
    finally:
        mindtorch.npu.set_sync_debug_mode(0)
