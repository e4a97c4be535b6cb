"""The contracts that programs and tools rely on by name, with and without a (simulated) Ascend device.

`torch` is MindTorch: `import mindtorch` where real torch is installed beside it, `import torch` through the proxy elsewhere.
Where torch is installed, `torch.npu` is compared with `torch.cuda`; npu_differences.toml says where they differ, and why.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pickle
import subprocess
import sys
import threading
import tomllib
import warnings
from pathlib import Path
from unittest import mock

import pytest

pytest.importorskip("mindtorch", reason="the assembled library")

from mindtorch_dispatch.keys import DispatchKey
from mindtorch_dispatch.registry import registry
from mindtorch_npu import allocator, device, hooks, host, runtime, simulator, stream, stream_pools, switches
from mindtorch_npu.allocator import NpuAllocator, OutOfMemoryError, limiting

ROOT = Path(__file__).parents[2]
HAS_TORCH = importlib.util.find_spec("torch") is not None
beside_torch = pytest.mark.skipif(not HAS_TORCH, reason="oracle")
DIFFERENCES = tomllib.loads(Path(__file__).with_name("npu_differences.toml").read_text())
SIMULATED = "Ascend910B3:2,memory=64MiB"


@pytest.fixture(scope="module")
def torch():
    """MindTorch under the name that programs of this environment import."""
    if HAS_TORCH:
        yield importlib.import_module("mindtorch")
        return
    with importlib.import_module("mindtorch_proxy").proxy():
        yield importlib.import_module("torch")


def fresh_runtime(monkeypatch):
    """A runtime that was never initialised, allocators that gave nothing, no limits."""
    for name, value in (("_acl", None), ("_owner", False), ("_bad_fork", False), ("_thread", threading.local())):
        monkeypatch.setattr(runtime, name, value)
    monkeypatch.setattr(runtime, "_fork_hook_set", True)  # no hooks in the process of the tests
    monkeypatch.setattr(limiting, "process_fractions", {})
    monkeypatch.setitem(switches.sync_debug, "mode", 0)
    for module, name in ((stream_pools, "pools"), (stream_pools, "_external"), (stream, "_defaults")):
        monkeypatch.setattr(module, name, {})
    monkeypatch.setattr(allocator, "_allocators", {})
    monkeypatch.setattr(host, "_allocator", [])
    device._thread.device = 0
    stream._thread.current.clear()


@pytest.fixture
def no_device(monkeypatch):
    """A host without an Ascend device."""
    fresh_runtime(monkeypatch)
    for name in (simulator.VARIABLE, "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"):
        monkeypatch.delenv(name, raising=False)
    if runtime.is_available():
        pytest.skip("this host has an Ascend device")


@pytest.fixture
def simulated(monkeypatch):
    """A simulated host with two devices."""
    fresh_runtime(monkeypatch)
    monkeypatch.setenv(simulator.VARIABLE, SIMULATED)
    yield simulator.replace(SIMULATED)
    switches.forget_plans()
    stream._thread.current.clear()


@pytest.fixture(params=["no device", "simulated"])
def anywhere(request, torch):
    """Both hosts in turn; the value says whether there is a device."""
    request.getfixturevalue("no_device" if request.param == "no device" else "simulated")
    return request.param == "simulated"


# -- 1. hooks ---------------------------------------------------------------------------------------------------------------

FOUR = {f"{what}_bytes.all.{column}": 7 for what in ("allocated", "reserved") for column in ("current", "peak")}


class OtherAllocator:
    """An allocator that tells little."""

    def memory_stats(self):
        return dict(FOUR)

    def snapshot(self):
        return {"segments": [], "device": 0, "allocator": "npu"}


def test_summary_of_an_allocator_that_tells_four_numbers(torch, anywhere, monkeypatch):
    monkeypatch.setattr(torch.npu, "_get_allocator", lambda device=None: OtherAllocator())
    lines = {line[1:].split("|")[0].strip(): line.split("|")[2:-1] for line in torch.npu.memory_summary().splitlines()}
    assert [cell.strip() for cell in lines["Allocated memory"]] == ["7 B", "7 B", "0 B", "0 B"]
    assert [cell.strip() for cell in lines["Reserved memory"]] == ["7 B", "7 B", "0 B", "0 B"]
    assert {cell.strip() for cell in lines["Active memory"]} == {"0 B"}
    assert torch.npu.memory_allocated() == torch.npu.max_memory_reserved() == 7
    assert dict(torch.npu.memory_stats()) == FOUR


def test_every_function_of_memory_asks_the_hook(torch, anywhere, monkeypatch):
    class Listening(NpuAllocator):
        called = []

        def __getattribute__(self, name):
            if not name.startswith("_"):
                type(self).called.append(name)
            return super().__getattribute__(name)

    alone, asked = Listening(), []
    monkeypatch.setattr(torch.npu, "_get_allocator", lambda device=None: (asked.append(device), alone)[1])
    npu = torch.npu
    calls = {
        "memory_stats": npu.memory_stats, "snapshot": npu.memory_snapshot, "empty_cache": npu.empty_cache,
        "reset_peak_memory_stats": npu.reset_peak_memory_stats, "fraction": npu.get_per_process_memory_fraction,
        "reset_accumulated_memory_stats": npu.reset_accumulated_memory_stats,
        "set_fraction": lambda: npu.set_per_process_memory_fraction(1.0, "npu:0"),
        "malloc": lambda: npu.caching_allocator_alloc(0, "npu:0", 0),
        "owns": lambda: outcome(torch, "npu.caching_allocator_delete(1)"),
    }  # fmt: skip
    for name, call in calls.items():
        asked.clear(), Listening.called.clear()
        call()
        assert asked, name
        assert name in Listening.called
    assert npu.memory._get_current_allocator() is alone


def test_the_snapshot_of_another_allocator_is_handed_out(torch, anywhere, monkeypatch):
    monkeypatch.setattr(torch.npu, "_get_allocator", lambda device=None: OtherAllocator())
    snap = torch.npu.memory_snapshot()
    assert "segments" in snap
    assert "device" in snap
    assert snap == {"segments": [], "device": 0, "allocator": "npu"}


def test_our_snapshot_has_fields_and_is_a_list(torch, anywhere):
    kept = torch.npu.caching_allocator_alloc(100) if anywhere else None
    snap = torch.npu.memory_snapshot()
    assert "segments" in snap
    assert "device" in snap
    assert snap["device"] == 0
    assert snap["allocator"] == "npu"
    assert snap["segments"] == list(snap) == [snap[i] for i in range(len(snap))]
    assert len(snap) == (1 if anywhere else 0)
    assert all(segment["blocks"] for segment in snap)
    assert pickle.loads(pickle.dumps(snap)) == snap
    assert type(pickle.loads(pickle.dumps(snap))) is list
    with pytest.raises(KeyError):
        snap["no such field"]
    if kept:
        torch.npu.caching_allocator_delete(kept)


def test_names_and_capabilities_are_the_hooks(torch, anywhere, monkeypatch):
    asked = []
    monkeypatch.setattr(torch.npu, "_get_device_name", lambda device=None: (asked.append(device), "Ascend")[1])
    monkeypatch.setattr(torch.npu, "_get_device_capability", lambda device=None: (9, 5))
    assert torch.npu.get_device_name("npu:0") == "Ascend"
    assert torch.npu.get_device_capability("npu:0") == (9, 5)
    assert asked == ["npu:0"]
    if anywhere:
        found = torch.npu.get_device_properties(1)
        assert (found.name, found.major, found.minor) == ("Ascend", 9, 5)


@pytest.mark.parametrize("place", ["torch.npu", "mindtorch_npu.hooks"])
def test_a_hook_is_looked_up_at_every_call_and_comes_back(torch, no_device, monkeypatch, place):
    owner = torch.npu if place == "torch.npu" else hooks
    before = owner._get_device_capability
    with monkeypatch.context() as patch:
        patch.setattr(owner, "_get_device_capability", lambda device=None: (1, 2))
        assert torch.npu.get_device_capability() == (1, 2)
        patch.setattr(owner, "_get_device_capability", lambda device=None: (3, 4))
        assert torch.npu.get_device_capability() == (3, 4)
    assert owner._get_device_capability is before
    assert torch.npu.get_device_capability() is None
    with mock.patch.object(owner, "_get_device_capability", return_value=(5, 6)) as asked:
        assert torch.npu.get_device_capability("npu:1") == (5, 6)
    asked.assert_called_once_with("npu:1")
    assert torch.npu.get_device_capability() is None


# -- 2. an allocator alone --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hooked", [True, False])
def test_an_allocator_alone_keeps_to_the_fraction(torch, anywhere, monkeypatch, hooked):
    alloc = NpuAllocator(device_id=0)
    if hooked:
        monkeypatch.setattr(torch.npu, "_get_allocator", lambda device=None: alloc)
    monkeypatch.setattr(alloc, "_mem_get_info", lambda: (0, 100))
    torch.npu.set_per_process_memory_fraction(0.5)
    alloc._stats["reserved_bytes.all.current"] = 60
    with pytest.raises(
        RuntimeError, match=r"^NPU out of memory\. Tried to allocate 50 bytes\. NPU 0 has a total capacity"
    ) as e:
        alloc._enforce_memory_fraction(50)
    assert isinstance(e.value, OutOfMemoryError)
    assert "50 bytes allowed; " in str(e.value)
    assert torch.npu.get_per_process_memory_fraction() == 0.5
    alloc._stats["reserved_bytes.all.current"] = 0
    assert alloc._enforce_memory_fraction(50) is None
    torch.npu.set_per_process_memory_fraction(1.0)
    assert alloc._enforce_memory_fraction(10**9) is None


class CountingDriver:
    """A driver that says in which order it was asked."""

    def __init__(self):
        self.order = []

    def malloc(self, size):
        self.order.append("malloc")
        return 4096

    def mem_get_info(self):
        return 2**30, 2**30

    def synchronize(self):
        pass


@pytest.mark.parametrize("caching", [True, False])
def test_malloc_enforces_the_fraction_before_it_asks_the_driver(caching, monkeypatch):
    driver = CountingDriver()
    alloc = NpuAllocator(0, driver)
    alloc.set_caching(caching)
    monkeypatch.setattr(alloc, "_enforce_memory_fraction", lambda size: driver.order.append(("enforce", size)))
    assert alloc.malloc(1000) == 4096
    assert driver.order == [("enforce", 2 * 2**20 if caching else 1000), "malloc"]


def test_beyond_the_fraction_the_driver_is_not_asked(no_device):
    driver = CountingDriver()
    alloc = NpuAllocator(0, driver)
    alloc.set_fraction(0.001)
    with pytest.raises(OutOfMemoryError, match="MiB allowed"):
        alloc.malloc(2**29)
    assert driver.order == []
    assert alloc._stats["num_ooms"] == 1


def test_statistics_under_dotted_names_are_the_allocators():
    alloc = NpuAllocator(0, CountingDriver())
    assert len(alloc._stats) == len(list(alloc._stats)) == 108 + 8 + 6
    alloc._stats["num_ooms"] = 3
    alloc._stats["segment.small_pool.peak"] = 4
    alloc._stats["oversize_segments.freed"] = 5
    stats = alloc.memory_stats()
    assert (stats["num_ooms"], stats["segment"]["small_pool"]["peak"], stats["oversize_segments"]["freed"]) == (3, 4, 5)
    for name in ("no_such", "segment.all", "segment.all.most", "segment.no_pool.peak"):
        with pytest.raises(KeyError):
            alloc._stats[name]


# -- 3. pinned memory, peers, priorities ------------------------------------------------------------------------------------


def test_pinned_memory(torch, anywhere):
    t = torch.arange(24.0).reshape(4, 6)[:, ::2]
    assert torch.npu.is_pinned(t) is False
    pinned = torch.npu.pin_memory(t)
    assert torch.npu.is_pinned(pinned) is True
    assert pinned.is_pinned() is True
    assert pinned.untyped_storage().is_pinned() is True
    assert torch.equal(pinned, t)
    assert pinned.stride() == t.stride()
    assert torch.npu.pin_memory(pinned) is pinned
    assert torch.npu.is_pinned(t) is False
    with pytest.raises(RuntimeError, match=r"^cannot pin 'torch\..*' only dense CPU tensors can be pinned$"):
        torch.npu.pin_memory(torch.ones(2, device="meta"))


def test_the_mark_stays_when_the_storage_grows(torch, no_device):
    pinned = torch.npu.pin_memory(torch.ones(4))
    pinned.resize_(100)
    assert torch.npu.is_pinned(pinned)
    assert pinned[:4].tolist() == [1, 1, 1, 1]


def test_peers_without_a_device(torch, no_device):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert torch.npu.can_device_access_peer(0, 1) is False
    assert [str(one.message) for one in seen] == [f"no peer access: {runtime.unavailable_reason()}"]
    for call in (torch.npu.enable_peer_access, torch.npu.disable_peer_access):
        with pytest.raises(RuntimeError, match="NPU is not available"):
            call(1)


def test_peers(torch, simulated):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.npu.can_device_access_peer(0, 1) is True
        assert torch.npu.can_device_access_peer(0, 0) is False
    torch.npu.enable_peer_access(1)
    assert simulated.peers == {(0, 1)}
    with torch.npu.device(1):
        torch.npu.enable_peer_access("npu:0")
    assert simulated.peers == {(0, 1), (1, 0)}
    torch.npu.disable_peer_access(1)
    assert simulated.peers == {(1, 0)}
    for call in (torch.npu.enable_peer_access, torch.npu.disable_peer_access):
        with pytest.raises(RuntimeError, match="NPU 0 has no access to the memory of NPU 0"):
            call(0)
        with pytest.raises(AssertionError, match="Invalid peer device id"):
            call(7)


def test_stream_priorities(torch, anywhere, monkeypatch):
    assert torch.npu.stream_priority_range() == (0, 0)
    if anywhere:
        fresh_runtime(monkeypatch)
        monkeypatch.setenv(simulator.VARIABLE, SIMULATED + ",priorities=1")
        simulator.replace(SIMULATED + ",priorities=1")
        assert torch.npu.stream_priority_range() == (7, 0)


# -- 4. the registry --------------------------------------------------------------------------------------------------------

BACKENDS = (DispatchKey.CPU, DispatchKey.NPU, DispatchKey.Meta)
ARGUMENTS_OF = {
    "add": lambda t, at: (t.ones(2, 2, device=at), t.ones(2, 2, device=at)),
    "mul": lambda t, at: (t.ones(2, 2, device=at), t.ones(2, 2, device=at)),
    "matmul": lambda t, at: (t.ones(2, 2, device=at), t.ones(2, 2, device=at)),
    "sum": lambda t, at: (t.ones(2, 2, device=at),),
    "contiguous": lambda t, at: (t.ones(2, 2, device=at).t(),),
    "to": lambda t, at: (t.ones(2, 2, device=at), t.device(at)),
}
RESULTS = {"add": 8, "mul": 4, "matmul": 8, "sum": 4, "contiguous": 4, "to": 4}


@pytest.mark.parametrize("name", ARGUMENTS_OF)
def test_the_registry_has_a_kernel_for_every_backend(torch, simulated, name):
    found = registry.get(f"aten::{name}").kernels
    assert set(BACKENDS) <= set(found)
    assert registry.get(f"aten::{name}").kernels == found
    for key, at in zip(BACKENDS, ("cpu", "npu", "meta"), strict=True):
        result = found[key](*ARGUMENTS_OF[name](torch, at))
        assert result.device.type == at
        if at != "meta":
            assert float(result.cpu().sum()) == RESULTS[name]


@pytest.mark.parametrize("name", ARGUMENTS_OF)
@pytest.mark.parametrize("key", BACKENDS)
def test_a_registered_kernel_is_the_one_that_is_found_and_may_call_the_tables(torch, simulated, name, key):
    at = {DispatchKey.CPU: "cpu", DispatchKey.NPU: "npu", DispatchKey.Meta: "meta"}[key]
    arguments = ARGUMENTS_OF[name](torch, at)
    overload = registry.get(f"aten::{name}").name
    before, calls = registry.get(overload).kernels[key], []

    def kernel(*args, **kwargs):
        calls.append(overload)
        return before(*args, **kwargs)

    registry.register_kernel(overload, key, kernel)
    try:
        assert registry.get(overload).kernels[key] is kernel
        assert registry.get(f"aten::{name}").kernels[key] is kernel
        assert getattr(torch, name, getattr(torch.Tensor, name))(*arguments).device.type == at
        assert calls == [overload]
    finally:
        registry.unregister_kernel(overload, key)
    assert registry.get(overload).kernels[key] is before


def test_a_kernel_refuses_tensors_of_other_backends_alone(torch):
    with pytest.raises(RuntimeError, match=r"^aten::mul\.Tensor: the Meta kernel got tensors on cpu$"):
        registry.get("aten::mul").kernels[DispatchKey.Meta](torch.ones(2), torch.ones(2))


def in_process(program, environment=None, paths=None, flags=()):
    """Run a program in a process of its own and return what it printed."""
    paths = [str(p) for p in sorted(ROOT.glob("packages/*/src"))] if paths is None else paths
    kept = {k: v for k, v in os.environ.items() if k not in ("MINDTORCH", simulator.VARIABLE)}
    run = subprocess.run(
        [sys.executable, *flags, "-c", program],
        env={**kept, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-3000:]
    return run.stdout.splitlines()


def test_an_entry_of_a_backend_that_is_not_loaded_loads_it():
    program = (
        "import sys, mindtorch\n"
        "from mindtorch_dispatch.registry import registry\n"
        "from mindtorch_dispatch.keys import DispatchKey\n"
        "kernel = registry.get('aten::empty').kernels[DispatchKey.NPU]\n"
        "print('mindtorch_npu.backend' in sys.modules)\n"
        "print(kernel([2], device='npu').device, 'mindtorch_npu.backend' in sys.modules)\n"
    )
    assert in_process(program, {simulator.VARIABLE: SIMULATED}) == ["False", "npu:0 True"]


def test_without_the_npus_distribution_there_is_no_entry_for_it():
    program = (
        "import sys\n"
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'mindtorch_npu': raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Nothing())\n"
        "import importlib.metadata as m\n"
        "m.entry_points = lambda **kw: ()\n"
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name.startswith('mindtorch_npu') else found(name, *rest)\n"
        "import mindtorch\n"
        "from mindtorch_dispatch.registry import registry\n"
        "print([key.name for key in sorted(registry.get('aten::add').kernels)])\n"
    )
    assert in_process(program) == ["['CPU', 'Meta']"]


# -- 5. names of distributed, cuda, jit, compile ----------------------------------------------------------------------------


def test_distributed_answers(torch):
    assert torch.distributed.is_initialized() is False
    assert torch.distributed.is_available() in (True, False)


def test_cuda_is_absent_as_in_torchs_build_without_it(torch):
    assert torch.cuda.device_count() == 0
    for call in (torch.cuda.synchronize, torch.cuda.current_device):
        with pytest.raises(AssertionError, match=r"^Torch not compiled with CUDA enabled$"):
            call()


@pytest.mark.parametrize(("wrap", "error"), [("jit.script", RuntimeError), ("compile", TypeError)])
def test_what_is_compiled_behaves_as_the_function(torch, wrap, error):
    def f(x, scale: int = 2):
        return (x * scale).relu() + 1

    owner = torch
    for part in wrap.split("."):
        owner = getattr(owner, part)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        compiled = owner(f)
    x = torch.tensor([-1.0, 2.0], requires_grad=True)
    assert torch.equal(compiled(x), f(x))
    assert torch.equal(compiled(x, 3), f(x, 3))
    assert torch.equal(compiled(x, scale=4), f(x, scale=4))
    compiled(x).sum().backward()
    assert x.grad.tolist() == [0, 2]
    with pytest.raises(error, match=r"missing .*argument"):
        compiled()


@pytest.mark.parametrize("name", ["_dynamo", "_inductor", "utils._pytree"])
def test_modules_of_compilers_import(torch, name):
    found = importlib.import_module(f"{torch.__name__}.{name}")
    owner = torch
    for part in name.split("."):
        owner = getattr(owner, part)
    assert owner is found


def test_modes_of_compile(torch):
    inductor = importlib.import_module(f"{torch.__name__}._inductor")
    assert inductor.list_mode_options("default") == {}
    assert "max-autotune" in inductor.list_mode_options()
    with pytest.raises(RuntimeError, match=r"^Unrecognized mode=loud, should be one of: default, lite"):
        inductor.list_mode_options("loud")


# -- 6. against torch.cuda --------------------------------------------------------------------------------------------------

CALLS, ARGUMENTS = DIFFERENCES["calls"], DIFFERENCES["arguments"]
ROWS = {call: row for row in DIFFERENCES["difference"] for call in row["calls"]}


def named(text):
    return text.replace("CUDA", "NPU").replace("cuda", "npu").replace("GPU", "NPU")


def outcome(torch, call):
    """What a call gives: the error's class and text, or "value" and the value's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return "value", repr(eval(f"torch.{call}", {"torch": torch}))
        except Exception as error:  # noqa: BLE001 - whatever is raised is compared
            return type(error).__name__, str(error).strip()


