"""Tensors whose memory may be spoilt are known, and a device that was stopped goes on."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch.npu import _recovery  # noqa: E402
from mindtorch_npu import AclError, damage  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_marked(npu):
    damage.unsafe.clear()
    yield
    damage.unsafe.clear()
    damage.checking["on"] = False


def test_operators_refuse_what_is_marked_and_only_then():
    a, b = torch.ones(300).npu(), torch.ones(300).npu()
    _recovery.mark_all_npu_tensor_unsafe(0)
    assert (a + b).sum().item() == 600  # nobody asked for the check
    _recovery.set_npu_tensor_unsafe_check_flag(True)
    with pytest.raises(RuntimeError, match=r"^There is unsafe data in the input tensor\.$"):
        a + b
    with pytest.raises(RuntimeError, match="unsafe data"):
        torch.cat([torch.zeros(3).npu(), b])


@pytest.mark.parametrize("how", ["host", "device", "said", "new"])
def test_what_is_written_whole_is_safe_again(how):
    a, good = torch.ones(300).npu(), torch.full((300,), 2.0)
    _recovery.mark_all_npu_tensor_unsafe(0)
    _recovery.set_npu_tensor_unsafe_check_flag(True)
    assert not _recovery.check_npu_tensor_is_safe(a)
    if how == "host":
        a.copy_(good)
    elif how == "device":
        a.copy_(good.npu())
    elif how == "said":
        _recovery.update_npu_tensor_to_safe(a)
    else:
        address = a.data_ptr()
        del a
        a = torch.ones(300).npu()
        assert a.data_ptr() == address
    assert _recovery.check_npu_tensor_is_safe(a)
    assert (a + 1).sum().item() == {"host": 900, "device": 900, "said": 600, "new": 600}[how]


def test_a_device_that_was_stopped_goes_on():
    a = torch.ones(3).npu()
    _recovery.restart_device(0)
    assert (a + 1).tolist() == [2.0, 2.0, 2.0]
    _recovery.restart_device(0, rebuild_all_resources=True, disable_tensor_unsafe_check=True)
    assert _recovery.check_npu_tensor_is_safe(a)
    _recovery.restart_device(0, rebuild_all_resources=True)
    assert not _recovery.check_npu_tensor_is_safe(a)
    assert _recovery.get_npu_tensor_unsafe_check_flag()


def test_a_device_that_does_not_answer_is_not_restarted(npu):
    torch.ones(3).npu()
    npu.faults.add("rt.synchronize_device", 507033)
    with pytest.raises(AclError, match="507033"):
        _recovery.restart_device(0)
    with pytest.raises(RuntimeError, match="param type should be Tensor"):
        _recovery.check_npu_tensor_is_safe("a")
