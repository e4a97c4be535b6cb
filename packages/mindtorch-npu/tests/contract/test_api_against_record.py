"""`torch.npu` and `torch.accelerator` against what `tools/record_cuda_oracle` wrote down of torch."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import AclError, memory  # noqa: E402

RECORD = json.loads((Path(__file__).parent / "cuda_oracle.json").read_text())

RENAMED = {
    "CUDAGraph": "NPUGraph",
    "CUDAPluggableAllocator": "NPUPluggableAllocator",
    "CudaError": "AclError",
    "DeferredCudaCallError": "DeferredNpuCallError",
}
LEFT_OUT = {
    # Kernels and tools of NVIDIA's.
    "GreenContext", "cudaStatus", "cudart", "jiterator", "nccl", "profiler", "sparse", "tunable", "gds",
    # Old types by name.
    *(f"{kind}{what}" for what in ("Tensor", "Storage") for kind in (
        "BFloat16", "Bool", "Byte", "Char", "ComplexDouble", "ComplexFloat", "Double", "Float", "Half", "Int", "Long", "Short"
    )),
}  # fmt: skip
NAMES = [name for name in RECORD["names"]["torch.cuda"] if name not in LEFT_OUT]

OTHERWISE = {
    "check_error", "get_device_capability", "is_bf16_supported", "get_device_properties", "graph",
    "memory._record_memory_history", "memory._snapshot", "memory._dump_snapshot", "set_stream", "get_sync_debug_mode",
    "memory._save_segment_usage", "memory._save_memory_usage", "get_stream_from_external", "nvtx.range",
    "memory._set_allocator_settings", "graph_pool_handle", "random.set_rng_state",
}  # fmt: skip
"""Functions whose parameters are looked at below: names are torch's, kinds or defaults have their reason."""


def function(name):
    found = torch.npu
    for part in name.split("."):
        found = getattr(found, RENAMED.get(part, part), None)
    return found


FUNCTIONS = [n for n in RECORD["signatures"] if n.split(".")[0] not in LEFT_OUT and inspect.isfunction(function(n))]


def shown(default):
    return None if default is None else default.replace("cuda", "npu")


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_there(npu, name):
    torch.npu.init()
    assert getattr(torch.npu, RENAMED.get(name, name)) is not None


@pytest.mark.parametrize("name", [n for n in NAMES if n not in RENAMED and n != "default_generators"])
def test_every_name_is_public(name):
    assert name in torch.npu.__all__


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in OTHERWISE])
def test_parameters_are_torchs(name):
    ours = [
        [p.name, p.kind.name, None if p.default is p.empty else repr(p.default)]
        for p in inspect.signature(function(name)).parameters.values()
    ]
    theirs = [[each, kind, shown(default)] for each, kind, default in RECORD["signatures"][name]]
    assert ours == theirs


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n in OTHERWISE and n not in ("check_error", "nvtx.range")])
def test_parameters_have_torchs_names_and_may_be_more(name):
    ours = [p for p in inspect.signature(function(name)).parameters.values() if p.kind is not p.VAR_KEYWORD]
    theirs = [each for each, kind, _ in RECORD["signatures"][name] if kind != "VAR_KEYWORD"]
    known = [p.name for p in ours]
    rest = any(p.kind is p.VAR_KEYWORD for p in inspect.signature(function(name)).parameters.values())
    assert [each for each in theirs if each in known] == [each for each in known if each in theirs]
    missing = [each for each in theirs if each not in known]
    allowed = {"cuda_graph", "msg", "range_id", "env", "capture_error_mode", "new_state"}
    assert rest or set(missing) <= allowed


MEMBERS = [
    (cls, member)
    for cls, found in RECORD["classes"].items()
    for member in found["members"]
    if cls != "graph"  # it has an attribute alone
]


@pytest.mark.parametrize(("cls", "member"), MEMBERS)
def test_classes_have_torchs_members(npu, cls, member):
    ours = inspect.getattr_static(getattr(torch.npu, RENAMED.get(cls, cls)), member.replace("cuda", "npu"))
    theirs = RECORD["classes"][cls]["members"][member]
    if theirs == "property":
        assert isinstance(ours, property)
    elif theirs is not None:
        ours = getattr(ours, "__func__", ours)
        names = [p.name for p in inspect.signature(ours).parameters.values() if p.name not in ("self", "cls")]
        assert names == [each for each, _, _ in theirs if each != "cls"]


