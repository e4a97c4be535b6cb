"""A fork while another thread holds a lock of ours: the child, which lacks that thread, must not wait for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch.multiprocessing import reductions
from mindtorch.utils import _pytree
from mindtorch.utils._pytree import registry as containers
from mindtorch_autograd import accumulate
from mindtorch_dispatch.registry import registry
from mindtorch_storage import spec

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
PATIENCE = 20  # seconds after which a child counts as hanging


def new_geometries() -> None:
    assert mt.ones(101, 3, 7).sum(1).numel() == 707


def leaf_gradients() -> None:
    leaf = mt.ones(3, requires_grad=True)
    (leaf * 2).sum().backward()
    (leaf * 3).sum().backward()
    assert leaf.grad.tolist() == [5.0] * 3


def random_numbers() -> None:
    assert mt.rand(5).numel() == 5


def operators() -> None:
    library = mt.library.Library("forked", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CPU")
    assert mt.ops.forked.twice(mt.ones(1)).item() == 2


def container_classes() -> None:
    kind = type("Box", (), {})
    _pytree.register_pytree_node(kind, lambda box: ([], None), lambda items, context: kind())


def shared_memory() -> None:
    reductions.shared_cache["key"] = reductions.StorageWeakRef(mt.ones(1).untyped_storage())
    assert reductions.shared_cache.get("key") is not None


LOCKS: list[tuple[Callable[[], Any], Callable[[], None]]] = [
    (lambda: spec._intern_lock, new_geometries),
    (lambda: accumulate.lock, leaf_gradients),
    (lambda: mt.default_generator.lock, random_numbers),
    (lambda: registry.registry_lock, operators),
    (lambda: containers._LOCK, container_classes),
    (lambda: reductions.shared_cache.lock, shared_memory),
]


def status_of_child(work: Callable[[], None]) -> int:
    child = os.fork()
    if not child:
        signal.alarm(PATIENCE)  # ends the child without leaving a process behind
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 (the parent reports it)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.parametrize(("lock", "work"), LOCKS, ids=[work.__name__ for _, work in LOCKS])
def test_a_child_does_not_wait_for_threads_of_its_parent(lock: Callable[[], Any], work: Callable[[], None]) -> None:
    work_first = threading.Event()

    def hold() -> None:
        with lock():
            work_first.set()
            time.sleep(0.5)

    thread = threading.Thread(target=hold)
    thread.start()
    work_first.wait()
    try:
        assert status_of_child(work) == 0
    finally:
        thread.join()


PROGRAM = """
import signal, sys, time
import mindtorch as torch
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
method, strategy = sys.argv[1:]
torch.multiprocessing.set_sharing_strategy(strategy)
class Slow(torch.utils.data.Dataset):
    def __len__(self):
        return 100000
    def __getitem__(self, index):
        time.sleep(0.001)
        return torch.ones(1000) * index
if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(Slow(), batch_size=4, num_workers=2, multiprocessing_context=method)
    batches = iter(loader)
    next(batches)
    print(*[worker.pid for worker in batches._workers], flush=True)
    for _ in batches:
        pass
"""


def interrupt(process: subprocess.Popen[str], whole_group: bool) -> tuple[int, str]:
    """Return how many times Ctrl-C was lost, and what the process wrote until it ended by one.

    Python drops what is raised while the callback of a weak reference runs, such as the one that gives a batch's memory
    back, be it Ctrl-C; a user presses again.
    """
    for lost in range(5):
        if whole_group:  # as a terminal does
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        try:
            return lost, process.communicate(timeout=15)[1]
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError("five times Ctrl-C, and the process goes on")


@pytest.mark.slow
@pytest.mark.parametrize("whole_group", [False, True])
@pytest.mark.parametrize("strategy", ["file_descriptor", "file_system"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_interrupting_a_loader_leaves_nothing(method: str, strategy: str, whole_group: bool, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(program), method, strategy],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    workers = [int(pid) for pid in process.stdout.readline().split()]
    time.sleep(0.2)
    lost, errors = interrupt(process, whole_group)
    assert "KeyboardInterrupt" in errors
    if process.returncode != -signal.SIGINT:
        # The main process had its Ctrl-C in a callback, and before it came anew saw that a worker had ended by its own.
        assert whole_group
        assert process.returncode == 1
        assert "exited unexpectedly" in errors
    assert errors.count("Exception ignored") <= lost + (process.returncode == 1)
    deadline = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]
    if Path("/dev/shm").is_dir():
        makers = {*workers, process.pid}
        left = [
            name for name in os.listdir("/dev/shm") if name.startswith("torch_") and int(name.split("_")[1]) in makers
        ]
        assert not left
