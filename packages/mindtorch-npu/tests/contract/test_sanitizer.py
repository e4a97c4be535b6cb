"""The sanitizer of streams, and what it is told: torch_npu's `TORCH_NPU_SANITIZER=1` on simulated devices."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch._torch_npu import memory  # noqa: E402
from mindtorch.cuda import _sanitizer as csan  # noqa: E402
from mindtorch.npu import _sanitizer, _stream_check  # noqa: E402
from mindtorch_npu import tracing  # noqa: E402


@pytest.fixture
def handler(npu):
    """What a new sanitizer knows; it ends with the test."""
    handler = _stream_check.NPURecordStreamHandler()
    mode = _stream_check.NPUSanitizerDispatchMode(handler)
    tracing.listen(
        lambda name, *numbers: None if name.startswith("acl") else getattr(handler, f"_handle_{name}")(*numbers)
    )
    with mode:
        yield handler
    tracing.listen(None)


def used_elsewhere(stream, x):
    with torch.npu.stream(stream):
        return x + 1


def test_a_race_is_raised_with_both_kernels(handler, capsys):
    x = torch.ones(4, device="npu")
    with pytest.raises(csan.CUDASanitizerErrors, match="detected 1 errors"):
        used_elsewhere(torch.npu.Stream(), x)
    said = capsys.readouterr().err
    assert "possible data race" in said
    assert "aten::add.Tensor" in said
    assert "test_sanitizer.py" in said


@pytest.mark.parametrize("wait", ["stream", "event", "device", "host"])
def test_whoever_waits_does_not_race(handler, wait):
    x, stream, here = torch.ones(4, device="npu"), torch.npu.Stream(), torch.npu.current_stream()
    if wait == "stream":
        stream.wait_stream(here)
    elif wait == "event":
        event = torch.npu.Event()
        event.record()
        event.wait(stream)
    elif wait == "device":
        torch.npu.synchronize()
    else:
        here.synchronize()
    result = used_elsewhere(stream, x)
    stream.synchronize()
    assert result.tolist() == [2.0] * 4


def test_memory_that_another_stream_used_is_missed_when_it_is_gone(handler, capsys):
    x, stream = torch.ones(4, device="npu"), torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    used_elsewhere(stream, x)
    assert [one.usage_stream for one in handler.flush_record_stream_warnings()] == [stream.npu_stream]
    del x
    assert len(handler.record_stream_errors) == 2
    assert "missing record_stream" in capsys.readouterr().err


def test_recorded_and_erased_streams(handler):
    x, stream = torch.ones(4, device="npu"), torch.npu.Stream()
    stream.wait_stream(torch.npu.current_stream())
    used_elsewhere(stream, x[1:])
    x.record_stream(stream)
    assert not handler.flush_record_stream_warnings()
    memory.erase_stream(x, stream)
    assert len(handler.flush_record_stream_warnings()) == 1
    torch.npu.current_stream().wait_stream(stream)
    assert not handler.flush_record_stream_warnings()


def test_nothing_is_told_without_a_listener(npu):
    told = []
    tracing.listen(lambda *what: told.append(what[0]))
    torch.npu.synchronize()
    tracing.listen(None)
    torch.npu.synchronize()
    assert told == ["device_synchronization"]


def test_kernels_that_check_themselves_need_their_folder(npu, capsys, monkeypatch):
    monkeypatch.delenv("ASCEND_OPP_DEBUG_PATH", raising=False)
    assert not _sanitizer.NPUSanitizer().enable_kernel_check()
    assert "ASCEND_OPP_DEBUG_PATH is not set" in capsys.readouterr().out


def test_the_copy_of_the_operators_has_the_checking_kernels(npu, tmp_path, monkeypatch):
    from mindtorch.npu import _kernel_check

    kernels = "built-in/op_impl/ai_core/tbe/kernel"
    for folder in ("opp", "checking"):
        (tmp_path / folder / kernels).mkdir(parents=True)
        (tmp_path / folder / kernels / "which").write_text(folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_kernel_check.switches, "blocking", False)
    monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "0")
    monkeypatch.setenv("ASCEND_OPP_PATH", str(tmp_path / "opp"))
    monkeypatch.setenv("ASCEND_OPP_DEBUG_PATH", str(tmp_path / "checking"))
    for _ in range(2):  # a copy that was left behind is made anew
        manager = _kernel_check.KernelPathManager()
        manager.ascend_opp_path = str(tmp_path / "opp")
        manager.make_opp_debug_path()
    assert (tmp_path / "opp_debug_path" / kernels / "which").read_text() == "checking"
    manager.clear_debug_env()
    assert (tmp_path / "checking" / kernels / "which").exists()
    assert not (tmp_path / "opp_debug_path").exists()
