"""How many threads there are: the environment, the setting, BLAS, children of fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mindtorch_cpu import native, threads


@pytest.mark.parametrize(
    ("mkl", "omp", "want"),
    [
        (None, None, None),
        (None, "3", 3),
        ("5", "3", 5),
        (None, "4,2", 4),
        ("0", "2", 2),
        ("x", "-1", None),
        ("", "", None),
    ],
)
def test_environment(monkeypatch: pytest.MonkeyPatch, mkl: str | None, omp: str | None, want: int | None) -> None:
    for name, value in (("MKL_NUM_THREADS", mkl), ("OMP_NUM_THREADS", omp)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)
    assert threads.requested() == want
    assert threads.default_count() == min(want or threads.core_count(), threads.core_count())


def test_cores_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        (tmp_path / f"cpu{cpu}/topology").mkdir(parents=True)
        (tmp_path / f"cpu{cpu}/topology/thread_siblings_list").write_text(siblings)
    monkeypatch.setattr(threads, "_TOPOLOGY", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert threads.core_count() == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2}, raising=False)
    assert threads.core_count() == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 7}, raising=False)
    assert threads.core_count() == 2


def test_libraries_are_found_among_mapped_files() -> None:
    mapped = "\n".join(
        [
            "7f00-7f01 r-xp 0 08:01 5    /opt/a b/libscipy_openblas64_-32a4.so",
            "7f01-7f02 r--p 0 08:01 5    /opt/a b/libscipy_openblas64_-32a4.so",
            "7f02-7f03 r-xp 0 08:01 6    /opt/openblas/libother.so",
            "7f03-7f04 r-xp 0 08:01 7    /opt/libopenblas.txt",
            "7f04-7f05 rw-p 0 00:00 0    [openblas.so]",
            "7f05-7f06 r-xp 0 08:01 8    /opt/lib/libmkl_rt.so.2",
        ]
    )
    assert threads._libraries(mapped) == {"/opt/a b/libscipy_openblas64_-32a4.so", "/opt/lib/libmkl_rt.so.2"}
    assert threads._libraries("") == set()


class Pool:
    def __init__(self) -> None:
        self.counts: list[int] = []

    def set_thread_count(self, count: int) -> None:
        self.counts.append(count)


def test_blas_keeps_to_one_thread_next_to_a_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(threads, "_blas_setters", lambda: iter([told.append]))
    setting = threads.Threads()
    setting.tell_blas()
    assert told == []
    setting.set(3)
    assert told == [3]
    pool = Pool()
    setting.use_pool(pool)
    setting.set(2)
    assert pool.counts == [3, 2]
    assert told == [3, 1, 1]
    with pytest.raises(ValueError, match="between 1 and 4096, not 0"):
        setting.set(0)
    assert setting.count == 2


FORK = """
import os
import numpy as np
from mindtorch_cpu import native, threads
import mindtorch_cpu.ops
multiply = native.module.kernel("mm", None)
a = np.random.default_rng(0).standard_normal((300, 300), "f4")
out, again = np.empty_like(a), np.empty_like(a)
threads.threads.set(3)
multiply(out, a, a)
child = os.fork()
if child == 0:
    assert native.module.thread_count() == 1
    threads.threads.set(3)
    multiply(again, a, a)
    os._exit(0 if (out == again).all() and native.module.thread_count() == 1 else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(native.module is None or not hasattr(os, "fork"), reason="without native module or fork")
def test_a_child_of_fork_does_not_wait_for_its_parents_threads() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "0", done.stderr


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="the system does not tell what is loaded")
def test_numpys_blas_is_found() -> None:
    text = str(np.show_config(mode="dicts"))
    if "openblas" not in text:
        pytest.skip("numpy was built with another BLAS")
    assert list(threads._blas_setters())
