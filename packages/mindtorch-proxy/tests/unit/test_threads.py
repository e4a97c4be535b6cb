"""Many threads importing the same names at once get the same, finished modules, and run their code once."""

import importlib
import sys
import threading

import pytest

import mindtorch_proxy as proxy

ROUNDS = 60
# Of our own names only those whose parent does not import them: for the others CPython itself reports a deadlock
# between a thread that imports the parent and one that imports the child. (Users' names do not collide that way: the
# parent's code imports `mindtorch.slow.inner`, which is another lock than that of `torch.slow.inner`.)
NAMES = [
    "torch",
    "mindtorch",
    "torch.slow",
    "mindtorch.slow",
    "torch.slow.inner",
    "torch.slow.inner",
    "torch.nn.modules.linear",
    "torch.nn.functional",
]


@pytest.fixture
def slow(stand_in):
    """A package that yields to other threads while its code runs, and counts how often that happens."""
    package = stand_in / "mindtorch" / "slow"
    package.mkdir()
    counting = "import time, mindtorch_counter\ntime.sleep(0.001)\nmindtorch_counter.loads.append(__name__)\n"
    (package / "__init__.py").write_text(counting + "from mindtorch.slow import inner\nfinished = True\n")
    (package / "inner.py").write_text(counting + "finished = True\n")
    (stand_in / "mindtorch_counter.py").write_text("loads = []\n")


def test_concurrent_imports(slow, run_python):
    """In a process of its own: what other tests left may import `torch.x` from a finaliser, in any thread and at any time,
    and a thread that does so within the import of `mindtorch` is a deadlock that CPython reports."""
    done = run_python("-c", "import runpy, sys; runpy.run_path(sys.argv[1])['rounds_of_imports']()", __file__)
    assert done.returncode == 0, done.stderr


def rounds_of_imports():
    counter = importlib.import_module("mindtorch_counter")
    sys.setswitchinterval(1e-6)
    for round_number in range(ROUNDS):
        _one_round(counter, round_number)


def _one_round(counter, round_number):
    counter.loads.clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "mindtorch"]:
        del sys.modules[name]
    results, failures = [], []
    barrier = threading.Barrier(len(NAMES))

    def work(index):
        name = NAMES[(index + round_number) % len(NAMES)]
        barrier.wait()
        try:
            module = importlib.import_module(name)
            if ".slow" in name:
                assert module.finished
            results.append((name.removeprefix("mind"), module))
        except BaseException as error:  # noqa: BLE001 - the test reports it
            failures.append((name, error))

    with proxy.proxy():
        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(NAMES))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        for name, module in results:
            assert sys.modules[name] is sys.modules["mind" + name] is module
            assert module.__spec__.name == module.__name__ == name
    assert sorted(counter.loads) == ["mindtorch.slow", "mindtorch.slow.inner"]
    assert not [name for name in sys.modules if name.split(".")[0] == "torch"]
