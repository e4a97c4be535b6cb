"""`torch.cuda` without CUDA, call by call beside torch's CPU build."""

import pytest

import mindtorch.cuda as ours

from .module_parity import assert_same_call, assert_same_interface

torch = pytest.importorskip("torch", reason="oracle")
theirs = torch.cuda

# CUDA's own programs and files.
MISSING = {"sparse", "tunable", "GreenContext"}

CALLS = """
c.is_available()
c.device_count()
c.is_initialized()
c.init()
c.caching_allocator_alloc(8)
c.caching_allocator_alloc(8, stream="x")
c.caching_allocator_delete(3)
c.caching_allocator_delete()
c.caching_allocator_enable(False)
entered(c.caching_allocator_disabled())
c.can_device_access_peer(0, 1)
c.can_device_access_peer()
c.change_current_allocator(None)
c.check_error(0)
c.check_error(2)
c.CudaError(2)
c.CudaError()
c.cudaStatus.SUCCESS, c.cudaStatus.ERROR_NOT_READY
c.cudart()
c.current_device()
c.current_blas_handle()
c.current_solver_handle()
c.set_device(0)
c.set_device(-1)
c.set_device("cuda")
c.set_device("cuda:0")
c.set_device("cpu")
c.set_device(None)
c.set_device(1.5)
c.set_device()
c.get_device_name("cpu")
c.get_device_name(0)
c.get_device_properties(0)
c.get_device_capability(0)
c.get_arch_list(), c.get_gencode_flags()
c.current_stream(0)
c.default_stream("cuda:0")
c.get_stream_from_external(3)
c.get_stream_from_external()
c.ExternalStream(3)
c.ExternalStream()
c.Stream()
c.Stream(0)
c.Stream(device="cuda:0", priority=-1)
c.Event()
c.Event(enable_timing=True)
c.Event(nothing=True)
c.Event.from_ipc_handle(0, b"")
c.CUDAGraph()
c.CUDAGraph(keep_graph=True)
c.graph(None)
c.graph()
c.graph_pool_handle()
c.make_graphed_callables(None, ())
c.is_current_stream_capturing()
c.graphs.is_current_stream_capturing()
c.MemPool()
c.CUDAPluggableAllocator("a", "b", "c")
c.CUDAPluggableAllocator()
c.StreamContext(None).stream, c.StreamContext(None).idx
entered(c.StreamContext(5))
entered(c.stream(None))
entered(c.stream(object()))
c.StreamContext()
c.set_stream(None)
c.set_stream(object())
c.device(None).idx, c.device("cuda").idx, c.device("cuda:3").idx, c.device(-1).idx, c.device(1.5).idx
c.device("cpu")
c.device()
entered(c.device(0))
entered(c.device(-1))
entered(c.device(None))
entered(c.device("cuda:1"))
c.device_of(3)
c.get_per_process_memory_fraction(0)
c.set_per_process_memory_fraction(0.5)
c.set_per_process_memory_fraction(1)
c.set_sync_debug_mode(0)
c.set_sync_debug_mode("bad")
c.get_sync_debug_mode()
c.manual_seed(3)
c.manual_seed("x")
c.manual_seed(2.7)
c.manual_seed()
c.manual_seed_all(3)
c.manual_seed_all("x")
c.seed(), c.seed_all()
c.initial_seed()
c.get_rng_state(0)
c.get_rng_state("cpu")
c.get_rng_state_all()
c.set_rng_state_all([])
c.set_rng_state_all([1])
c.set_rng_state()
c.mem_get_info(0)
c.memory_allocated(0), c.memory_allocated("cpu"), c.memory_allocated("cuda:5"), c.max_memory_allocated()
c.memory_reserved(), c.max_memory_reserved(), c.empty_cache()
c.memory_cached()
c.max_memory_cached()
c.memory_stats(0), c.memory_stats_as_nested_dict(), c.host_memory_stats(), c.host_memory_stats_as_nested_dict()
c.memory_summary(0, True)
c.memory_snapshot()
c.reset_max_memory_allocated()
c.reset_max_memory_cached()
c.reset_peak_memory_stats(0)
c.reset_accumulated_memory_stats()
c.reset_accumulated_host_memory_stats()
c.reset_peak_host_memory_stats()
c.list_gpu_processes(0)
entered(c.use_mem_pool(None))
c.get_allocator_backend()
c.synchronize(0)
c.ipc_collect()
c.utilization(0)
c.memory_usage(0)
c.device_memory_used()
c.temperature()
c.power_draw()
c.clock_rate()
c.is_bf16_supported(False), c.is_tf32_supported(), c.has_half, c.has_magma, c.default_generators
c.memory._record_memory_history()
c.memory._snapshot()
c.memory._dump_snapshot("x")
c.memory._get_current_allocator()
c.nvtx.mark("x")
c.nvtx.range_push("x")
c.nvtx.range_pop()
c.nvtx.range_start("x")
c.nvtx.range_end(1)
entered(c.nvtx.range("x"))
c.profiler.start()
entered(c.profiler.profile())
c.nccl.version()
c.nccl.unique_id()
c.nccl.is_available([])
c.amp.autocast()
c.amp.autocast(enabled=False)
c.amp.GradScaler()
c.amp.GradScaler(enabled=False).is_enabled()
c.amp.custom_fwd(len).__name__
c.amp.custom_bwd(len).__name__
c.amp.amp_definitely_not_available()
c.amp.nothing
c._is_in_bad_fork(), c._is_compiled(), c._nvml_based_avail()
c._lazy_init()
c._lazy_call(lambda: 3)
c._get_device_index(None, optional=True), c._get_device_index("cuda:1"), c._get_device_index("cpu", allow_cpu=True)
c._get_device_index(None)
c._get_device_index("mps", allow_cpu=True)
c._exchange_device(0)
c._exchange_device(-2)
c._sleep(3)
c.FloatTensor, c.BFloat16Storage
c.FloatTensor(3)
c.FloatTensor.__mro__
isinstance(3, c.FloatTensor), isinstance(3, c.FloatStorage)
c.OutOfMemoryError, c.OutOfMemoryError.__mro__, c.AcceleratorError.__mro__, c.DeferredCudaCallError.__mro__
c.nothing
c.memory.nothing
c.Stream.__mro__[0].__module__, c.CUDAGraph.__mro__[0], c.Event.__mro__[0], c.MemPool
"""


@pytest.mark.parametrize("call", CALLS.strip().splitlines())
def test_call(call):
    assert_same_call(call, ours, theirs)


def test_every_name_is_there():
    assert set(theirs.__all__) - set(ours.__all__) == MISSING
    assert set(ours.__all__) <= set(theirs.__all__)
    assert len(ours.__all__) == len(set(ours.__all__))


@pytest.mark.parametrize("name", sorted(set(theirs.__all__) - MISSING))
def test_interface(name):
    assert_same_interface(name, ours, theirs)


def test_only_the_last_seed_is_kept():
    before = len(ours._lazy.queue.calls)
    for seed in range(1000):
        ours.manual_seed(seed)
        ours.manual_seed_all(seed)
    assert len(ours._lazy.queue.calls) == before


def test_set_rng_state_copies():
    class State:
        def clone(self):
            return "copy"

    assert ours.set_rng_state(State()) is None