@beside_torch
@pytest.mark.parametrize("call", CALLS)
def test_without_a_device_npu_is_as_cuda_or_the_difference_has_its_reason(torch, no_device, call, monkeypatch):
    monkeypatch.setattr(torch.npu.mstx, "_thread", threading.local())  # no ranges that other calls opened
    theirs = tuple(map(named, outcome(importlib.import_module("torch"), f"cuda.{call}")))
    ours = outcome(torch, f"npu.{call.replace('cuda', 'npu')}")
    row = ROWS.get(call)
    if row is None:
        assert ours == theirs
        return
    assert ours != theirs, f"no difference any more: {row['reason']}"
    assert (ours[0], ours[1][: len(row["text"])]) == (row["ours"], row["text"])


def test_every_row_of_differences_has_a_call_and_a_reason():
    assert set(ROWS) <= set(CALLS)
    assert sum(len(row["calls"]) for row in DIFFERENCES["difference"]) == len(ROWS)
    assert all(row["reason"].endswith(".") for row in [*DIFFERENCES["difference"], *DIFFERENCES["row"]])


@beside_torch
@pytest.mark.parametrize("call", ARGUMENTS)
def test_wrong_arguments_are_told_as_by_a_torch_with_two_devices(torch, simulated, monkeypatch, call):
    """Torch's Python sources check arguments before they call what its CPU build lacks."""
    cuda = importlib.import_module("torch").cuda
    for module in (cuda, cuda.memory):
        monkeypatch.setattr(module, "_lazy_init", lambda: None)
    monkeypatch.setattr(cuda, "device_count", lambda: 2)
    monkeypatch.setattr(cuda, "device", _CheckingDevice)
    theirs = tuple(map(named, outcome(importlib.import_module("torch"), f"cuda.{call}")))
    assert outcome(torch, f"npu.{call.replace('cuda', 'npu')}") == theirs


