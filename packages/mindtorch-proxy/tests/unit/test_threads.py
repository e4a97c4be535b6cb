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
def slow(clean_process):
    """A package that yields to other threads while its code runs, and counts how often that happens."""
    package = clean_process / "mindtorch" / "slow"
    package.mkdir()
    counting = "import time, mindtorch_counter\ntime.sleep(0.001)\nmindtorch_counter.loads.append(__name__)\n"
    (package / "__init__.py").write_text(counting + "from mindtorch.slow import inner\nfinished = True\n")
    (package / "inner.py").write_text(counting + "finished = True\n")
    (clean_process / "mindtorch_counter.py").write_text("loads = []\n")
    yield importlib.import_module("mindtorch_counter")
    sys.modules.pop("mindtorch_counter", None)


def test_concurrent_imports(slow):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for round_number in range(ROUNDS):
            _one_round(slow, round_number)
    finally:
        sys.setswitchinterval(interval)


def _one_round(slow, round_number):
    slow.loads.clear()
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
    assert sorted(slow.loads) == ["mindtorch.slow", "mindtorch.slow.inner"]
    assert not [name for name in sys.modules if name.split(".")[0] == "torch"]
