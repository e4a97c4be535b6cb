"""Turning on and off, refusing, and restoring exactly."""

import random
import sys
import threading
from types import ModuleType

import pytest

import mindtorch_proxy as proxy

SEQUENCES = 2000


def torch_state():
    return [(name, id(module)) for name, module in sys.modules.items() if name.split(".")[0] == "torch"]


@pytest.fixture
def other_torch(clean_process):
    """A torch that is not ours, imported already."""
    modules = {name: ModuleType(name) for name in ("torch", "torch.nn", "torch._C")}
    modules["torch"].__file__ = "/somewhere/torch/__init__.py"
    sys.modules.update(modules)
    return modules["torch"]


def test_counts(clean_process):
    assert not proxy.is_installed()
    proxy.install()
    proxy.install()
    proxy.uninstall()
    assert proxy.is_installed()
    proxy.uninstall()
    assert not proxy.is_installed()
    with pytest.raises(RuntimeError, match="the proxy is not installed"):
        proxy.uninstall()


def test_refuses_when_torch_is_imported(other_torch):
    before = torch_state()
    with pytest.raises(proxy.RealTorchImportedError) as caught:
        proxy.install()
    assert "already imported from /somewhere/torch/__init__.py" in str(caught.value)
    assert "replace=True" in str(caught.value)
    assert isinstance(caught.value, ImportError)
    assert torch_state() == before
    assert not proxy.is_installed()


def test_refusal_names_the_importer(other_torch, tmp_path):
    file = tmp_path / "culprit.py"
    file.write_text("'''reads'''\nimport os\nimport torch.nn as nn\n")
    culprit = ModuleType("culprit")
    culprit.__file__ = str(file)
    culprit.nn = sys.modules["torch.nn"]
    sys.modules["culprit"] = culprit
    try:
        with pytest.raises(proxy.RealTorchImportedError) as caught:
            proxy.install()
    finally:
        del sys.modules["culprit"]
    assert f"imported by 'culprit' ({file}:3)" in str(caught.value)


def test_replace_sets_aside_and_restores(other_torch):
    before = torch_state()
    with proxy.proxy(replace=True):
        import torch

        assert torch is sys.modules["mindtorch"]
        assert "torch._C" not in sys.modules
    assert torch_state() == before
    assert sys.modules["torch"] is other_torch


def test_a_blocked_torch_is_restored_as_blocked(clean_process):
    sys.modules["torch"] = None
    with proxy.proxy():
        import torch

        assert torch.Tensor
    assert sys.modules["torch"] is None


def test_mindtorch_imported_before_has_both_names_at_once(clean_process):
    import mindtorch.nn

    with proxy.proxy():
        assert sys.modules["torch"] is mindtorch
        assert sys.modules["torch.nn.modules.linear"] is mindtorch.nn.modules.linear
    assert torch_state() == []


def test_without_mindtorch(clean_process, monkeypatch):
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "path_importer_cache", {})
    with pytest.raises(ModuleNotFoundError, match=r"no module named 'mindtorch' \(pip install mindtorch-full\)"):
        proxy.install()
    assert not proxy.is_installed()


def test_meta_path_and_environment_of_finders(clean_process):
    before = list(sys.meta_path)
    with proxy.proxy():
        assert sys.meta_path[2:] == before
    assert sys.meta_path == before


class PlannedError(Exception):
    pass


def play(rng, depth=0):
    """One random nest: blocks, pairs of install and uninstall, imports, and exceptions through all of them."""
    for _ in range(rng.randint(1, 3)):
        choice = rng.random()
        if choice < 0.4 and depth < 3:
            with proxy.proxy(replace=True):
                check(rng)
                play(rng, depth + 1)
        elif choice < 0.6:
            proxy.install(replace=True)
            try:
                check(rng)
                play(rng, depth + 1) if depth < 3 else None
            finally:
                proxy.uninstall()
        elif choice < 0.8 and depth:
            check(rng)
        elif choice < 0.9:
            try:
                with proxy.proxy(replace=True):
                    raise PlannedError
            except PlannedError:
                pass
        else:
            raise PlannedError


def check(rng):
    name = rng.choice(["torch", "torch.nn", "torch.nn.functional", "torch.lazy.deep", "torch.nn.modules.linear"])
    __import__(name)
    assert sys.modules[name] is sys.modules["mind" + name]
    assert proxy.is_installed()


@pytest.mark.parametrize("real", [False, True], ids=["no other torch", "other torch"])
def test_random_nests_in_threads_restore_everything(clean_process, request, real):
    if real:
        request.getfixturevalue("other_torch")
    finders, modules = list(sys.meta_path), torch_state()
    failures = []

    def worker(seed):
        try:
            play(random.Random(seed))
        except PlannedError:
            pass
        except BaseException as error:  # noqa: BLE001 - the test reports it
            failures.append((seed, error))

    for sequence in range(SEQUENCES // 2):
        rng = random.Random(sequence)
        if rng.random() < 0.3:  # now and then with everything to load anew
            for name in [name for name in sys.modules if name.split(".")[0] == "mindtorch"]:
                del sys.modules[name]
        seeds = [sequence * 10 + index for index in range(rng.choice([1, 1, 2, 3]))]
        threads = [threading.Thread(target=worker, args=(seed,)) for seed in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert not proxy.is_installed()
        assert torch_state() == modules
        assert sys.meta_path == finders
