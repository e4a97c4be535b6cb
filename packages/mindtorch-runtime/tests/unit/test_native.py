"""When the native call path is taken, and that it and its siblings work without each other."""

import subprocess
import sys

import pytest

from mindtorch_dispatch.interface.native import copied, native_path
from mindtorch_runtime import native


class Module:
    """A module of another version."""

    LAYOUT = "another"


def test_switched_off(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NATIVE", "0")
    assert native.load() is None


def test_demanded_but_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindtorch_runtime._native", None)
    monkeypatch.delenv("MINDTORCH_NATIVE", raising=False)
    assert native.load() is None
    monkeypatch.setenv("MINDTORCH_NATIVE", "1")
    with pytest.raises(ImportError, match="mindtorch-runtime was installed without its native module"):
        native.load()


def test_another_version(monkeypatch):
    monkeypatch.setitem(sys.modules, "mindtorch_runtime._native", Module)
    monkeypatch.delenv("MINDTORCH_NATIVE", raising=False)
    with pytest.warns(RuntimeWarning, match="build it anew; calls run in Python"):
        assert native.load() is None


USE = """
import sys
for name in sys.argv[1:]:
    sys.modules[name] = None
{imports}
x = mt.ones(2000, 100, requires_grad=True)
for _ in range(3):
    x.grad = None
    ((x + 1).exp() * x).sum().backward()
optimizer = mt.optim.Adam([x], foreach=True)
optimizer.step()
mt.optim.SGD([x], momentum=0.5, foreach=True).step()
print(round(x.grad[0, 0].item(), 3), x.grad[::2].shape[0], type(mt.add).__module__)
"""


@pytest.mark.parametrize(
    ("absent", "module"),
    [
        ([], "mindtorch_runtime._native"),
        (["mindtorch_cpu._native"], "mindtorch_runtime._native"),
        (["mindtorch_runtime._native"], "builtins"),
        (["mindtorch_runtime._native", "mindtorch_cpu._native"], "builtins"),
    ],
)
@pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
def test_native_modules_work_without_each_other(absent, module):
    pytest.importorskip("mindtorch")
    program = USE.format(imports="import mindtorch as mt")
    done = subprocess.run([sys.executable, "-c", program, *absent], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    gradient, rows, kind = done.stdout.split()
    assert (float(gradient), rows) == (14.778, "1000")
    assert kind == module or (module == "builtins" and kind != "mindtorch_runtime._native")


class Slotted:
    __slots__ = ("left", "other", "unset")


@pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")
def test_copied_slots(monkeypatch):
    """The native function gives what Python's gives, and refuses what is no slot."""
    given, names = Slotted(), ("left", "unset")
    given.left, given.other = [1], 2
    natively = native.module.copied(given, names)
    monkeypatch.setattr(native_path, "copied", None)
    for made in (copied(given, names), natively):
        assert type(made) is Slotted
        assert made.left is given.left
        assert not hasattr(made, "other")
        assert not hasattr(made, "unset")
    with pytest.raises(TypeError, match=r"'__doc__' of .*Slotted.* is no slot"):
        native.module.copied(given, ("__doc__",))
    with pytest.raises(TypeError, match="copied"):
        native.module.copied(given)
