"""Tensors between processes: what torch shares is shared, what it refuses is refused, and nothing stays behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest

import mindtorch as mt
from mindtorch import multiprocessing as mp
from mindtorch.utils.data import DataLoader
from mindtorch_storage.storage import sharing
from mindtorch_testing.workers import serve_writes

torch = pytest.importorskip("torch", reason="oracle")
import torch.multiprocessing as torch_mp  # noqa: E402

STRATEGIES = ("file_descriptor", "file_system")


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> Any:
    mp.set_sharing_strategy(request.param)
    yield request.param
    mp.set_sharing_strategy("file_descriptor")


def _left_behind() -> set[str]:
    gc.collect()
    return {name for name in os.listdir("/dev/shm") if name.startswith(f"torch_{os.getpid()}_")}


def _descriptors() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def _outcome(call: Any) -> Any:
    try:
        return repr(call())
    except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
        return type(error).__name__, str(error)


def test_shared_memory_does_not_move_away() -> None:
    # In torch, resizing what `share_memory_` moved ends the process.
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        mt.ones(3).share_memory_().untyped_storage().resize_(100)


def _history(lib: Any) -> Any:
    return ForkingPickler.dumps(lib.ones(2, requires_grad=True) * 2)


CALLS = {
    "strategy": lambda lib, m: m.get_sharing_strategy(),
    "strategies": lambda lib, m: sorted(m.get_all_sharing_strategies()),
    "history": lambda lib, m: _history(lib),
    "meta storage": lambda lib, m: lib.UntypedStorage(4, device="meta").share_memory_(),
    "meta tensor": lambda lib, m: lib.empty(3, device="meta").share_memory_(),
    "meta travels": lambda lib, m: ForkingPickler.loads(ForkingPickler.dumps(lib.empty(2, 3, device="meta"))),
    "shared": lambda lib, m: lib.ones(3).share_memory_().is_shared(),
    "shared view": lambda lib, m: lib.ones(3, 4).share_memory_()[1].is_shared(),
    "shared borrowed": lambda lib, m: lib.frombuffer(bytearray(8), dtype=lib.uint8).share_memory_().is_shared(),
    "shared keeps": lambda lib, m: lib.arange(6).reshape(2, 3).t().share_memory_(),
    "not resizable": lambda lib, m: lib.UntypedStorage._new_shared(4).resizable(),
    "resize": lambda lib, m: lib.UntypedStorage._new_shared(4).resize_(8),
    "new shared": lambda lib, m: lib.UntypedStorage._new_shared(4),
    "new shared meta": lambda lib, m: lib.UntypedStorage._new_shared(4, device="meta"),
    "wrong descriptor": lambda lib, m: lib.UntypedStorage._new_shared_fd_cpu(9999, 4),
    "wrong name": lambda lib, m: lib.UntypedStorage._new_shared_filename_cpu(b"", b"/nope", 4),
    "typed shared": lambda lib, m: lib.ones(2).storage().share_memory_().is_shared(),
    "parameter shared": lambda lib, m: lib.nn.Parameter(lib.ones(2)).share_memory_().is_shared(),
    "module shared": lambda lib, m: [p.is_shared() for p in lib.nn.Linear(2, 2).share_memory().parameters()],
    "names": lambda lib, m: sorted(m.__all__),
    "raised": lambda lib, m: m.spawn.__module__,
    "exited": lambda lib, m: m.ProcessExitedException("text", 1, 2, 3).__dict__,
    "error classes": lambda lib, m: [c.__name__ for c in m.ProcessRaisedException.__mro__],
}


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("name", CALLS)
def test_sharing_does_what_it_does_in_torch(name: str) -> None:
    assert _outcome(lambda: CALLS[name](mt, mp)) == _outcome(lambda: CALLS[name](torch, torch_mp))


def test_unknown_strategies_are_refused_with_the_text_of_torch() -> None:
    kind, text = _outcome(lambda: mp.set_sharing_strategy("x"))
    expected_kind, expected = _outcome(lambda: torch_mp.set_sharing_strategy("x"))
    assert (kind, text.split("{")[0]) == (expected_kind, expected.split("{")[0])


@pytest.mark.parametrize("make", [lambda: mt.arange(6.0), lambda: mt.arange(6.0).reshape(2, 3).t()[1:]])
def test_a_block_sent_twice_is_one_storage(make: Any, strategy: str) -> None:
    tensor = make()
    first, second = (ForkingPickler.loads(ForkingPickler.dumps(tensor)) for _ in range(2))
    first.zero_()
    assert tensor.sum() == second.sum() == 0
    assert first.untyped_storage() is second.untyped_storage()
    assert (first.stride(), first.storage_offset()) == (tensor.stride(), tensor.storage_offset())
    del tensor, first, second
    assert not _left_behind()


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_writes_are_seen_by_the_other_process(method: str, strategy: str) -> None:
    context = multiprocessing.get_context(method)
    requests, answers, argument = context.Queue(), context.Queue(), mt.ones(2).share_memory_()
    process = context.Process(target=serve_writes, args=(requests, answers, argument))
    process.start()
    sent = mt.zeros(3)
    requests.put(sent)
    answer = answers.get(timeout=300)
    assert sent.tolist() == [7, 0, 0]
    assert argument.tolist() == [2, 2]
    if method == "fork" or strategy == "file_descriptor":  # a spawned child has the default strategy, as in torch
        answer[1] = 5
        assert sent.tolist() == [7, 0, 5]
    requests.put(None)
    process.join(60)
    del argument, sent, answer
    assert not _left_behind()


class _Rows:
    def __init__(self, kill_at: int = -1) -> None:
        self.kill_at = kill_at

    def __len__(self) -> int:
        return 24

    def __getitem__(self, index: int) -> Any:
        if index == self.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return mt.full((64,), float(index)), {"index": mt.tensor([index])}


def test_batches_of_workers_lie_in_shared_memory_and_leave_nothing(strategy: str) -> None:
    before = _descriptors()
    batches = list(DataLoader(_Rows(), 4, num_workers=2))
    assert [row[0] for data, _ in batches for row in data.tolist()] == list(range(24))
    assert all(data.is_shared() and more["index"].is_shared() for data, more in batches)
    del batches
    time.sleep(0)
    assert _descriptors() <= before + 2  # what the first use of multiprocessing opens stays open
    assert not _left_behind()


def _left_by(makers: set[int]) -> set[str]:
    """Shared memory of these processes; other programs of the machine may have theirs."""
    gc.collect()
    names = [name for name in os.listdir("/dev/shm") if name.startswith("torch_")]
    return {name for name in names if int(name.split("_")[1]) in makers}


def test_a_killed_worker_is_reported_and_leaves_nothing(strategy: str) -> None:
    batches = iter(DataLoader(_Rows(kill_at=13), 2, num_workers=2))
    makers = {os.getpid(), *(worker.pid for worker in batches._workers)}
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"):
        list(batches)
    del batches
    assert not _left_by(makers)


def test_a_loader_given_up_halfway_leaves_nothing(strategy: str) -> None:
    batches = iter(DataLoader(_Rows(), 2, num_workers=2, prefetch_factor=4))
    makers = {os.getpid(), *(worker.pid for worker in batches._workers)}
    next(batches)
    del batches
    assert not _left_by(makers)


def test_files_of_a_dead_process_are_removed_and_mappings_stay() -> None:
    storage = mt.UntypedStorage([1, 2, 3])
    _, handle, _ = storage._share_filename_cpu_()
    assert sharing.remove_files_of(os.getpid()) >= 1
    assert not os.path.exists("/dev/shm" + handle.decode())
    assert storage.tolist() == [1, 2, 3]


def _raise(index: int, seen: Any) -> None:
    seen[index] = 1
    raise ValueError(f"process {index} fails")


def _exit(index: int) -> None:
    os._exit(3)


def _kill(index: int) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _fine(index: int, seen: Any) -> None:
    seen[index] = index + 1


def test_groups_of_processes_report_how_they_failed() -> None:
    seen = mt.zeros(2).share_memory_()
    assert mp.start_processes(_fine, (seen,), 2, start_method="fork") is None
    assert seen.tolist() == [1, 2]
    with pytest.raises(mp.ProcessRaisedException, match=r"(?s)-- Process 0 terminated.*Traceback.*process 0 fails"):
        mp.start_processes(_raise, (seen,), 1, start_method="fork")
    for function in (_exit, _kill):
        with pytest.raises(mp.ProcessExitedException) as ours:
            mp.start_processes(function, (), 1, start_method="fork")
        with pytest.raises(torch_mp.ProcessExitedException) as theirs:
            torch_mp.start_processes(function, (), 1, start_method="fork")
        assert str(ours.value) == str(theirs.value)
        assert (ours.value.exit_code, ours.value.signal_name) == (theirs.value.exit_code, theirs.value.signal_name)


def _fail_or_wait(index: int) -> None:
    if index == 0:
        raise ValueError("process 0 fails")
    time.sleep(60)


def test_who_is_stopped_is_told_of_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for module in (mp, torch_mp):
        context = module.start_processes(_fail_or_wait, (), 2, join=False, start_method="fork")
        with pytest.raises(module.ProcessRaisedException):
            context.join()
        told = [record.getMessage() for record in caplog.records if "Terminating" in record.getMessage()]
        assert told == [f"Terminating process {context.processes[1].pid} via signal SIGTERM"]
        caplog.clear()


def test_a_server_that_forks_is_asked_for_all_processes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mp.ENV_VAR_PARALLEL_START, "1")
    assert mp.ENV_VAR_PARALLEL_START == torch_mp.ENV_VAR_PARALLEL_START
    started: list[str] = []

    class Process:
        def __init__(self, **given: Any) -> None:
            self.sentinel, self.pid = given["args"][1], 1

        def start(self) -> None:
            started.append(threading.current_thread().name)

    class Context:
        pass

    Context.Process = Process  # type: ignore[attr-defined]
    monkeypatch.setattr(multiprocessing, "get_context", lambda method: Context)
    group = mp.start_processes(_fine, (), 3, join=False, start_method="forkserver")
    assert group.sentinels == {0: 0, 1: 1, 2: 2}
    assert threading.current_thread().name not in started
    started.clear()
    mp.start_processes(_fine, (), 2, join=False, start_method="fork")
    assert started == [threading.current_thread().name] * 2
