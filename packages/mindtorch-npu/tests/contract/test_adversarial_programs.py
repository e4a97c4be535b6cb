"""Programs that misuse streams, events, graphs, pools, copies and kinds of numbers: each is right, or refused as torch does.

What a device refuses carries the code that the vendor's documents give for it, in the phase where it is given: 161002 before
a launch, 107027 and 507903 of a recording, 107001 of a device that is not there, 507015 after a launch.
"""

from __future__ import annotations

import gc
import threading

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch_npu import AclError  # noqa: E402
from mindtorch_npu.acl import recording  # noqa: E402

npu_ = torch.npu
F = torch.nn.functional
RIGHT, REFUSED = {}, {}


@pytest.fixture(autouse=True)
def own_capture_stream(npu):
    npu_.graph.default_capture_stream = None
    yield
    recording.recorded.clear()
    npu_.graph.default_capture_stream = None


def right(function):
    """Keep a program whose answer is to be true."""
    RIGHT[function.__name__] = function
    return function


def refused(error, text):
    """Keep a program that is to be refused."""

    def keep(function):
        REFUSED[function.__name__] = (function, error, text)
        return function

    return keep


def ones(*shape, **options):
    return torch.ones(*shape, device="npu", **options)


def there(*values):
    return torch.tensor(values, device="npu")


@right
def a_result_of_a_side_stream():
    side, x = npu_.Stream(), ones(1000)
    with npu_.stream(side):
        side.wait_stream(npu_.default_stream())
        y = x * 3
    side.synchronize()
    return float(y.sum()) == 3000


@right
def a_wait_for_an_event_that_was_never_recorded():
    event, side = npu_.Event(), npu_.Stream()
    side.wait_event(event)
    event.synchronize()
    return event.query()


@refused(ValueError, "Both events must be created with argument 'enable_timing=True'")
def the_time_between_events_without_one():
    first, second = npu_.Event(), npu_.Event()
    first.record(), second.record()
    npu_.synchronize()
    first.elapsed_time(second)


@refused(ValueError, "Both events must be recorded before calculating elapsed time")
def the_time_to_an_event_that_was_not_recorded():
    first, second = npu_.Event(enable_timing=True), npu_.Event(enable_timing=True)
    first.record()
    first.elapsed_time(second)


@right
def an_event_of_another_device_is_waited_for():
    event = npu_.Event()
    event.record(npu_.Stream(0))
    other = npu_.Stream(1)
    other.wait_event(event)
    other.synchronize()
    return event.query()


@refused(RuntimeError, "Event device 0 does not match recording stream's device 1")
def an_event_recorded_on_two_devices():
    event = npu_.Event()
    event.record(npu_.Stream(0))
    event.record(npu_.Stream(1))


@right
def a_stream_of_another_device_sets_it():
    with npu_.stream(npu_.Stream(1)):
        x = ones(3)
    return x.device.index == 1 and npu_.current_device() == 0


MIXED = "Expected all tensors to be on the same device, but found at least two devices, npu:0 and "


@refused(RuntimeError, MIXED + "npu:1")
def a_sum_of_two_devices():
    return torch.ones(3, device="npu:0") + torch.ones(3, device="npu:1")


@refused(RuntimeError, MIXED + "npu:1")
def a_product_of_two_devices():
    return torch.ones(3, 3, device="npu:0") @ torch.ones(3, 3, device="npu:1")


@refused(RuntimeError, MIXED + "cpu")
def a_sum_with_the_host():
    return ones(3) + torch.ones(3)


@right
def a_number_of_the_host():
    return (ones(3) + torch.tensor(2.0)).tolist() == [3, 3, 3]


@right
def places_that_lie_on_the_host():
    return ones(3)[torch.tensor([0, 2])].tolist() == [1, 1]


@refused(RuntimeError, "indices should be either on cpu or on the same device as the indexed tensor")
def places_that_lie_on_another_device():
    return torch.ones(3, device="npu:0")[torch.tensor([0], device="npu:1")]


@refused(RuntimeError, MIXED + "cpu")
def a_result_written_to_the_host():
    torch.add(ones(3), 1, out=torch.empty(3))


