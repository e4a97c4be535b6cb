"""The diagnostics command on hosts with and without parts of an Ascend installation."""

import importlib.util
import json
import sys

import pytest

from mindtorch_npu import diagnostics, runtime
from mindtorch_npu.acl import loader


@pytest.fixture
def cann(tmp_path):
    for name in ("cann-8.5.0", "ascend-toolkit/latest"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def test_devices_are_sorted_by_number_and_managers_left_out(tmp_path):
    for name in ("davinci10", "davinci2", "davinci_manager", "davincix"):
        (tmp_path / name).touch()
    assert [n.path.name for n in runtime.device_nodes(tmp_path)] == ["davinci2", "davinci10"]


def test_no_device_is_absent_with_a_reason(tmp_path):
    check = diagnostics.check_devices(tmp_path)
    assert (check.status, check.value) == (diagnostics.ABSENT, None)
    assert str(tmp_path) in check.why
    assert runtime.unavailable_reason(tmp_path).startswith("no Ascend device")


def test_device_file(tmp_path):
    (tmp_path / "davinci0").touch()
    assert diagnostics.check_devices(tmp_path) == diagnostics.Check("devices", "ok", str(tmp_path / "davinci0"))


def test_cann_roots_prefer_the_environment_and_name_each_root_once(cann):
    named = cann / "ascend-toolkit" / "latest"
    assert list(loader.cann_roots({"ASCEND_HOME_PATH": str(named)}, cann)) == [named, cann / "cann-8.5.0"]
    assert list(loader.cann_roots({"ASCEND_HOME_PATH": str(cann / "gone")}, cann)) == [cann / "cann-8.5.0", named]


@pytest.mark.skipif(importlib.util.find_spec("acl") is not None, reason="pyACL is installed")
def test_missing_acl_says_what_to_do(cann, tmp_path):
    assert f"source {cann / 'cann-8.5.0'}/set_env.sh" in loader.why_not({}, cann)
    assert "not installed" in loader.why_not({}, tmp_path / "empty")


def test_a_module_called_acl_that_is_not_ascends_is_refused(tmp_path, monkeypatch):
    (tmp_path / "acl.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "acl", raising=False)
    with pytest.raises(loader.AclNotFoundError, match="is not Ascend's"):
        loader.load()
    monkeypatch.delitem(sys.modules, "acl", raising=False)


def test_acl_that_does_not_load_says_why(tmp_path, monkeypatch):
    (tmp_path / "acl.py").write_text("raise ImportError('libascendcl.so: cannot open shared object file')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "acl", raising=False)
    with pytest.raises(loader.AclNotFoundError, match=r"libascendcl\.so"):
        loader.load()


def test_driver_version(tmp_path):
    file = tmp_path / "version.info"
    assert diagnostics.check_driver(file).status == diagnostics.WARNING
    file.write_text("Version=25.0.rc1\nascendhal_version=7.35\n")
    assert diagnostics.check_driver(file).value == "25.0.rc1"


def test_stub_libraries_are_a_warning():
    check = diagnostics.check_library_path({"LD_LIBRARY_PATH": "/a/lib64:/b/runtime/lib64/stub/"})
    assert check.status == diagnostics.WARNING
    assert "/b/runtime/lib64/stub/" in check.why


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["ok", "ok"], 0),
        (["ok", "warning"], 1),
        (["warning", "failure"], 2),
        (["failure", "absent"], 3),
    ],
)
def test_exit_status(statuses, expected):
    checks = [diagnostics.Check("x", s, "v") for s in statuses]
    assert diagnostics.exit_status(checks) == expected


def test_report_as_json_equals_the_exit_status(capsys):
    status = diagnostics.main(["--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == status
    assert report["schema"] == diagnostics.SCHEMA
    assert all(c["value"] is not None or c["why"] for c in report["checks"])


def test_report_as_text_names_every_check(capsys):
    diagnostics.main([])
    shown = capsys.readouterr().out
    assert all(f"  {c.name}: " in shown for c in diagnostics.doctor())
