"""What was planned once is launched again: without the first phase, with the new addresses, and as often as not for others."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import simulator, switches  # noqa: E402
from mindtorch_npu.acl.errors import AclError  # noqa: E402
from mindtorch_npu.backend import DeviceArray, binding, launches  # noqa: E402
from mindtorch_npu.backend.arrays import DeviceAllocation  # noqa: E402
from mindtorch_npu.backend.planned import Planned, planned  # noqa: E402
from mindtorch_npu.simulator import libraries  # noqa: E402

native = pytest.mark.skipif(planned.native is None, reason="the native call path is not built, or switched off")


def numbers(*values):
    return mindtorch.tensor(values, device="npu")


def warmed(call):
    """Let a call be planned and kept, and its first phase fail from then on."""
    for _ in range(3):
        call()


@native
def test_the_first_phase_is_left_out(npu):
    x, y = numbers(1.0, 2.0), numbers(3.0, 5.0)
    warmed(lambda: x * y)
    npu.faults.add("aclnnMulGetWorkspaceSize", 161002)
    before = launches["aclnnMul"]
    assert (y * numbers(2.0, 4.0)).tolist() == [6.0, 20.0]  # other tensors, other addresses
    assert launches["aclnnMul"] == before + 1
    with pytest.raises(AclError, match="161002"):
        y * y  # one memory twice is planned apart


@native
@pytest.mark.parametrize(
    "call",
    [
        lambda x: x * 2.5,
        lambda x: x.add_(x, alpha=2),
        lambda x: mindtorch.softmax(x, 0),
        lambda x: x.reshape(2, 2) @ x.reshape(2, 2),
        lambda x: mindtorch._foreach_mul([x, x + 1], 3)[1],
        lambda x: x.reshape(2, 2).t().contiguous(),
        lambda x: x[1:] + x[:-1],
        lambda x: x.sum(),
    ],
)
def test_values_are_those_of_the_cpu_every_time(npu, call):
    for step in range(5):
        x = mindtorch.arange(4.0) + step
        assert mindtorch.allclose(call(x.to("npu")).cpu(), call(x))


@native
def test_numbers_are_part_of_what_is_planned(npu):
    x = numbers(1.0, 2.0)
    for factor in (2.0, 2.0, 2.0, 3.0, 2.0, 3.0, True, 1):
        assert (x * factor).tolist() == [factor, 2.0 * factor]


@native
def test_an_error_of_the_second_phase_names_the_operator(npu):
    x, y = numbers(1.0), numbers(2.0)
    warmed(lambda: x * y)
    npu.faults.add("aclnnMul", 507899)
    with pytest.raises(AclError, match=r"aclnnMul failed with 507899"):
        x * y
    assert (x * y).tolist() == [2.0]


@native
def test_streams_and_devices_are_those_that_are_current(npu):
    for index in (0, 1):
        x = mindtorch.ones(3, device=f"npu:{index}")
        warmed(lambda x=x: x * 2)
        mindtorch.npu.synchronize(index)  # the other stream waits for nothing
        with mindtorch.npu.stream(mindtorch.npu.Stream(index)) as _, mindtorch.npu.device(index):
            y = x * 2
        mindtorch.npu.synchronize(index)
        assert y.tolist() == [2.0] * 3
        assert y.device.index == index


@native
def test_plans_go_with_what_they_were_made_for(npu):
    x = numbers(1.0, 2.0)
    warmed(lambda: x * x)
    assert planned.native.kept() > 0
    mindtorch.use_deterministic_algorithms(True)
    try:
        assert planned.native.kept() == 0
        assert not libraries().executors
    finally:
        mindtorch.use_deterministic_algorithms(False)


@native
def test_the_cache_is_bounded(npu, monkeypatch):
    small = Planned(most=3)
    small.start(DeviceArray, DeviceAllocation, launches)
    monkeypatch.setattr(binding, "planned", small)
    monkeypatch.setattr(binding, "_bound", {})
    arrays = [mindtorch.ones(size, device="npu")._array for size in range(1, 9)]
    for array in arrays * 3:
        binding.launch("aclnnInplaceMuls", [array, 2.0])
    assert 0 < small.native.kept() <= 3
    assert len(libraries().executors) == small.native.kept()
    small.native.forget()
    assert not libraries().executors


def test_what_the_vendor_refuses_of_repeatable_executors(npu):
    x = numbers(1.0, 2.0)
    x.mul(2).cpu()
    kinds = {"aclSetAclOpExecutorRepeatable": 1, "aclDestroyAclOpExecutor": 1, "aclSetTensorAddr": 4}
    calls = {
        name: ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * count)(libraries().address(name))
        for name, count in kinds.items()
    }
    assert calls["aclSetAclOpExecutorRepeatable"](0) == 561103
    assert calls["aclSetTensorAddr"](77, 0, 0, 0) == 561103
    assert calls["aclDestroyAclOpExecutor"](77) == 561103
    operator, given, owned = binding.operator_of("aclnnInplaceMuls"), [], []
    binding._describe(operator, [x._array, 3.0], given, owned)
    found = binding._FOUND()
    place = ctypes.addressof(found)
    assert operator.plan(*given, place, place + 8) == 0
    executor = found[1]
    assert calls["aclSetTensorAddr"](executor, 0, given[0], 64) == 561103  # not made repeatable
    assert calls["aclSetAclOpExecutorRepeatable"](executor) == 0
    assert calls["aclSetTensorAddr"](executor, 1, given[0], 64) == 161002  # it has one tensor
    assert calls["aclSetTensorAddr"](executor, 0, given[1], 64) == 161002  # that is the scalar
    assert calls["aclSetTensorAddr"](executor, 0, given[0], 0) == 0
    assert operator.run(None, 0, executor, 0) == 161001  # elements without an address
    assert calls["aclDestroyAclOpExecutor"](executor) == 0
    for destroy, handle in owned:
        destroy(handle)


@native
def test_emptied_caches_keep_no_executors(npu):
    x = numbers(1.0, 2.0)
    warmed(lambda: x * x)
    assert libraries().executors
    mindtorch.npu.empty_cache()
    assert not libraries().executors
    assert (x * x).tolist() == [1.0, 4.0]


def test_without_the_native_call_path_every_launch_is_planned(npu, monkeypatch):
    monkeypatch.setattr(binding, "planned", Planned())
    monkeypatch.setattr(binding, "_bound", {})
    switches.forget_plans()
    array = mindtorch.ones(2, device="npu")._array
    for _ in range(4):
        binding.launch("aclnnInplaceMuls", [array, 2.0])
    assert array.to_host().tolist() == [16.0, 16.0]
    assert not libraries().executors


WARMED = """
import sys
import mindtorch
from mindtorch_npu import runtime, simulator
from mindtorch_npu.backend.planned import planned

