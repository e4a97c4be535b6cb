"""One name, one module object; and the names that are not ours."""

import importlib
import importlib.util
import inspect
import pickle
import sys

import pytest

import mindtorch_proxy as proxy
from mindtorch_proxy.finder import TorchFinder


@pytest.fixture(autouse=True)
def installed(clean_process):
    with proxy.proxy():
        yield


def test_install_imports_nothing():
    assert "mindtorch" not in sys.modules
    assert "torch" not in sys.modules


def test_every_name_is_the_same_module():
    import torch
    import torch.nn.functional as F
    from torch.nn import functional, modules

    import mindtorch

    assert torch is mindtorch
    assert torch.nn is mindtorch.nn
    assert F is functional is importlib.import_module("mindtorch.nn.functional")
    assert importlib.import_module("torch.nn.modules.linear") is modules.linear
    assert torch.nn.functional is F


def test_sys_modules_has_both_names_of_everything_loaded():
    import torch

    import mindtorch.lazy.deep

    ours = {name[len("mind") :]: module for name, module in sys.modules.items() if name.split(".")[0] == "mindtorch"}
    theirs = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "torch"}
    assert ours == theirs
    assert "torch.nn.modules.linear" in theirs
    assert theirs["torch.lazy.deep"] is mindtorch.lazy.deep
    assert torch.lazy.deep.loads == 1


def test_from_import_binds_the_second_name_too():
    from torch.lazy import deep

    assert sys.modules["torch.lazy.deep"] is deep
    assert sys.modules["torch"].lazy.deep is deep


def test_spec_before_and_after_the_import():
    spec = importlib.util.find_spec("torch")
    assert spec.name == "torch"
    assert spec.origin.endswith("__init__.py")
    assert spec.submodule_search_locations
    assert spec.loader.is_package("torch")
    assert "mindtorch" not in sys.modules
    assert importlib.util.find_spec("torch.nn.functional").name == "torch.nn.functional"
    import torch

    assert importlib.util.find_spec("torch") is torch.__spec__
    assert importlib.util.find_spec("torch.none") is None


def shown(module):
    return module.__name__, module.__spec__.name, module.__package__, module.__spec__.parent


def test_modules_show_the_names_that_users_know():
    import torch.nn.functional

    assert shown(torch) == ("torch",) * 4
    assert shown(torch.nn) == ("torch.nn",) * 4
    assert shown(torch.nn.functional) == ("torch.nn.functional", "torch.nn.functional", "torch.nn", "torch.nn")
    for module in (torch, torch.nn, torch.nn.functional):
        assert module.__spec__.loader is module.__loader__
        assert module.__spec__.origin == module.__spec__.loader.get_filename(module.__name__) == module.__file__
        assert repr(module) == f"<module {module.__name__!r} from {module.__file__!r}>"
    assert "relu" in inspect.getsource(torch.nn.functional)


def test_modules_have_their_own_names_again_when_the_proxy_is_off():
    import torch.nn.functional

    module = torch.nn.functional
    proxy.uninstall()
    try:
        assert module.__name__ == module.__spec__.name == "mindtorch.nn.functional"
        assert type(module.__loader__) is importlib.machinery.SourceFileLoader
        assert module.__spec__.loader is module.__loader__
    finally:
        proxy.install()
    assert module.__name__ == "torch.nn.functional"


def test_reload_runs_the_code_again_in_the_same_module():
    import torch.lazy.deep

    before = torch.lazy.deep
    assert importlib.reload(torch.lazy.deep) is before
    assert before.loads == 2
    assert sys.modules["torch.lazy.deep"] is sys.modules["mindtorch.lazy.deep"] is before


def test_pickle_by_name():
    import torch

    linear = torch.nn.Linear
    data = pickle.dumps(linear)
    assert b"torch.nn.modules.linear" in data
    assert b"mindtorch" not in data
    assert pickle.loads(data) is linear


def test_missing_module_says_torch():
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("torch.none")
    assert str(caught.value) == "No module named 'torch.none'"
    assert caught.value.name == "torch.none"
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("torch.nn.functional.none")
    assert str(caught.value) == ("No module named 'torch.nn.functional.none'; 'torch.nn.functional' is not a package")


