"""Finding pyACL, and saying precisely why it cannot be used."""

import importlib.util
import os
import pickle
import sys

import pytest

from mindtorch_npu.acl import loader

pytestmark = pytest.mark.skipif(importlib.util.find_spec("acl") is not None, reason="pyACL is installed")


@pytest.fixture
def cann(tmp_path):
    for name in ("cann-8.5.0", "ascend-toolkit/latest"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Puts a module `acl` with the given text on the path."""

    def write(text):
        (tmp_path / "acl.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "acl", raising=False)

    yield write
    sys.modules.pop("acl", None)


def test_cann_roots_prefer_the_environment_and_name_each_root_once(cann):
    named = cann / "ascend-toolkit" / "latest"
    assert list(loader.cann_roots({"ASCEND_HOME_PATH": str(named)}, cann)) == [named, cann / "cann-8.5.0"]
    assert list(loader.cann_roots({"ASCEND_HOME_PATH": str(cann / "gone")}, cann)) == [cann / "cann-8.5.0", named]


def test_absence_is_looked_up_once_for_a_path_and_an_environment(monkeypatch, tmp_path):
    looked = []
    absence = loader.absence
    monkeypatch.setattr(loader, "absence", lambda: looked.append(sys.path[0]) or absence())
    monkeypatch.delenv(loader.SIMULATOR, raising=False)
    monkeypatch.syspath_prepend(tmp_path / "first")
    for _ in range(3):
        with pytest.raises(loader.AclNotFoundError):
            loader.load()
    monkeypatch.syspath_prepend(tmp_path / "second")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(tmp_path))
    for _ in range(2):
        with pytest.raises(loader.AclNotFoundError, match="source"):
            loader.load()
    assert looked == [str(tmp_path / "first"), str(tmp_path / "second")]


def test_the_newest_is_so_by_number(tmp_path):
    names = ["cann-8.5.0", "cann-8.10.0", "cann-9.0.RC1", "cann-8.10.0.RC2", "cann-8.9.1"]
    for name in names:
        (tmp_path / name).mkdir()
    found = [root.name for root in loader.cann_roots({}, tmp_path)]
    assert found == ["cann-9.0.RC1", "cann-8.10.0", "cann-8.10.0.RC2", "cann-8.9.1", "cann-8.5.0"]


def test_cann_is_not_installed(tmp_path):
    found = loader.absence({}, tmp_path / "empty")
    assert found.kind == loader.NOT_INSTALLED
    assert found.text == (
        f"the CANN toolkit is not installed (looked at ASCEND_HOME_PATH, ASCEND_TOOLKIT_HOME and {tmp_path / 'empty'})"
    )


def test_environment_is_not_sourced(cann):
    found = loader.absence({}, cann)
    assert found.kind == loader.NOT_SOURCED
    assert f"run `source {cann / 'cann-8.5.0'}/set_env.sh`" in found.text


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_cann_that_may_not_be_read(cann):
    packages = cann / "cann-8.5.0" / "python" / "site-packages"
    packages.mkdir(parents=True)
    packages.chmod(0)
    assert loader.absence({}, cann).kind == loader.PERMISSION


def test_load_returns_the_module(fake_acl):
    assert loader.load() is fake_acl
    assert fake_acl.calls == []


def test_a_module_called_acl_that_is_not_ascends_is_refused(module):
    module("")
    with pytest.raises(loader.AclNotFoundError, match="is not Ascend's") as caught:
        loader.load()
    assert caught.value.kind == loader.FOREIGN


MISSING = "cannot open shared object file: "
CASES = [
    (f"libascendcl.so: {MISSING}No such file or directory", loader.NOT_SOURCED, "set_env.sh"),
    (f"libge_runner.so: {MISSING}No such file or directory", loader.NOT_SOURCED, "libge_runner.so of CANN"),
    (f"libascend_hal.so: {MISSING}No such file or directory", loader.DRIVER, "install the driver"),
    (f"libdrvdsmi_host.so: {MISSING}No such file or directory", loader.DRIVER, "map it into the container"),
    (f"libascendcl.so: {MISSING}Permission denied", loader.PERMISSION, "may not read"),
    ("[Errno 13] Permission denied: '/usr/local/Ascend/acl.so'", loader.PERMISSION, "may not be read"),
    ("/x/acl.so: undefined symbol: _ZN12ErrorManager11GetInstanceEv", loader.VERSION, "CANN and driver do not fit"),
    ("/x/acl.so: undefined symbol: _PyThreadState_Current", loader.VERSION, "another version of Python"),
    ("/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found", loader.VERSION, "too old"),
    ("No module named 'numpy'", loader.INCOMPLETE, "No module named 'numpy'"),
]


@pytest.mark.parametrize(("text", "kind", "advice"), CASES)
def test_import_errors_are_told_apart(text, kind, advice, module):
    module(f"raise ImportError({text!r})")
    with pytest.raises(loader.AclNotFoundError) as caught:
        loader.load()
    assert caught.value.kind == kind
    assert advice in str(caught.value)
    assert text in str(caught.value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.kind, str(copy), copy.name) == (kind, str(caught.value), "acl")
