"""XPU, MPS, `torch.accelerator` without one, and `torch.cpu`, call by call beside torch's CPU build."""

import pytest

import mindtorch.accelerator
import mindtorch.cpu
import mindtorch.mps
import mindtorch.xpu

from .module_parity import assert_same_call, assert_same_interface

torch = pytest.importorskip("torch", reason="oracle")

MODULES = {
    "xpu": (mindtorch.xpu, torch.xpu),
    "mps": (mindtorch.mps, torch.mps),
    "accelerator": (mindtorch.accelerator, torch.accelerator),
    "cpu": (mindtorch.cpu, torch.cpu),
}

# What torch reads from the processor; nothing here needs it.
MISSING: dict[str, set[str]] = {}

CALLS = {
    "xpu": """
        c.is_available(), c.device_count(), c.is_initialized(), c.default_generators
        c.init()
        entered(c.device(0))
        entered(c.device(-1))
        c.device(0).__exit__(None, None, None)
        c.device("cpu")
        c.device("xpu:1").idx, c.device(None).idx
        c.device()
        c.device_of(3)
        c.set_device(0)
        c.set_device(-1)
        c.current_device()
        c.get_device_name(0)
        c.get_device_properties("cpu")
        c.get_device_capability()
        c.can_device_access_peer(0, 1)
        c.can_device_access_peer(0)
        c.get_arch_list(), c.get_gencode_flags()
        c.synchronize()
        c.utilization()
        c.memory_usage()
        c.device_memory_used()
        c.temperature()
        c.power_draw()
        c.clock_rate(0)
        c.Stream()
        c.Stream(0)
        c.Event(True)
        c.Event(1, 2)
        c.XPUGraph()
        c.MemPool()
        c.graph(None)
        c.graph_pool_handle()
        c.is_current_stream_capturing()
        c.make_graphed_callables(None, ())
        c.XPUPluggableAllocator("a", "b", "c")
        c.change_current_allocator(1)
        c.current_stream(0)
        c.get_stream_from_external(3)
        c.set_stream(None)
        entered(c.stream(None))
        entered(c.stream(4))
        c.StreamContext()
        c.is_bf16_supported(), c.is_tf32_supported()
        c.manual_seed(3), c.manual_seed_all(4), c.seed(), c.seed_all(), c.get_rng_state_all()
        c.manual_seed("x")
        c.initial_seed()
        c.get_rng_state("cpu")
        c.set_rng_state_all([1])
        c.empty_cache(), c.memory_stats("cpu"), c.memory_stats_as_nested_dict(), c.memory_snapshot()
        c.memory_allocated(), c.max_memory_allocated(), c.memory_reserved(0), c.max_memory_reserved()
        c.reset_accumulated_memory_stats()
        c.reset_peak_memory_stats()
        c.mem_get_info(0)
        c.set_per_process_memory_fraction(0.5)
        c.get_per_process_memory_fraction()
        entered(c.use_mem_pool(None))
        c._is_in_bad_fork(), c._is_compiled(), c._lazy_call(lambda: 1)
        c._lazy_init()
        c.nothing
    """,
    "mps": """
        c.is_available(), c.device_count(), c._is_in_bad_fork()
        c.synchronize()
        c.empty_cache()
        c.get_rng_state()
        c.set_rng_state(None)
        c.seed()
        c.manual_seed(3), c.manual_seed("x")
        c.manual_seed()
        c.set_per_process_memory_fraction(0.5)
        c.set_per_process_memory_fraction(1)
        c.set_per_process_memory_fraction(5.0)
        c.current_allocated_memory()
        c.driver_allocated_memory()
        c.recommended_max_memory()
        c.compile_shader("x")
        c.load_metallib("x")
        c.profiler.start()
        c.profiler.stop()
        entered(c.profiler.profile())
        entered(c.profiler.metal_capture("x"))
        c.profiler.is_metal_capture_enabled()
        c.profiler.is_capturing_metal()
        c._get_default_mps_generator()
        c.nothing
    """,
    "accelerator": """
        c.is_available(), c.device_count(), c.current_accelerator(), c.current_accelerator(check_available=True)
        c.current_device_index()
        c.current_device_idx()
        c.set_device_index(0)
        c.set_device_index(-1)
        c.set_device_index("cpu")
        c.set_device_index("cuda:0")
        c.set_device_index("bogus")
        c.set_device_index(None)
        c.set_device_idx(0)
        c.set_device_idx()
        c.current_stream(0)
        c.current_stream("cpu")
        c.synchronize()
        c.synchronize("cpu")
        c.get_device_capability()
        entered(c.device_index(None))
        entered(c.device_index(0))
        c.Graph()
        c.memory_stats(0)
        c.memory_stats(device_index=0)
        c.memory_allocated()
        c.max_memory_allocated()
        c.memory_reserved()
        c.max_memory_reserved()
        c.reset_accumulated_memory_stats()
        c.reset_peak_memory_stats()
        c.get_memory_info()
        c.empty_cache()
        c.empty_host_cache()
        c.nothing
    """,
    "cpu": """
        c.is_available(), c.is_initialized(), c.device_count(), c.current_device()
        c.synchronize("x"), c.set_device("x")
        c.Stream(3)
        c.Stream(priority=-1).wait_stream(None), c.Stream().record_event(), c.Stream().wait_event(None)
        c.Event().query(), c.Event().record(), c.Event().synchronize(), c.Event().wait()
        c.current_stream() is c.current_stream()
        c.amp.autocast()
        c.amp.autocast(enabled=False)
        c.amp.GradScaler()
        c.amp.GradScaler.__mro__
        entered(c.stream(c.Stream()))
        entered(c.stream(None))
        (lambda s: [entered(c.stream(s)), c.current_stream() is s])(c.Stream())
        (lambda m, s: [m.__enter__(), c.current_stream() is s, m.__exit__(None, None, None)])(*[f(x) for x in [c.Stream()] for f in (c.stream, lambda x: x)])
        c.nothing
    """,  # noqa: E501 - an expression is a line
}


@pytest.mark.parametrize(
    ("module", "call"), [(module, call.strip()) for module, text in CALLS.items() for call in text.strip().splitlines()]
)
def test_call(module, call):
    assert_same_call(call, *MODULES[module])


@pytest.mark.parametrize("module", MODULES)
def test_every_name_is_there(module):
    ours, theirs = MODULES[module]
    assert set(theirs.__all__) - set(ours.__all__) == MISSING.get(module, set())
    assert set(ours.__all__) <= set(theirs.__all__)
    assert len(ours.__all__) == len(set(ours.__all__))


@pytest.mark.parametrize(
    ("module", "name"),
    [(m, name) for m, (_, theirs) in MODULES.items() for name in sorted(set(theirs.__all__) - MISSING.get(m, set()))],
)
def test_interface(module, name):
    assert_same_interface(name, *MODULES[module])
