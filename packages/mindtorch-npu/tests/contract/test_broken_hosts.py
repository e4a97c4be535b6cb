"""`check` and `doctor` on hosts that are made of folders: what is missing is named first, with what to do about it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_npu import checks, diagnostics, doctor, runtime
from mindtorch_npu.acl import loader

SOURCE = Path(diagnostics.__file__).parents[1]
VARIABLES = (*loader.ROOT_VARIABLES, "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH", "LD_LIBRARY_PATH", loader.SIMULATOR)


class Folders:
    """A host's folders: devices, the driver and installations of CANN."""

    def __init__(self, root: Path) -> None:
        self.devices, self.installed = root / "dev", root / "Ascend"
        self.driver = self.installed / "driver" / "version.info"
        self.devices.mkdir()

    def card(self, number: int = 0) -> Path:
        path = self.devices / f"davinci{number}"
        path.touch()
        return path

    def with_driver(self) -> None:
        self.driver.parent.mkdir(parents=True)
        self.driver.write_text("Version=24.1.rc3\n")

    def cann(self, version: str, acl: str = "") -> Path:
        root = self.installed / f"cann-{version}"
        (root / "runtime").mkdir(parents=True)
        (root / "runtime" / "version.info").write_text(f"Version={version}\n")
        for folder in ("lib64", "opp", "python/site-packages"):
            (root / folder).mkdir(parents=True)
        (root / "python/site-packages/acl.py").write_text(acl)
        return root


@pytest.fixture
def host(tmp_path, monkeypatch):
    made = Folders(tmp_path)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "acl", raising=False)
    for function, given in ((checks.check_devices, made.devices), (checks.check_driver, made.driver)):
        monkeypatch.setattr(function, "__defaults__", (given,))
    for function in (loader.cann_roots, loader.absence, checks.check_cann):
        monkeypatch.setattr(function, "__defaults__", (*function.__defaults__[:-1], made.installed))
    monkeypatch.setattr(checks, "check_readings", list)  # of no driver's tool
    return made


def examined():
    found = doctor.report()
    return found, {step["question"]: step for step in found["steps"]}


def test_a_container_without_devices(host):
    host.with_driver(), host.cann("8.1.RC1")
    found, _ = examined()
    assert found["first"]["trouble"] == f"no {host.devices}/davinci<number>"
    assert "pass /dev/davinci<number>" in found["first"]["advice"]
    assert checks.exit_status(checks.run_checks()) == 3


def test_devices_that_this_user_may_not_open(host, monkeypatch):
    host.with_driver(), host.cann("8.1.RC1")
    closed, opened = host.card(0), host.card(1)
    real = runtime.os.access
    monkeypatch.setattr(runtime.os, "access", lambda path, mode: path != closed and real(path, mode))
    found, _ = examined()
    assert found["first"]["trouble"] == f"{closed}, {opened}; no permission: {closed}"
    assert "join the group" in found["first"]["advice"]
    assert checks.exit_status(checks.run_checks()) == 2


def test_a_host_without_driver(host):
    host.card(), host.cann("8.1.RC1")
    found, steps = examined()
    assert found["first"]["trouble"] == f"no {host.driver}"
    assert "Install the driver" in found["first"]["advice"]
    assert steps["Does the runtime load and count devices?"]["status"] == doctor.LEFT_OUT


def test_a_host_without_cann(host):
    host.card(), host.with_driver()
    found, _ = examined()
    assert "ASCEND_HOME_PATH" in found["first"]["trouble"]
    assert found["first"]["advice"] == "Install the CANN toolkit and source its set_env.sh."


def test_two_versions_on_the_paths(host, monkeypatch):
    host.card(), host.with_driver()
    old, new = host.cann("8.0.RC3"), host.cann("8.1.RC1")
    monkeypatch.setenv("ASCEND_HOME_PATH", str(new))
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{new}/lib64:{old}/lib64:/usr/lib")
    monkeypatch.setenv("ASCEND_OPP_PATH", f"{old}/opp")
    line = next(check for check in checks.run_checks() if check.name == "one CANN")
    assert (line.status, line.value) == (
        checks.WARNING,
        "8.1.RC1 in ASCEND_HOME_PATH, LD_LIBRARY_PATH, 8.0.RC3 in ASCEND_OPP_PATH, LD_LIBRARY_PATH",
    )
    found, steps = examined()
    assert found["first"]["advice"] == "Begin in a new shell and source the set_env.sh of one installation."
    assert (
        steps["Can Python import pyACL?"]["status"] == doctor.TROUBLE
    )  # nothing was sourced, so it is looked at all the same
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{new}/lib64"), monkeypatch.setenv("ASCEND_OPP_PATH", f"{new}/opp")
    assert checks.check_one_installation().status == checks.OK


@pytest.mark.parametrize(
    ("acl", "said"),
    [
        ("raise ImportError('libascendcl.so: cannot open shared object file: Permission denied')", "Permission denied"),
        ("raise ImportError('libascendcl.so: file too short')", "file too short"),
        ("x = 1", "is not Ascend's"),
        ("import os; os._exit(139)", "139"),
    ],
)
def test_libraries_that_cannot_be_loaded_are_told_by_a_process_of_its_own(host, acl, said):
    root = host.cann("8.1.RC1", acl)
    environment = {
        "PATH": "/usr/bin:/bin", "ASCEND_HOME_PATH": str(root), "PYTHONPATH": f"{SOURCE}:{root}/python/site-packages",
    }  # fmt: skip
    line = [sys.executable, "-m", "mindtorch_npu", "check", "--load", "--json"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    found = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode in (2, 3)
    assert found["runtime"]["status"] == checks.FAILURE
    assert said in found["runtime"]["why"]


def test_numbers_for_prometheus_lose_no_digit(monkeypatch, capsys):
    monkeypatch.setenv(loader.SIMULATOR, "Ascend910B3:1,memory=256MiB")
    assert diagnostics.main(["metrics"]) == 0
    assert 'mindtorch_npu_memory_total_bytes{device="0"} 268435456\n' in capsys.readouterr().out