@refused(RuntimeError, MIXED + "npu:1")
def a_result_written_to_another_device():
    torch.add(ones(3), 1, out=torch.empty(3, device="npu:1"))


@right
def a_copy_between_devices_whose_source_is_freed():
    x = torch.arange(5.0, device="npu:0")
    y = x.to("npu:1", non_blocking=True)
    del x
    torch.zeros(5, device="npu:0")
    npu_.synchronize(1)
    return y.tolist() == [0, 1, 2, 3, 4]


@refused(AclError, "107001")
def a_tensor_on_a_device_that_is_not_there():
    torch.ones(3, device="npu:7")


@refused(AclError, "107001")
def a_device_that_is_not_there():
    npu_.set_device(5)


@right
def memory_that_a_stream_still_uses_is_not_given_out():
    side, x = npu_.Stream(), ones(1 << 20)
    with npu_.stream(side):
        side.wait_stream(npu_.default_stream())
        y = x + 1
    x.record_stream(side)
    del x
    torch.zeros(1 << 20, device="npu")
    side.synchronize()
    return float(y.sum()) == 2 << 20


@right
def memory_that_another_devices_stream_uses():
    x = torch.ones(1000, device="npu:0")
    x.record_stream(npu_.Stream(1))
    before = npu_.memory_reserved(0)
    del x
    npu_.synchronize(1)
    y = torch.ones(1000, device="npu:0")
    return npu_.memory_reserved(0) == before and float(y.sum()) == 1000


@refused(NotImplementedError, "Could not run 'aten::record_stream' with arguments from the 'CPU' backend")
def a_stream_recorded_by_memory_of_the_host():
    torch.ones(3).record_stream(npu_.current_stream())


@refused(RuntimeError, "unknown parameter type")
def a_number_for_a_stream():
    ones(3).record_stream(3)


@right
def streams_without_the_name_of_their_device():
    made = torch.Stream(device="npu"), torch.Stream(1)
    return isinstance(made[0], torch.npu.Stream) and made[1].device.index == 1 and isinstance(npu_.Event(), torch.Event)


@right
def pinned_memory_freed_during_a_copy():
    x = torch.arange(1 << 18, dtype=torch.float32).pin_memory()
    y = x.to("npu", non_blocking=True)
    del x
    torch.zeros(1 << 18).pin_memory()
    npu_.synchronize()
    return float(y[-1]) == (1 << 18) - 1


@right
def pinned_memory_that_a_copy_fills_later():
    x, host = torch.arange(1 << 16, dtype=torch.float32, device="npu"), torch.empty(1 << 16, pin_memory=True)
    host.copy_(x, non_blocking=True)
    npu_.synchronize()
    return float(host[-1]) == (1 << 16) - 1


@right
def plain_memory_that_a_copy_fills_at_once():
    return float(torch.arange(1 << 16, dtype=torch.float32, device="npu").to("cpu", non_blocking=True)[-1]) == 65535


@refused(RuntimeError, "only dense CPU tensors can be pinned")
def memory_of_the_device_pinned():
    ones(3).pin_memory()


@right
def memory_freed_out_of_order():
    kept = [torch.full((1000 + i,), float(i), device="npu") for i in range(200)]
    for i in [*range(0, 200, 3), *range(1, 200, 3)]:
        kept[i] = None
    fresh = [torch.full((997 + i,), float(-i), device="npu") for i in range(200)]
    ends = all(float(kept[i][0]) == i and float(kept[i][-1]) == i for i in range(2, 200, 3))
    return ends and all(float(fresh[i][0]) == -i for i in range(200))


@right
def a_program_that_goes_on_without_memory():
    with pytest.raises(torch.OutOfMemoryError, match=r"NPU out of memory\. Tried to allocate 4\.00 GiB"):
        torch.empty(1 << 30, device="npu")
    return float(ones(3).sum()) == 3


@refused(RuntimeError, "Storage size calculation overflowed")
def more_elements_than_there_are_bytes():
    torch.empty((1 << 40, 1 << 40), device="npu")


@right
def a_pool_gone_before_its_memory():
    pool = npu_.MemPool()
    with npu_.use_mem_pool(pool):
        x = ones(100)
    del pool
    gc.collect()
    return float(x.sum()) == 100


