"""The IPython extension turns on and off, and says in one line which torch there is."""

import sys
from types import ModuleType

import pytest

import mindtorch_proxy as proxy
from mindtorch_proxy.ipython import magic


class Shell:
    def __init__(self):
        self.magics = {}

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function


def test_loading_and_unloading(clean_process):
    shell = Shell()
    proxy.load_ipython_extension(shell)
    assert proxy.is_installed()
    assert shell.magics == {("line", "mindtorch"): magic}
    import torch

    assert torch is sys.modules["mindtorch"]
    proxy.load_ipython_extension(shell)
    proxy.unload_ipython_extension(shell)
    assert not proxy.is_installed()
    proxy.unload_ipython_extension(shell)


def test_what_was_on_before_stays_on(clean_process):
    with proxy.proxy():
        proxy.load_ipython_extension(Shell())
        proxy.unload_ipython_extension(Shell())
        assert proxy.is_installed()


def test_the_magic(clean_process):
    assert magic("") == "the proxy is off"
    assert magic("on") == f"import torch is MindTorch (torch {proxy.TORCH_VERSION})"
    assert magic("status") == magic("on")
    assert magic("off") == "the proxy is off"
    with pytest.raises(ValueError, match="%mindtorch takes on, on --replace, off or status, got 'up'"):
        magic("up")


def test_beside_a_real_torch(clean_process):
    real = ModuleType("torch")
    real.__file__ = "/somewhere/torch/__init__.py"
    sys.modules["torch"] = real
    with pytest.raises(proxy.RealTorchImportedError):
        proxy.load_ipython_extension(Shell())
    holder = ModuleType("holder")
    holder.torch = real
    sys.modules["holder"] = holder
    try:
        with pytest.warns(RuntimeWarning, match="keeps it"):
            magic("on --replace")
    finally:
        del sys.modules["holder"]
    assert magic("off") == "the proxy is off, the real one imported from /somewhere/torch/__init__.py"


def test_in_a_real_shell(clean_process):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    shell = interactive.InteractiveShell.instance()
    try:
        shell.run_line_magic("load_ext", "mindtorch_proxy")
        assert shell.run_line_magic("mindtorch", "status").startswith("import torch is MindTorch")
        shell.run_line_magic("unload_ext", "mindtorch_proxy")
        assert not proxy.is_installed()
    finally:
        interactive.InteractiveShell.clear_instance()