@pytest.mark.parametrize("short", ["True", "False"])
def test_summary_of_the_same_numbers_is_the_same_table(npu, monkeypatch, short):
    monkeypatch.setattr(memory, "memory_stats", lambda device=None: RECORD["summary"]["numbers"])
    theirs = RECORD["summary"]["texts"][short]
    for one, other in (
        ("PyTorch CUDA memory summary, device ID 0 ", "PyTorch NPU memory summary, device ID 0  "),
        ("CUDA OOMs: 3            |", "NPU OOMs: 3            |"),
        ("cudaMalloc", "npuMalloc"),
        ("| GPU reserved memory  ", "| Reserved memory      "),
        ("GPU reserved", "NPU reserved"),
        ("GPU segments", "NPU segments"),
    ):
        assert one in theirs
        theirs = theirs.replace(one, other)
    ours = memory.memory_summary(0, short == "True")
    assert [line.split() for line in ours.splitlines()] == [line.split() for line in theirs.splitlines()]
    assert ours.splitlines()[5:] == theirs.splitlines()[5:]


@pytest.mark.parametrize("key", sorted(RECORD["summary"]["numbers"]))
def test_every_number_of_the_summary_is_a_statistic(npu, key):
    torch.npu.init()
    assert isinstance(torch.npu.memory_stats()[key], int)


SEGMENT = [
    "address",
    "total_size",
    "stream",
    "segment_type",
    "segment_pool_id",
    "allocated_size",
    "active_size",
    "blocks",
]


@pytest.fixture
def snapshot(npu):
    torch.npu.memory._record_memory_history()
    kept = torch.ones(100, device="npu")
    torch.ones(3, device="npu").sum().item()
    yield torch.npu.memory._snapshot()
    torch.npu.memory._record_memory_history(None)
    assert kept.numel() == 100


@pytest.mark.parametrize("field", RECORD["documented_snapshot"].get("Segment", SEGMENT))
def test_segments_have_the_documented_fields(snapshot, field):
    assert all(field in segment for segment in snapshot["segments"])


@pytest.mark.parametrize(
    "field", RECORD["documented_snapshot"].get("Block", ["size", "requested_size", "address", "state", "frames"])
)
def test_blocks_have_the_documented_fields(snapshot, field):
    assert all(field in block for segment in snapshot["segments"] for block in segment["blocks"])


@pytest.mark.parametrize("field", ["action", "addr", "frames", "size", "stream", "time_us", "pool_id"])
def test_entries_have_the_documented_fields(snapshot, field):
    entries = [entry for trace in snapshot["device_traces"] for entry in trace]
    assert {entry["action"] for entry in entries} >= {"alloc", "free_requested", "free_completed", "segment_alloc"}
    assert all(field in entry for entry in entries)


@pytest.mark.parametrize("field", ["segments", "device_traces", "allocator_settings", "external_annotations"])
def test_snapshots_have_the_documented_parts(snapshot, field):
    assert field in snapshot


TRIGGERS = {
    ("can_device_access_peer", "Invalid device id"): lambda n: n.can_device_access_peer(7, 0),
    ("can_device_access_peer", "Invalid peer device id"): lambda n: n.can_device_access_peer(0, 7),
    ("get_device_properties", "Invalid device id"): lambda n: n.get_device_properties(7),
    ("set_sync_debug_mode", "invalid value of debug_mode, expected one of `default`, `warn`, `error`"): lambda n: (
        n.set_sync_debug_mode("loud")
    ),
    ("_get_device_index", "Expected a cuda device, but got: {}"): lambda n: n.synchronize("cpu"),
    (
        "caching_allocator_alloc",
        "Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a pointer to an existing stream",
    ): lambda n: n.caching_allocator_alloc(512, stream="x"),
    ("set_per_process_memory_fraction", "Invalid type for fraction argument, must be `float`"): lambda n: (
        n.set_per_process_memory_fraction(1)
    ),
    ("set_per_process_memory_fraction", "Invalid fraction value: {}. Allowed range: 0~1"): lambda n: (
        n.set_per_process_memory_fraction(2.0)
    ),
}
FILLED = {"Expected a cuda device, but got: {}": "cpu", "Invalid fraction value: {}. Allowed range: 0~1": "2.0"}


@pytest.mark.parametrize("where", TRIGGERS, ids=lambda where: where[0])
def test_errors_are_torchs(npu, where):
    kinds = [kind for _, name, kind, text in RECORD["raised"] if (name, text) == where]
    assert kinds, "the record has no such error"
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the type and the text are compared below
        TRIGGERS[where](torch.npu)
    assert type(caught.value).__name__ == kinds[0]
    expected = where[1].replace("{}", FILLED.get(where[1], "")).replace("cuda", "npu")
    assert str(caught.value).splitlines()[0] == expected