def test_error_inside_a_module_is_passed_on_and_leaves_no_name():
    with pytest.raises(ModuleNotFoundError, match="a_module_nobody_has"):
        importlib.import_module("torch.needs")
    assert "torch.needs" not in sys.modules
    assert "mindtorch.needs" not in sys.modules


def test_module_that_imports_itself_by_the_other_name():
    import torch.circular

    assert torch.circular.seen is torch.circular
    assert torch.circular.__spec__.name == "torch.circular"


def test_name_switched_off_by_none():
    import torch

    sys.modules["mindtorch.lazy"] = None
    with pytest.raises(ModuleNotFoundError, match=r"import of torch\.lazy halted; None in sys\.modules"):
        importlib.import_module("torch.lazy")
    del sys.modules["mindtorch.lazy"]
    assert torch.nn


def test_object_put_into_sys_modules_by_hand():
    import torch

    class Namespace:
        pass

    sys.modules["mindtorch.ops"] = torch.ops = Namespace()
    import torch.ops

    assert sys.modules["torch.ops"] is sys.modules["mindtorch.ops"]


@pytest.mark.parametrize("name", ["torchvision", "torch_npus", "torchtorch", "mindtorch_none"])
def test_other_names_are_left_to_the_others(name):
    assert sys.meta_path[0].find_spec(name) is None
    assert importlib.util.find_spec(name) is None


def test_code_and_source_for_runpy_and_tools():
    spec = importlib.util.find_spec("torch.program")
    assert "sys.argv" in spec.loader.get_source("torch.program")
    assert spec.loader.get_code("torch.program").co_filename.endswith("program.py")


class ImportsFirst:
    """A finder that stands for another thread: it loads the module by our name while torch's name is being found."""

    def find_spec(self, name, path=None, target=None):
        if name == "torch.lazy.deep":
            importlib.import_module("mindtorch.lazy.deep")


def test_a_module_loaded_elsewhere_meanwhile_is_not_run_twice(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [ImportsFirst(), *sys.meta_path])
    import torch.lazy.deep

    assert torch.lazy.deep.loads == 1
    assert sys.modules["torch.lazy.deep"] is sys.modules["mindtorch.lazy.deep"]
    assert torch.lazy.deep.__spec__.name == "torch.lazy.deep"


class MirrorsAfter:
    """Stands for another thread: loads the module by our name when torch's name has been found."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch.lazy.deep":
            return None
        spec = next(one for one in sys.meta_path if type(one) is TorchFinder).find_spec(name, path, target)
        importlib.import_module("mindtorch.lazy.deep")
        return spec


def test_a_module_mirrored_while_its_name_is_bound_is_not_run_twice(monkeypatch):
    monkeypatch.setattr(sys, "meta_path", [MirrorsAfter(), *sys.meta_path])
    import torch.lazy.deep

    assert torch.lazy.deep.loads == 1
    assert sys.modules["torch.lazy.deep"] is sys.modules["mindtorch.lazy.deep"] is torch.lazy.deep
    assert torch.lazy.deep.__spec__.name == "torch.lazy.deep"
    assert importlib.reload(torch.lazy.deep).loads == 2


def test_finding_a_loaded_name_leaves_it_loaded(clean_process):
    """Also where the parent has a function of that name: an import of a name not loaded would put the module over it."""
    package = clean_process / "mindtorch" / "named_twice"
    package.mkdir()
    (package / "twice.py").write_text("loads = globals().get('loads', 0) + 1\ndef twice():\n    return 2\n")
    (package / "__init__.py").write_text("from mindtorch.named_twice.twice import twice\n")
    import torch.named_twice

    module = sys.modules["torch.named_twice.twice"]
    spec = sys.meta_path[0].find_spec("torch.named_twice.twice", torch.named_twice.__path__)
    assert spec.name == "torch.named_twice.twice"
    assert sys.modules["torch.named_twice.twice"] is module
    import torch.named_twice.twice

    assert torch.named_twice.twice() == 2
    assert module.loads == 1


def test_the_spec_of_a_loaded_name_makes_the_same_module():
    """As code does that loads by hand what it found (`module_from_spec`, then `exec_module`)."""
    import torch.lazy.deep

    for spec in (sys.meta_path[0].find_spec("torch.lazy.deep", torch.lazy.__path__), torch.lazy.deep.__spec__):
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module is torch.lazy.deep
        assert module.loads == 1
        assert module.__spec__.name == "torch.lazy.deep"
