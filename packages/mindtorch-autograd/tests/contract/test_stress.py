"""The engine under load: many threads, long loops, interruption, graphs that must go when the last reference goes."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref

import pytest

import mindtorch as mt
from mindtorch_autograd.engine import current_task
from mindtorch_dispatch.state import DEFAULT_MODE, state


def in_threads(count: int, work) -> list[BaseException]:
    errors: list[BaseException] = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:  # noqa: BLE001 (the test reports it)
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.slow
def test_32_threads_of_1000_backwards_on_shared_leaves() -> None:
    threads, passes = 32, 1000
    x = mt.tensor([1.0, 2.0, 3.0], requires_grad=True)
    w = mt.tensor([1.0, 1.0, 1.0], requires_grad=True)
    seen = {"x": 0, "w": 0}
    lock = threading.Lock()
    own = [0] * threads

    def counting(name: str):
        def hook(grad):
            with lock:
                seen[name] += 1

        return hook

    x.register_hook(counting("x"))
    x.register_hook(lambda grad: grad * 2)
    w.register_post_accumulate_grad_hook(lambda tensor: counting("w")(None))

    def work(index: int) -> None:
        for _ in range(passes):
            y = x * w.detach()
            y.register_hook(lambda grad: own.__setitem__(index, own[index] + 1))
            (y + w * (index + 1)).sum().backward()

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        assert in_threads(threads, work) == []
    finally:
        sys.setswitchinterval(before)
    assert x.grad.tolist() == [2.0 * threads * passes] * 3
    assert w.grad.tolist() == [float(passes * threads * (threads + 1) // 2)] * 3
    assert seen == {"x": threads * passes, "w": threads * passes}
    assert own == [passes] * threads


def test_threads_share_a_graph_and_its_hooks() -> None:
    x = mt.ones(3, requires_grad=True)
    y = (x * x).exp().sum()
    log: list[int] = []
    y.grad_fn.register_hook(lambda inputs, outputs: log.append(1))
    assert in_threads(8, lambda index: [y.backward(retain_graph=True) for _ in range(25)]) == []
    once = mt.autograd.grad((x * x).exp().sum(), x)[0]
    assert mt.allclose(x.grad, once * 200)
    assert len(log) == 200


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads the process's memory from /proc")
def test_memory_of_10000_training_steps_stays() -> None:
    mt.manual_seed(0)
    net = mt.nn.Sequential(
        mt.nn.Linear(16, 32), mt.nn.ReLU(), mt.nn.LayerNorm(32), mt.nn.Dropout(0.1), mt.nn.Linear(32, 4)
    )
    optimizer = mt.optim.Adam(net.parameters())
    images, labels = mt.randn(8, 16), mt.randint(0, 4, (8,))

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            mt.nn.functional.cross_entropy(net(images), labels).backward()
            optimizer.step()

    steps(1000)
    gc.collect()
    before = resident()
    steps(10_000)
    gc.collect()
    assert resident() - before < 0.01 * before


@pytest.mark.slow
def test_chains_of_100000_nodes_with_hooks_and_create_graph() -> None:
    x = mt.ones(2, requires_grad=True)
    y = x
    for _ in range(100_000):
        y = y * 1
    log: list[int] = []
    y.grad_fn.register_prehook(lambda grads: log.append(1))
    (first,) = mt.autograd.grad(y.sum(), x, create_graph=True)
    assert first.tolist() == [1.0, 1.0]
    assert log == [1]
    node = weakref.ref(y.grad_fn)
    del y, first
    gc.collect()
    assert node() is None


@pytest.mark.slow
def test_20000_edges_into_one_node() -> None:
    x = mt.ones(2, requires_grad=True)
    y = x * 1
    parts = [y.sum() for _ in range(20_000)]
    mt.stack(parts).sum().backward()
    assert x.grad.tolist() == [20_000.0, 20_000.0]


def test_failing_passes_leave_nothing_behind() -> None:
    x = mt.ones(2, requires_grad=True)
    y = x * 2

    def fail(grad):
        raise KeyError("hook")

    y.register_hook(fail)
    for _ in range(3):
        with pytest.raises(KeyError):
            y.sum().backward(retain_graph=True)
        assert current_task() is None
        assert state.mode is DEFAULT_MODE
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


@pytest.mark.slow
def test_interruption_leaves_the_engine_usable() -> None:
    """Ctrl-C in the middle of a long pass, in a process of its own."""
    program = """
        import os, signal, threading
        import mindtorch as mt
        from mindtorch_autograd.engine import current_task
        from mindtorch_dispatch.state import DEFAULT_MODE, state

        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
        x = mt.ones(2, requires_grad=True)
        y, count = x, 0

        def hook(grad):
            global count
            count += 1
            if count == 500:
                os.kill(os.getpid(), signal.SIGINT)

        for _ in range(3000):
            y = y * 1
            y.register_hook(hook)
        try:
            y.sum().backward()
        except KeyboardInterrupt:
            print("interrupted", 500 <= count < 3000, x.grad, current_task(), state.mode is DEFAULT_MODE)
        (x * 3).sum().backward()
        print(x.grad.tolist(), mt.is_grad_enabled())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["interrupted True None None True", "[3.0, 3.0] True"], done.stderr
    assert signal.getsignal(signal.SIGINT) is not None


def test_graphs_go_with_their_last_reference() -> None:
    """No cycle keeps nodes or tensors: reference counts alone free them."""
    gc.collect()
    gc.disable()
    try:
        x = mt.ones(3, requires_grad=True)
        hooked = x * 2
        hooked.register_hook(lambda grad: grad)
        hooked.retain_grad()
        written = hooked * 3
        written[0:2].mul_(2)
        result = written.softmax(0).sum()
        kept = [weakref.ref(one) for one in (hooked, written, hooked.grad_fn, written.grad_fn, result.grad_fn)]
        result.backward()
        del hooked, written, result
        assert [one() for one in kept] == [None] * len(kept)
    finally:
        gc.enable()