@right
def a_pool_within_another():
    outer, inner = npu_.MemPool(), npu_.MemPool()
    with npu_.use_mem_pool(outer):
        a = ones(10)
        with npu_.use_mem_pool(inner):
            b = ones(10)
        c = ones(10)
    return float((a + b + c).sum()) == 30


@refused(ValueError, "Invalid fraction value: 1.5")
def more_memory_than_there_is():
    npu_.set_per_process_memory_fraction(1.5)


def recorded(function, graph=None):
    graph = npu_.NPUGraph() if graph is None else graph
    with npu_.graph(graph):
        function()
    return graph


@right
def a_recording_reads_what_is_there_when_it_runs():
    x, made = ones(8), []
    graph = recorded(lambda: made.append(x * 2 + 1))
    x.fill_(5)
    graph.replay()
    return made[0].tolist() == [11] * 8


@refused(AclError, "107027|507903")
def a_value_asked_for_within_a_recording():
    x = ones(8)
    recorded(lambda: (x * 2).tolist())


@refused(AclError, "107027|507903")
def a_branch_on_a_value_within_a_recording():
    x = ones(8)
    recorded(lambda: x + 1 if x.sum() > 0 else x)


@refused(AclError, "507903|107027|107030")
def a_recording_within_another():
    recorded(lambda: recorded(lambda: ones(8)))


@refused(AclError, "107030|507903")
def a_plain_copy_within_a_recording():
    recorded(lambda: torch.ones(3).to("npu"))


@refused(RuntimeError, "Called NPUGraph::replay without a preceding successful capture")
def a_recording_run_before_it_is_made():
    npu_.NPUGraph().replay()


@refused(RuntimeError, "already owns a captured graph")
def a_recording_made_twice():
    x = ones(8)
    recorded(lambda: x + 2, recorded(lambda: x + 1))


@refused(RuntimeError, "Called NPUGraph::replay without a preceding successful capture")
def a_recording_run_after_its_reset():
    x = ones(8)
    graph = recorded(lambda: x + 1)
    graph.reset()
    graph.replay()


@right
def a_device_goes_on_after_a_recording_that_failed():
    x = ones(8)
    with pytest.raises(KeyError), npu_.graph(npu_.NPUGraph()):
        raise KeyError("the program's own")
    return float((x + 1).sum()) == 16


@right
def results_of_a_recording_that_are_freed_before_it_runs():
    x, made = ones(8), []
    graph = recorded(lambda: made.append((x + 1) * 2))
    gc.collect()
    torch.zeros(64, device="npu")
    graph.replay()
    return made[0].tolist() == [4] * 8


@right
def chances_differ_from_run_to_run_of_a_recording():
    made = []
    graph = recorded(lambda: made.append(torch.rand(100, device="npu")))
    seen = []
    for _ in range(2):
        graph.replay()
        seen.append(made[0].cpu().clone())
    return not torch.equal(*seen)


@right
def the_cache_emptied_within_a_recording():
    x = ones(8)
    recorded(lambda: (x + 1, npu_.empty_cache()))
    return float(x.sum()) == 8


@refused(AclError, "aclnnMmGetWorkspaceSize.*161002")
def doubles_multiplied():
    return ones(3, 3, dtype=torch.float64) @ ones(3, 3, dtype=torch.float64)


@refused(AclError, "aclnnConvolutionGetWorkspaceSize.*161002")
def doubles_convolved():
    F.conv2d(ones(1, 1, 4, 4, dtype=torch.float64), ones(1, 1, 2, 2, dtype=torch.float64))


@right
def doubles_added():
    return (ones(3, dtype=torch.float64) + 1).tolist() == [2, 2, 2]


@refused(AclError, "161002")
def complex_numbers_filled_in():
    ones(2, 2, dtype=torch.complex64)


@refused(AclError, "aclnnMmGetWorkspaceSize.*161002")
def integers_multiplied_as_matrices():
    return ones(2, 2, dtype=torch.int32) @ ones(2, 2, dtype=torch.int32)


@right
def truths_counted():
    return int(ones(5, dtype=torch.bool).sum()) == 5