class _CheckingDevice:
    """`torch.cuda.device` that checks its argument and enters nothing."""

    def __init__(self, device):
        self.idx = importlib.import_module("torch").cuda._utils._get_device_index(device, optional=True)

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


@beside_torch
@pytest.mark.parametrize("abbreviated", [False, True])
def test_the_summary_is_torchs_table_but_for_its_rows_of_differences(torch, simulated, monkeypatch, abbreviated):
    cuda = importlib.import_module("torch").cuda
    torch.npu.init()
    numbers = {name: 1000 + place for place, name in enumerate(torch.npu.memory_stats())}

    class Numbers:
        def memory_stats(self):
            return numbers

    monkeypatch.setattr(torch.npu, "_get_allocator", lambda device=None: Numbers())
    monkeypatch.setattr(cuda.memory, "memory_stats", lambda device=None: numbers)
    theirs = cuda.memory_summary(0, abbreviated)
    for row in DIFFERENCES["row"]:
        theirs = theirs.replace(f"| {row['torch']:<21} |", f"| {row['ours']:<21} |")
    ours, theirs = torch.npu.memory_summary(0, abbreviated).splitlines(), named(theirs).splitlines()
    assert [line.split() for line in ours] == [line.split() for line in theirs]
    assert ours[5:] == theirs[5:]
    assert {len(line) for line in ours} == {77}


# -- the runtime alone ------------------------------------------------------------------------------------------------------

ALONE = Path(__file__).with_name("npu_alone.py").read_text()


@pytest.mark.parametrize("settings", ["", SIMULATED + ",priorities=1"])
def test_the_runtime_alone_keeps_the_same_contracts(settings):
    """Nothing but the standard library and the sources of mindtorch-npu can be imported."""
    environment = {simulator.VARIABLE: settings} if settings else {}
    source = str(ROOT / "packages" / "mindtorch-npu" / "src")
    lines = in_process(ALONE, environment, [source], ("-S", "-s"))
    expected = ["True True npu", "True True", "NPU out of memory", "Ascend (0, 0)"]
    expected += ["True 0", "None", "(7, 0)"] if settings else ["False 1", "NpuUnavailableError", "(0, 0)"]
    assert lines == [*expected, "alone"]
