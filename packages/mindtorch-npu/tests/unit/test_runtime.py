"""Queries that never raise, initialising once, and refusing with the reason."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import mindtorch_npu as npu
from mindtorch_npu import probe, runtime
from mindtorch_npu.acl import AclError, loader

SOURCE = Path(npu.__file__).parents[1]


def test_without_acl(monkeypatch):
    monkeypatch.setattr(runtime.loader, "INSTALL_FOLDER", Path("/none"))
    monkeypatch.setitem(sys.modules, "acl", None)
    assert npu.device_count() == 0
    assert npu.is_available() is False
    assert npu.is_initialized() is False
    with pytest.raises(npu.NpuUnavailableError, match=r"^NPU is not available: "):
        npu.init()


def test_with_devices(fake_acl):
    assert npu.device_count() == 2
    assert npu.is_available() is True
    assert not npu.is_initialized()
    assert "init" not in fake_acl.calls


@pytest.mark.parametrize("code", ["507033", "207004", "107002"])
def test_a_runtime_that_cannot_count_has_no_device(fake_acl, monkeypatch, code):
    monkeypatch.setenv("ACL_COUNT_CODE", code)
    assert npu.device_count() == 0
    with pytest.raises(AclError, match=code):
        npu.init()
    assert not npu.is_initialized()


@pytest.mark.parametrize("broken", [lambda: (), lambda: None, lambda: ("x", 0), "not a function"])
def test_a_module_that_answers_nonsense_is_no_device(fake_acl, monkeypatch, broken):
    monkeypatch.setattr(fake_acl.rt, "get_device_count", broken)
    assert npu.device_count() == 0


def test_init_once_from_many_threads(fake_acl):
    modules = []
    threads = [threading.Thread(target=lambda: modules.append(npu.init())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert modules == [fake_acl] * 8
    assert fake_acl.calls.count("init") == 1
    assert npu.is_initialized()


def test_no_devices(fake_acl, monkeypatch):
    monkeypatch.setenv("ACL_DEVICES", "0")
    with pytest.raises(npu.NpuUnavailableError, match=r"^No NPUs are available$"):
        npu.init()
    assert fake_acl.calls[-1] == "finalize"
    assert not npu.is_initialized()


def test_init_is_refused_with_the_code(fake_acl, monkeypatch):
    monkeypatch.setenv("ACL_INIT", "500000")
    with pytest.raises(AclError, match="500000 ACL_ERROR_INTERNAL_ERROR"):
        npu.init()


def test_someone_elses_initialisation_is_not_finalised(fake_acl):
    assert fake_acl.init() == 0
    npu.init()
    runtime._finalize()
    assert "finalize" not in fake_acl.calls


def run(folder, code, **variables):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), str(folder)]), **variables}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)


FORK = """
import os, sys, mindtorch_npu as npu
{before}
child = os.fork()
if child == 0:
    try:
        npu.init()
        print("initialised", npu.is_initialized())
    except RuntimeError as error:
        print(type(error).__name__, error, npu.is_initialized(), npu.device_count())
    sys.stdout.flush()
    os._exit(0)
os.waitpid(child, 0)
"""


def test_fork_after_init_is_refused(acl_folder):
    result = run(acl_folder, FORK.format(before="npu.init()"))
    assert result.stdout == (
        "RuntimeError Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use "
        "the 'spawn' start method False 2\n"
    ), result.stderr


def test_fork_after_queries_is_fine(acl_folder):
    result = run(acl_folder, FORK.format(before="assert npu.is_available() and npu.device_count() == 2"))
    assert result.stdout == "initialised True\n", result.stderr


def test_finalised_at_exit(acl_folder):
    code = "import atexit, acl; atexit.register(lambda: print(acl.calls)); import mindtorch_npu; mindtorch_npu.init()"
    assert run(acl_folder, code).stdout == "['init', 'get_device_count', 'finalize']\n"


def test_probe(acl_folder):
    code = "from mindtorch_npu import probe; print(probe.ask())"
    expected = "Report(device_count=2, soc_name='Ascend910B3', acl_version='1.8.0', error=None)\n"
    assert run(acl_folder, code).stdout == expected
    refused = run(acl_folder, code, ACL_COUNT_CODE="507033").stdout
    assert "507033 ACL_ERROR_RT_DEV_SETUP_ERROR" in refused


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("import time; time.sleep(60)", "pyACL did not answer within 1 s"),
        ("import os; os._exit(11)", "pyACL ended the process (status 11): no output"),
        ("raise ImportError('libascend_hal.so: cannot open shared object file: No such file')", "install the driver"),
    ],
)
def test_probe_survives_the_vendor(tmp_path, text, error):
    (tmp_path / "acl.py").write_text(text)
    result = run(tmp_path, "from mindtorch_npu import probe; print(probe.ask(1.0).error)")
    assert error in result.stdout, result.stderr
    assert probe.TIMEOUT_S > 1


def test_a_device_tensor_without_a_device_says_what_is_missing(monkeypatch, tmp_path):
    torch = pytest.importorskip("mindtorch")
    monkeypatch.setattr(runtime, "_acl", None)
    for variable in (*loader.ROOT_VARIABLES, loader.SIMULATOR):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(runtime.NpuUnavailableError, match="NPU is not available: the CANN toolkit is not installed"):
        torch.zeros(2, device="npu")
