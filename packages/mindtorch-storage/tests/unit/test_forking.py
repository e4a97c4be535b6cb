"""Imports of several threads of one library, and forks in the middle of them."""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mindtorch_storage import forking, importing
from mindtorch_storage.cached import cached_property

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")
numbers = itertools.count()
HOLD = "import threading, time\nthreading.begun.set()\ntime.sleep({})\nvalue = 1\n"


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set by the body of a module that `HOLD` begins."""
    event = threading.Event()
    monkeypatch.setattr(threading, "begun", event, raising=False)
    return event


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Write a package, with files by name, and return the name it got."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def written(prefix: str, **files: str) -> str:
        name = f"{prefix}_of_test_{next(numbers)}"
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / f"{file}.py").write_text(text.replace("PACKAGE", name))
        importlib.invalidate_caches()
        return name

    yield written
    for name in [name for name in sys.modules if "_of_test_" in name]:
        del sys.modules[name]


def status_of_child(work: Callable[[], object]) -> int:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(20)
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 (the parent reports it)
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def importing_thread(name: str, begun: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=importlib.import_module, args=(name,))
    thread.start()
    assert begun.wait(20)
    return thread


@needs_fork
@pytest.mark.parametrize("prefix", ["mindtorch_module", "foreign_module"])
def test_a_child_has_whole_what_another_thread_was_importing(
    prefix: str, begun: threading.Event, write: Callable[..., str]
) -> None:
    name = write(prefix, __init__=HOLD.format(0.4))
    thread = importing_thread(name, begun)
    assert status_of_child(lambda: importlib.import_module(name).value) == 0
    thread.join()


@needs_fork
def test_a_program_within_an_import_is_waited_for_once(
    begun: threading.Event, write: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = write("foreign_program", __init__=HOLD.format(3))
    monkeypatch.setattr(forking, "PATIENCE", 0.2)
    thread = importing_thread(name, begun)
    assert status_of_child(lambda: importlib.import_module("mindtorch_storage.spec")) == 0
    monkeypatch.setattr(forking, "PATIENCE", 60)
    assert status_of_child(lambda: None) == 0
    assert thread.is_alive()
    thread.join()


@needs_fork
def test_a_fork_within_an_import(write: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    name = write(
        "mindtorch_forks",
        __init__="import os\nchild = os.fork()\nimport PACKAGE.other\n"
        "if not child:\n    os._exit(PACKAGE.other.value)\nstatus = os.waitpid(child, 0)[1]\n",
        other="value = 7\n",
    )
    assert os.waitstatus_to_exitcode(importlib.import_module(name).status) == 7


def test_threads_do_not_meet_in_the_middle_of_a_package(begun: threading.Event, write: Callable[..., str]) -> None:
    name = write(
        "mindtorch_package",
        __init__=HOLD.format(0.3) + "from PACKAGE import inner\n",
        inner="from PACKAGE import value\n",
    )
    thread = importing_thread(name, begun)
    assert importlib.import_module(f"{name}.inner").value == 1
    thread.join()
    assert sys.modules[name].inner.value == 1


@needs_fork
def test_a_lock_that_a_thread_was_within_is_free_in_a_child(write: Callable[..., str]) -> None:
    name = write("mindtorch_plain", __init__="value = 1\n")
    with importing.lock.lock:
        assert status_of_child(lambda: importlib.import_module(name).value) == 0


@needs_fork
def test_a_fork_gives_its_locks_back_and_waits_for_one_that_is_taken() -> None:
    lock, order = threading.Lock(), []
    taken = threading.Event()

    def hold() -> None:
        with lock:
            taken.set()
            time.sleep(0.7)
            importlib.import_module("json.tool")  # which needs the import lock, while the fork waits for ours
            order.append("released")

    def holding() -> list[threading.Lock]:
        return [lock]

    forking.hold_during_fork(holding)
    try:
        thread = threading.Thread(target=hold)
        thread.start()
        taken.wait()
        assert status_of_child(lambda: lock.acquire(timeout=1) or os._exit(2)) == 0
        assert order == ["released"]
        assert lock.acquire(timeout=1)
        thread.join()
    finally:
        forking._holdings.remove(holding)


class Slow:
    def __init__(self) -> None:
        self.begun = threading.Event()
        self.count = 0

    @cached_property
    def value(self) -> int:
        """Some value."""
        self.count += 1
        self.begun.set()
        time.sleep(0.3 if self.count == 1 else 0)
        return self.count


def test_a_cached_property_is_computed_once() -> None:
    slow = Slow()
    assert Slow.value.__doc__ == "Some value."
    assert (slow.value, slow.value, slow.count) == (1, 1, 1)


@needs_fork
def test_a_cached_property_that_another_thread_computes() -> None:
    slow, other = Slow(), Slow()
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(20)
    assert status_of_child(lambda: other.value + slow.value) == 0
    thread.join()
