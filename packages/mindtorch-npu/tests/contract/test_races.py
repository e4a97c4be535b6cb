"""Bytes that two streams use without an order between them: the simulator says so, and only then."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import AclError  # noqa: E402

from ..simulated import simulated  # noqa: E402


@pytest.fixture
def watched(monkeypatch):
    """A device that looks for races."""
    with simulated(monkeypatch, "Ascend910B3:2,memory=512MiB,races=1") as machine:
        torch.npu.init()
        yield machine


def start():
    """A tensor that the default stream has made."""
    return torch.arange(8.0, device="npu") + 0


def side():
    return torch.npu.Stream()


def test_reading_before_the_event_is_a_race(watched):
    x, stream = start(), side()
    with (
        pytest.raises(AclError, match=r"race: aclnnMuls on stream \d+ reads what aclnnAdds on stream \d+ writes"),
        torch.npu.stream(stream),
    ):
        x * 2
    assert len(watched.races.found) == 1


def test_writing_while_another_reads_is_a_race(watched):
    x, stream = start(), side()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x * 2
    with pytest.raises(AclError, match="writes what aclnnMuls"):
        x.add_(1)
    assert y.numel() == 8


def test_two_writers_are_a_race(watched):
    x, stream = start(), side()
    with pytest.raises(AclError, match="race"), torch.npu.stream(stream):
        x.zero_()


def test_a_copy_is_watched_too(watched):
    x, stream = start(), side()
    with pytest.raises(AclError, match=r"race: rt\.memcpy_async"), torch.npu.stream(stream):
        x.cpu()


def test_other_parts_of_one_tensor_are_no_race(watched):
    x, stream = torch.zeros(8, device="npu"), side()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        x[:4].add_(1)
    x[4:].add_(2)
    torch.npu.synchronize()
    assert x.cpu().tolist() == [1] * 4 + [2] * 4
    assert not watched.races.found


def test_two_readers_are_no_race(watched):
    x, stream = start(), side()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x * 2
    z = x * 3
    torch.npu.synchronize()
    assert (y.cpu() + z.cpu()).tolist() == [5.0 * n for n in range(8)]


@pytest.mark.parametrize(
    "way",
    ["wait_stream", "wait_event", "event.wait", "stream.synchronize", "event.synchronize", "device", "item", "third"],
)
def test_what_puts_streams_in_order(watched, way):
    x, stream, here = start(), side(), torch.npu.current_stream()
    if way == "wait_stream":
        stream.wait_stream(here)
    elif way == "wait_event":
        stream.wait_event(here.record_event())
    elif way == "event.wait":
        event = torch.npu.Event()
        event.record()
        event.wait(stream)
    elif way == "stream.synchronize":
        here.synchronize()
    elif way == "event.synchronize":
        here.record_event().synchronize()
    elif way == "device":
        torch.npu.synchronize()
    elif way == "item":
        x.sum().item()
    else:
        third = side()
        third.wait_stream(here)
        stream.wait_stream(third)
    with torch.npu.stream(stream):
        y = x * 2
    here.wait_stream(stream)
    assert y.cpu().tolist() == [2.0 * n for n in range(8)]
    assert not watched.races.found


def test_an_event_recorded_too_early_does_not_help(watched):
    stream, here = side(), torch.npu.current_stream()
    event = here.record_event()
    x = start()
    stream.wait_event(event)
    with pytest.raises(AclError, match="race"), torch.npu.stream(stream):
        x * 2


def test_memory_that_another_stream_still_reads_is_not_given_out_when_that_was_recorded(watched):
    x, stream = torch.zeros(1 << 20, device="npu"), side()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x * 2
    x.record_stream(stream)
    address = x.data_ptr()
    del x
    other = torch.ones(1 << 20, device="npu")
    assert other.data_ptr() != address or stream.query()
    assert not watched.races.found
    assert y.numel() == 1 << 20


def test_memory_used_again_too_early_is_a_race(watched):
    x, stream = torch.zeros(1 << 20, device="npu"), side()
    stream.wait_stream(torch.npu.current_stream())
    with torch.npu.stream(stream):
        y = x * 2
    address = x.data_ptr()
    del x  # without record_stream
    with pytest.raises(AclError, match="race"):
        torch.ones(1 << 20, device="npu")
    assert address
    assert y.numel() == 1 << 20


def test_a_training_has_no_race(watched):
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.LayerNorm(16), torch.nn.Linear(16, 4)
    ).to("npu")
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(3):
        x = torch.randn(6, 8).pin_memory().to("npu", non_blocking=True)
        loss = torch.nn.functional.cross_entropy(model(x), (torch.arange(6) % 4).to("npu"))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() > 0
    assert not watched.races.found


def test_without_the_setting_nothing_is_watched(npu):
    assert npu.races is None
    x, stream = start(), side()
    with torch.npu.stream(stream):
        y = x * 2
    torch.npu.synchronize()
    assert y.numel() == 8
