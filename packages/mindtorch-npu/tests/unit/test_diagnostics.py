"""The diagnostics command on hosts with and without parts of an Ascend installation."""

import json

import pytest

from mindtorch_npu import checks, diagnostics, probe, runtime


def test_devices_are_sorted_by_number_and_managers_left_out(tmp_path):
    for name in ("davinci10", "davinci2", "davinci_manager", "davincix"):
        (tmp_path / name).touch()
    assert [n.path.name for n in runtime.device_nodes(tmp_path)] == ["davinci2", "davinci10"]


def test_no_device_is_absent_with_a_reason(tmp_path):
    check = checks.check_devices(tmp_path)
    assert (check.status, check.value) == (checks.ABSENT, None)
    assert str(tmp_path) in check.why
    assert runtime.unavailable_reason(tmp_path).startswith("no Ascend device")


def test_device_file(tmp_path):
    (tmp_path / "davinci0").touch()
    assert checks.check_devices(tmp_path) == checks.Check("devices", "ok", str(tmp_path / "davinci0"))


def test_driver_version(tmp_path):
    file = tmp_path / "version.info"
    assert checks.check_driver(file).status == checks.WARNING
    file.write_text("Version=25.0.rc1\nascendhal_version=7.35\n")
    assert checks.check_driver(file).value == "25.0.rc1"


@pytest.mark.parametrize(
    ("needed", "status", "text"),
    [
        ("7.35.23", checks.OK, "2 of its parts"),
        ("7.35.9", checks.OK, "2 of its parts"),
        ("7.36", checks.FAILURE, "runtime needs ascendhal 7.36, the driver has 7.35.23"),
    ],
)
def test_a_driver_that_is_too_old_for_cann(tmp_path, needed, status, text):
    driver, root = tmp_path / "driver.info", tmp_path / "cann"
    for part, line in (
        ("runtime", f"required_driver_ascendhal_version={needed}"),
        ("opp", "Version=8.2"),
        ("fwk", "required_driver_tdt_version=1.0"),
    ):
        (root / part).mkdir(parents=True)
        (root / part / "version.info").write_text(line + "\n")
    driver.write_text("Version=25.0.rc1\nascendhal_version=7.35.23\ntdt_version=1.0\n")
    found = checks.check_driver_fits({"ASCEND_HOME_PATH": str(root)}, tmp_path / "none", driver)
    assert found.status == status
    assert text in (found.why or found.value)
    assert checks.check_driver_fits({}, tmp_path / "none", driver).status == checks.WARNING


def test_stub_libraries_are_a_warning():
    check = checks.check_library_path({"LD_LIBRARY_PATH": "/a/lib64:/b/runtime/lib64/stub/"})
    assert check.status == checks.WARNING
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
    found = [checks.Check("x", s, "v") for s in statuses]
    assert checks.exit_status(found) == expected


def test_report_as_json_equals_the_exit_status(capsys):
    status = diagnostics.main(["--json"])
    report = json.loads(capsys.readouterr().out)
    assert report["status"] == status
    assert report["schema"] == diagnostics.SCHEMA
    assert all(c["value"] is not None or c["why"] for c in report["checks"])


def test_report_as_text_names_every_check(capsys):
    diagnostics.main([])
    shown = capsys.readouterr().out
    assert all(f"  {c.name}: " in shown for c in checks.run_checks())


@pytest.mark.parametrize(
    ("value", "status"),
    [(None, "ok"), ("0,1", "ok"), ("3", "ok"), ("1,0", "warning"), ("0,x", "warning"), ("", "warning")],
)
def test_visible_devices(value, status):
    environment = {} if value is None else {checks.VISIBLE_DEVICES: value}
    assert checks.check_visible_devices(environment).status == status


def test_cann_versions_of_both_layouts(tmp_path):
    old, new = tmp_path / "ascend-toolkit" / "latest", tmp_path / "cann-8.5.0"
    (old / "x86_64-linux").mkdir(parents=True)
    (old / "x86_64-linux" / "ascend_toolkit_install.info").write_text(
        "package_name=Ascend-cann-toolkit\nversion=8.1.RC1\n"
    )
    (new / "runtime").mkdir(parents=True)
    (new / "runtime" / "version.info").write_text('# a comment\nVersion="8.5.0"\n')
    check = checks.check_cann({}, tmp_path)
    assert check.value == f"{new} (8.5.0), {old} (8.1.RC1)"


def test_info_names_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(probe, "ask", lambda: probe.Report(error="no CANN"))
    monkeypatch.setattr(runtime, "device_nodes", lambda: [])
    assert diagnostics.main(["info", "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["device_count"] is None
    assert facts["why"]["runtime"] == "no CANN"
    assert diagnostics.main(["info"]) == 3
    assert "no CANN" in capsys.readouterr().out


def test_errors_by_number_name_and_part(capsys):
    assert diagnostics.main(["errors", "507015", "ACL_ERROR_RT_INVALID_DEVICEID", "device_oom"]) == 0
    shown = capsys.readouterr().out
    assert "507015 ACL_ERROR_RT_AICORE_EXCEPTION: aicore exception (internal error, runtime)\n    AI core" in shown
    assert "107001 ACL_ERROR_RT_INVALID_DEVICEID" in shown
    assert "207018 ACL_ERROR_RT_DEVICE_OOM" in shown


def test_errors_unknown(capsys):
    assert diagnostics.main(["errors", "999999", "nothing_called_so", "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["unknown"] == ["999999", "nothing_called_so"]
    assert report["codes"][0]["name"] is None


def test_errors_in_a_log(capsys, monkeypatch):
    log = [
        "[ERROR] 2026-01-01 set_device failed, retCode=0x7020014, error code is 507033\n",
        "EZ9999: Inner Error!\n",
    ] * 2
    monkeypatch.setattr("sys.stdin", iter(log))
    assert diagnostics.main(["errors", "-"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("507033 ACL_ERROR_RT_DEV_SETUP_ERROR")
    assert "the driver could not be opened" in lines[1]
    assert lines[2].startswith("EZ9999: an inner error")
    assert len(lines) == 3


@pytest.mark.parametrize("arguments", [["nonsense"], ["errors"], ["check", "--no-such-option"]])
def test_wrong_command_line(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        diagnostics.main(arguments)
    assert caught.value.code == 2
