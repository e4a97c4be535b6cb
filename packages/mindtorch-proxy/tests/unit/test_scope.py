"""The proxy for some packages: who imports decides, and nothing of it is left behind."""

import builtins
import importlib
import importlib.util
import sys
import threading
import warnings
from types import ModuleType

import pytest

import mindtorch_proxy as proxy

HOOKS = ((builtins, "__import__"), (importlib, "import_module"), (importlib.util, "find_spec"))


def hooks():
    return [getattr(owner, name) for owner, name in HOOKS]


def torch_state():
    return [(name, id(module)) for name, module in sys.modules.items() if name.split(".")[0] == "torch"]


@pytest.fixture
def packages(clean_process):
    """Two packages that say which torch they got, by statement and by function."""
    source = (
        "import importlib, importlib.util\n"
        "import torch, torch.nn.functional as F\n"
        "from torch import nn\n"
        "from torch.nn import Linear\n"
        "def late():\n    import torch.lazy.deep\n    return torch.lazy.deep\n"
        "def by_name(name):\n    return importlib.import_module(name)\n"
        "def spec(name):\n    return importlib.util.find_spec(name)\n"
        "def missing():\n    import torch.nothing\n"
    )
    for name in ("inside", "outside"):
        package = clean_process / name
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "user.py").write_text(source)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] in ("inside", "outside")]:
        del sys.modules[name]


@pytest.fixture
def real(clean_process):
    """A torch that is not ours, imported already."""
    modules = {name: ModuleType(name) for name in ("torch", "torch.nn", "torch.nn.functional")}
    modules["torch"].__file__ = "/somewhere/torch/__init__.py"
    modules["torch"].nn = modules["torch.nn"]
    modules["torch.nn"].functional = modules["torch.nn.functional"]
    modules["torch.nn"].Linear = "the real one"
    sys.modules.update(modules)
    return modules["torch"]


def test_only_the_packages_get_mindtorch(packages, real):
    before, hooked = torch_state(), hooks()
    with proxy.proxy(packages=["inside"]):
        inside = importlib.import_module("inside.user")
        outside = importlib.import_module("outside.user")
        assert inside.torch is sys.modules["mindtorch"]
        assert inside.F is sys.modules["mindtorch.nn.functional"]
        assert inside.nn is sys.modules["mindtorch.nn"]
        assert inside.Linear.__module__ == "torch.nn.modules.linear"
        assert inside.late() is sys.modules["mindtorch.lazy.deep"]
        assert inside.by_name("torch.nn") is sys.modules["mindtorch.nn"]
        assert inside.spec("torch.nn").name == "mindtorch.nn"
        assert outside.torch is real
        assert outside.Linear == "the real one"
        assert outside.by_name("torch") is real
        assert not proxy.is_installed()
        assert torch_state() == before
    assert torch_state() == before
    assert hooks() == hooked
    assert inside.torch is sys.modules["mindtorch"]  # what was imported inside stays what it is


@pytest.fixture
def no_real(clean_process):
    """No other torch can be imported, whatever is installed."""
    sys.modules["torch"] = None


def test_without_a_real_torch_others_find_none(packages, no_real):
    with proxy.proxy(packages=["inside"]):
        assert importlib.import_module("inside.user").torch is sys.modules["mindtorch"]
        with pytest.raises(ModuleNotFoundError, match="import of torch halted"):
            importlib.import_module("outside.user")
    assert sys.modules["torch"] is None


def test_a_missing_module_is_told_by_the_name_that_was_asked(packages):
    with proxy.proxy(packages=["inside"]):
        user = importlib.import_module("inside.user")
        for call in (user.missing, lambda: user.by_name("torch.nothing")):
            with pytest.raises(ModuleNotFoundError, match=r"^No module named 'torch\.nothing'$") as caught:
                call()
            assert caught.value.name == "torch.nothing"
        with pytest.raises(ModuleNotFoundError, match="a_module_nobody_has"):
            user.by_name("torch.needs")


def test_a_blocked_package_gets_the_torch_that_was_set_aside(packages, real):
    with proxy.proxy(blocked=["outside"], replace=True):
        assert importlib.import_module("inside.user").torch is sys.modules["mindtorch"]
        outside = importlib.import_module("outside.user")
        assert outside.torch is real
        assert outside.F is real.nn.functional
        assert outside.by_name("torch.nn") is real.nn
        with pytest.raises(ModuleNotFoundError, match=r"^No module named 'torch\.nothing'$"):
            outside.missing()
    assert sys.modules["torch"] is real


def test_a_blocked_package_finds_no_torch_where_there_is_none(packages):
    with proxy.proxy(blocked=["outside"]):
        with pytest.raises(ModuleNotFoundError, match=r"^No module named 'torch'$"):
            importlib.import_module("outside.user")
        assert importlib.import_module("inside.user").torch is sys.modules["torch"]


def test_the_inner_scope_answers_first(packages, real):
    with proxy.proxy(packages=["inside"]), proxy.proxy(packages=["outside"], blocked=["inside"]):
        assert importlib.import_module("inside.user").torch is real
        assert importlib.import_module("outside.user").torch is sys.modules["mindtorch"]


def test_a_package_that_came_before_keeps_the_real_torch_and_a_warning_says_so(packages, real, clean_process):
    user = importlib.import_module("inside.user")
    importlib.import_module("outside.user")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with proxy.proxy(packages=["inside"]):
            assert user.torch is real
    [warning] = told
    file = str(clean_process / "inside" / "user.py")
    assert (warning.category, warning.filename, warning.lineno) == (RuntimeWarning, file, 2)
    assert f"module 'inside.user' ({file}:2) imported the real torch before" in str(warning.message)


def test_replacing_warns_of_every_holder(packages, real):
    for name in ("inside.user", "outside.user"):
        importlib.import_module(name)
    with pytest.warns(RuntimeWarning, match="keeps it") as told, proxy.proxy(replace=True):
        pass
    assert {"inside.user", "outside.user"} <= {str(one.message).split("'")[1] for one in told}


@pytest.mark.parametrize("argument", ["packages", "blocked"])
def test_a_string_is_not_several_packages(clean_process, argument):
    told = f"{argument} must be several names of packages, got the string 'inside'"
    with pytest.raises(TypeError, match=told), proxy.proxy(**{argument: "inside"}):
        pass


def test_without_mindtorch(clean_process, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    hooked = hooks()
    with pytest.raises(ModuleNotFoundError, match="no module named 'mindtorch'"), proxy.proxy(packages=["inside"]):
        pass
    assert hooks() == hooked


def test_somebody_who_wrapped_the_import_keeps_it(packages, no_real):
    before = builtins.__import__
    try:
        with proxy.proxy(packages=["inside"]):
            ours = builtins.__import__

            def wrapping(*args, **kwargs):
                return ours(*args, **kwargs)

            builtins.__import__ = wrapping
        assert builtins.__import__ is wrapping
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("inside.user")
    finally:
        builtins.__import__ = before


def test_threads_leave_in_any_order(packages, real):
    hooked, failures = hooks(), []
    barrier = threading.Barrier(6)

    def work(index):
        barrier.wait()
        try:
            for _ in range(200):
                with proxy.proxy(packages=["inside"]), proxy.proxy(packages=[f"other{index}"]):
                    assert importlib.import_module("inside.user").by_name("torch") is sys.modules["mindtorch"]
                    assert importlib.import_module("outside.user").by_name("torch") is real
        except BaseException as error:  # noqa: BLE001 - the test reports it
            failures.append(error)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert hooks() == hooked
