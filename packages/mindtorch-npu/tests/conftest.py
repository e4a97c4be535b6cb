"""A module with the behaviour of pyACL that the core uses, recorded in the vendor's documents and on a board.

Arguments are positional only, a wrong count is ``TypeError("... args parse failed")``; results are tuples that end with
the return code, but for the functions that return a bare value. The real module is a C extension without constants.
"""

import sys
from pathlib import Path

import pytest

FAKE_ACL = '''
"""Stands for pyACL in tests. The state can be set through ACL_* variables, to reach child processes too."""
import os

calls = []
_state = {"initialized": False, "finalized": False}

def _number(name, default):
    return int(os.environ.get(name, default))

def init(*args):
    calls.append("init")
    if len(args) > 1:
        raise TypeError("acl.init args parse failed")
    if "ACL_INIT" in os.environ:
        return _number("ACL_INIT", 0)
    if _state["initialized"]:
        return 100002
    _state["initialized"] = True
    return 0

def finalize(*args):
    calls.append("finalize")
    if _state["finalized"]:
        return 100037
    _state["finalized"] = True
    return 0

def get_version(*args):
    return 1, 8, 0, 0

def get_soc_name(*args):
    return "Ascend910B3"

def get_recent_err_msg(*args):
    text, _state["message"] = _state.get("message"), None
    return text

class rt:
    @staticmethod
    def get_device_count(*args):
        calls.append("get_device_count")
        if args:
            raise TypeError("acl.rt.get_device_count args parse failed")
        code = _number("ACL_COUNT_CODE", 0)
        if code:
            _state["message"] = "EL0004: the driver said no\\\\n"
        return (0 if code else _number("ACL_DEVICES", 2)), code
'''


@pytest.fixture
def acl_folder(tmp_path: Path) -> Path:
    """A folder with the module `acl`."""
    folder = tmp_path / "cann" / "python" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "acl.py").write_text(FAKE_ACL)
    return folder


@pytest.fixture
def fake_acl(acl_folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The fake pyACL, importable in this process, and a runtime that has not been initialised."""
    from mindtorch_npu import runtime

    monkeypatch.syspath_prepend(acl_folder)
    monkeypatch.delitem(sys.modules, "acl", raising=False)
    for name, value in (("_acl", None), ("_owner", False), ("_bad_fork", False)):
        monkeypatch.setattr(runtime, name, value)
    monkeypatch.setattr(runtime, "_fork_hook_set", True)  # no hooks in the process of the tests
    import acl

    yield acl
    sys.modules.pop("acl", None)


@pytest.fixture
def npu(monkeypatch: pytest.MonkeyPatch):
    """A simulated host with two devices of 1 GiB; the value is its machine."""
    from mindtorch_npu import simulator, switches

    from .simulated import simulated

    with simulated(monkeypatch) as machine:
        yield machine
        switches.forget_plans()
        assert not simulator.leaks()


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch):
    """No share of memory set by another test."""
    from mindtorch_npu.allocator import limiting

    monkeypatch.setattr(limiting, "process_fractions", {})