x = mindtorch.ones(2, device="npu")
for _ in range(3):
    y = x * 2.5
assert planned.native.kept()
"""
ENDS = {
    "as usual": "",
    "forgotten by the runtime": "runtime._acl = None",
    "another host by then": "runtime._acl = None; simulator.replace('Ascend910B3:1')",
    "a forked child": "import os\nif os.fork(): sys.exit(os.waitpid(-1, 0)[1])",
}
"""How a process can end that has kept executors."""


@native
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_process_that_ends_keeps_nothing(end):
    text = WARMED.replace("import sys\n", "import sys, atexit\nlast = []\natexit.register(lambda: print(last[0]()))\n")
    text += "last.append(planned.native.kept)\n" + end
    environment = {**os.environ, simulator.VARIABLE: "Ascend910B3:1,memory=64MiB"}
    run = subprocess.run([sys.executable, "-c", text], env=environment, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert set(run.stdout.split()) == {"0"}


@native
def test_what_is_launched_while_the_process_ends_is_not_kept(npu, monkeypatch):
    monkeypatch.setattr(planned, "closed", True)
    x = numbers(1.0, 2.0)
    warmed(lambda: x * x)
    assert planned.native.kept() == 0
    assert not libraries().executors
    assert (x * x).tolist() == [1.0, 4.0]


@native
def test_another_thread_finds_an_executor_after_its_first_launch(npu, monkeypatch):
    """Between both it would give the executor its own addresses, and the first launch would write to those."""
    found = []
    launch_anew, enqueue = binding._launch_anew, binding._enqueue

    def launched_anew(operator, name, arguments, *rest):
        monkeypatch.setattr(binding, "_enqueue", lambda of, *others: asked(of, arguments, *others))
        return launch_anew(operator, name, arguments, *rest)

    def asked(operator, arguments, *rest):
        found.append(operator.again(arguments))
        return enqueue(operator, *rest)

    monkeypatch.setattr(binding, "_launch_anew", launched_anew)
    x = mindtorch.ones(7, device="npu")
    for _ in range(4):
        x * 3
    assert found
    assert True not in found