SAYS_NO = {
    "NPUGraph(keep_graph)": lambda n: n.NPUGraph(keep_graph=True),
    "NPUGraph.capture_begin(check_input_liveness)": lambda n: n.NPUGraph().capture_begin(check_input_liveness=True),
    "NPUGraph.enable_debug_mode": lambda n: n.NPUGraph().enable_debug_mode(),
    "NPUGraph.debug_dump": lambda n: n.NPUGraph().debug_dump("graph.dot"),
    "NPUGraph.get_graph_data": lambda n: n.NPUGraph().get_graph_data(),
    "graph(enable_annotations)": lambda n: n.graph(n.NPUGraph(), enable_annotations=True),
    "current_solver_handle": lambda n: n.current_solver_handle(),
    "ipc_handle": lambda n: n.Event(interprocess=True).ipc_handle(),
    "from_ipc_handle": lambda n: n.Event.from_ipc_handle(0, b""),
    "MemPool(no_split)": lambda n: n.MemPool(no_split=True),
}


@pytest.mark.parametrize("name", SAYS_NO)
def test_what_is_not_supported_says_so(npu, name):
    with pytest.raises(NotImplementedError, match=r"torch\.npu|not supported"):
        SAYS_NO[name](torch.npu)


@pytest.mark.parametrize("name", ["temperature", "power_draw", "clock_rate"])
def test_what_the_simulator_has_not_says_so(npu, name):
    with pytest.raises(RuntimeError, match="simulated"):
        getattr(torch.npu, name)()


@pytest.mark.parametrize("code", [107001, 207001, 507015, 161002])
def test_check_error_names_the_code(code):
    with pytest.raises(AclError, match=str(code)) as caught:
        torch.npu.check_error(code)
    assert caught.value.code == code
    assert torch.npu.check_error(0) is None


@pytest.mark.parametrize("name", RECORD["accelerator"])
def test_accelerator_has_torchs_names(name):
    assert name in torch.accelerator.__all__
    assert hasattr(torch.accelerator, name)


ACCELERATOR = {
    "is_available": lambda a, n: a.is_available() is True,
    "current_accelerator": lambda a, n: str(a.current_accelerator()) == "npu",
    "device_count": lambda a, n: a.device_count() == n.device_count() == 2,
    "current_device_index": lambda a, n: a.current_device_index() == n.current_device() == 0,
    "set_device_index": lambda a, n: (a.set_device_index(1), n.current_device())[1] == 1,
    "current_stream": lambda a, n: a.current_stream() == n.current_stream(),
    "set_stream": lambda a, n: (a.set_stream(s := n.Stream()), n.current_stream() == s)[1],
    "synchronize": lambda a, n: a.synchronize() is None,
    "memory_allocated": lambda a, n: a.memory_allocated() == n.memory_allocated() == 0,
    "memory_reserved": lambda a, n: a.memory_reserved() == n.memory_reserved(),
    "max_memory_allocated": lambda a, n: a.max_memory_allocated() == n.max_memory_allocated(),
    "max_memory_reserved": lambda a, n: a.max_memory_reserved() == n.max_memory_reserved(),
    "memory_stats": lambda a, n: a.memory_stats() == n.memory_stats(),
    "empty_cache": lambda a, n: (torch.ones(2, device="npu").cpu(), a.empty_cache(), n.memory_reserved())[2] == 0,
    "reset_peak_memory_stats": lambda a, n: (
        torch.ones(2, device="npu").cpu(), a.reset_peak_memory_stats(), n.max_memory_allocated()
    )[2] == 0,
    "reset_accumulated_memory_stats": lambda a, n: (
        torch.ones(2, device="npu").cpu(), a.reset_accumulated_memory_stats(),
        n.memory_stats()["allocation.all.allocated"],
    )[2] == 0,
    "get_memory_info": lambda a, n: a.get_memory_info() == n.mem_get_info(),
}  # fmt: skip


@pytest.mark.parametrize("name", ACCELERATOR)
def test_accelerator_answers_for_the_device(npu, name):
    torch.npu.init()
    assert ACCELERATOR[name](torch.accelerator, torch.npu)


def test_accelerator_index_within_a_block(npu):
    with torch.accelerator.device_index(1):
        assert torch.npu.current_device() == 1
    assert torch.npu.current_device() == 0


def test_the_record_says_where_it_is_from():
    assert RECORD["source"]
    assert (RECORD["seen"] is None) == ("no CUDA device" in RECORD["source"])
    assert RECORD["torch"].startswith("2.13")
