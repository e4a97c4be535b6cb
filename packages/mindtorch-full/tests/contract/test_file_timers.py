"""Timers whose requests go through a named pipe, and what a server does with them, beside torch's."""

import os
import signal
import subprocess
import time

import pytest

from mindtorch.distributed.elastic import timer

WAITING = 600


@pytest.fixture(params=["mindtorch", "torch"])
def timers(request):
    """The module of each library: both behave in the same way."""
    if request.param == "torch":
        pytest.importorskip("torch", reason="oracle")
        return pytest.importorskip("torch.distributed.elastic.timer")
    return timer


@pytest.fixture
def waiting():
    """A process that waits, ended in any case."""
    process = subprocess.Popen(["sleep", str(WAITING)])
    yield process
    process.kill()
    process.wait()


def carried_out(timers, path, requests):
    """Send requests to a server; return it after it carried them out, and the events that it told."""
    told = []
    server = timers.FileTimerServer(path, "run", 0.01, log_event=lambda name, request: told.append(name))
    server.start()
    client = timers.FileTimerClient(path)
    for request in requests:
        client._send_request(request)
    server.run_once()
    server.stop()
    return server, told


def test_requests_are_lines_of_text_as_torch_writes_them():
    pytest.importorskip("torch", reason="oracle")
    torchs = pytest.importorskip("torch.distributed.elastic.timer")
    ours, theirs = (module.FileTimerRequest(5, "scope", 1.5, 9) for module in (timer, torchs))
    assert ours.to_json() == theirs.to_json()
    assert ours == timer.FileTimerRequest(5, "scope", 1.5, 9)
    assert ours != timer.FileTimerRequest(5, "scope", 1.5)


def test_timers_are_held_and_given_back(timers, tmp_path):
    own, later = os.getpid(), time.time() + WAITING
    requests = [timers.FileTimerRequest(own, "kept", later), timers.FileTimerRequest(own, "returned", later),
                timers.FileTimerRequest(own, "returned", -1), timers.FileTimerRequest(own, "unknown", -1)]  # fmt: skip
    server, told = carried_out(timers, str(tmp_path / "pipe"), requests)
    assert set(server._timers) == {(own, "kept")}
    assert server._request_count == 4
    assert told == ["watchdog started", "watchdog stopped"]
    assert not (tmp_path / "pipe").exists()


# torch's server ends its own process too where the worker is its child: that cannot be tried from here.
def test_a_worker_that_holds_a_timer_for_too_long_gets_its_signal(tmp_path, waiting):
    requests = [timer.FileTimerRequest(waiting.pid, "late", time.time() - 1, signal.SIGTERM)]
    requests.append(timer.FileTimerRequest(waiting.pid, "in time", time.time() + WAITING, signal.SIGTERM))
    server, told = carried_out(timer, str(tmp_path / "pipe"), requests)
    assert waiting.wait() == -signal.SIGTERM
    assert server._timers == {}
    assert told[:3] == ["watchdog started", "timer expired", "kill worker process"]


def test_timers_of_a_process_that_ended_are_dropped(timers, tmp_path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    requests = [timers.FileTimerRequest(ended.pid, "held", time.time() + WAITING, signal.SIGTERM)]
    server, _ = carried_out(timers, str(tmp_path / "pipe"), requests)
    assert server._timers == {}


def test_a_block_that_takes_no_time_goes_on(timers, tmp_path):
    server = timers.FileTimerServer(str(tmp_path / "pipe"), "run", 0.01)
    server.start()
    client = timers.FileTimerClient(str(tmp_path / "pipe"))
    with timers.expires(after=WAITING, scope="block", client=client):
        pass
    server.run_once()
    assert server._timers == {}
    assert server._request_count == 2
    server.stop()


def test_nobody_reads(timers, tmp_path):
    client = timers.FileTimerClient(str(tmp_path / "nothing"))
    text = "Could not send the FileTimerRequest because FileTimerServer is not available."
    with pytest.raises(BrokenPipeError) as raised:
        client.acquire("scope", 1.0)
    assert str(raised.value) == text


def test_a_scope_that_a_pipe_would_cut_is_refused(tmp_path):
    server = timer.FileTimerServer(str(tmp_path / "pipe"), "run", 0.01)
    with pytest.raises(RuntimeError, match="too long for a pipe"):
        timer.FileTimerClient(str(tmp_path / "pipe")).acquire("s" * 100_000, 1.0)
    server.stop()