@refused(NotImplementedError, "tensors of float8_e4m3fn do not exist on npu")
def eight_bits_with_a_point():
    ones(3).to(torch.float8_e4m3fn)


@refused(AclError, "161002")
def nine_dimensions_filled():
    ones(*[1] * 8, 2)


@refused(AclError, "aclnnInplaceCopyGetWorkspaceSize.*161002")
def nine_dimensions_turned_round():
    x = torch.arange(512.0, device="npu").reshape([2] * 9)
    x.permute(*range(8, -1, -1)).contiguous()


@refused(RuntimeError, "only tensors with up to 64 dims are supported")
def sixty_five_dimensions():
    ones(*[1] * 65)


@refused(ValueError, "there is no format 999")
def a_format_that_there_is_not():
    torch_npu.npu_format_cast(ones(4, 4), 999)


@refused(AclError, "507015")
def a_place_behind_the_end():
    x = ones(3)[there(5)]
    npu_.synchronize()
    x.tolist()


@refused(AclError, "507015")
def a_word_that_the_table_has_not():
    F.embedding(there(9), ones(3, 2))
    npu_.synchronize()


@refused(AclError, "507015")
def a_scatter_behind_the_end():
    torch.zeros(3, device="npu").scatter(0, there(7), 1.0)
    npu_.synchronize()


@refused(AclError, "507015")
def a_device_used_after_a_kernel_failed():
    F.embedding(there(9), ones(3, 2))
    with pytest.raises(AclError, match="507015"):
        npu_.synchronize()
    ones(3).tolist()


@refused(TypeError, "can't convert npu:0 device type tensor to numpy")
def an_array_of_the_devices_memory():
    ones(3).numpy()


@right
def a_tensor_that_grows():
    x = torch.empty(0, device="npu")
    return float(x.resize_(10).fill_(3).sum()) == 30


@refused(RuntimeError, "are out of bounds for storage of size 12")
def a_view_behind_the_end_of_its_memory():
    ones(3).as_strided((10,), (1,))


@refused(RuntimeError, "more than one element of the written-to tensor refers to a single memory location")
def one_element_written_three_times():
    ones(1).expand(3).add_(1)


@refused(RuntimeError, "some elements of the input tensor and the written-to tensor refer to a single memory location")
def a_tensor_copied_over_its_own_end():
    x = torch.arange(6.0, device="npu")
    x[1:].copy_(x[:-1])


@refused(RuntimeError, "some elements of the input tensor and the written-to tensor refer to a single memory location")
def a_result_over_its_own_operand():
    x = torch.arange(6.0, device="npu")
    torch.add(x[:-1], 1, out=x[1:])


@refused(RuntimeError, "Expected a 'npu' device type for generator but found 'cpu'")
def chances_of_the_hosts_generator():
    torch.rand(3, device="npu", generator=torch.Generator())


@refused(RuntimeError, "Expected a 'cpu' device type for generator but found 'npu'")
def the_devices_generator_for_the_host():
    torch.rand(3, generator=torch.Generator("npu"))


@right
def a_gradient_across_devices():
    x = torch.ones(3, device="npu:0", requires_grad=True)
    (x.to("npu:1") * 2).sum().backward()
    return x.grad.device.index == 0 and x.grad.tolist() == [2, 2, 2]


@right
def a_gradient_of_what_a_side_stream_made():
    side, x = npu_.Stream(), ones(1000, requires_grad=True)
    with npu_.stream(side):
        side.wait_stream(npu_.default_stream())
        y = (x * 3).sum()
    npu_.current_stream().wait_stream(side)
    y.backward()
    return float(x.grad.sum()) == 3000


@right
def threads_with_streams_of_their_own():
    seen = []

    def work(number):
        with npu_.stream(npu_.Stream()):
            x = torch.full((1000,), float(number), device="npu")
            seen.append(float((x * 2).sum()) == 2000 * number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    return seen == [True] * 8


@pytest.mark.parametrize("name", RIGHT)
def test_a_program_is_right(npu, name):
    assert RIGHT[name]() is True


@pytest.mark.parametrize("name", REFUSED)
def test_a_program_is_refused(npu, name):
    program, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        program()


def test_there_are_sixty_programs():
    assert len(RIGHT) + len(REFUSED) >= 60
