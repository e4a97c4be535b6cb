"""Every command with a card that hangs, is missing, is full, or has errors of its memory: status, exit code, in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from mindtorch_npu import diagnostics, endpoint, readings, simulator, workers
from mindtorch_npu.acl import loader

SOURCE = Path(diagnostics.__file__).parents[1]
HOST = "Ascend910B3:2,memory=256MiB,"


def command(*arguments, trouble):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND")}
    environment |= {"PYTHONPATH": str(SOURCE), loader.SIMULATOR: HOST + trouble}
    line = [sys.executable, "-m", "mindtorch_npu", *arguments, "--json"]
    run = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return run.returncode, json.loads(run.stdout.splitlines()[-1] if arguments[0] == "watch" else run.stdout)


EXPECTED = {
    "hung=1": {"health": ("hung", 2), "memory": ("hung", 2), "watch": ("hung", 2)},
    "missing=1": {"health": ("failure", 2), "memory": ("failure", 2), "watch": ("failure", 2)},
    "full=1": {"health": ("full", 1), "memory": ("full", 1), "watch": ("full", 1)},
    "ecc=1": {"health": ("ecc", 2), "memory": ("ecc", 2), "watch": ("ecc", 2)},
}


@pytest.mark.parametrize("name", ["health", "memory", "watch"])
@pytest.mark.parametrize("trouble", EXPECTED)
def test_a_bad_card_is_named_and_hides_no_other(trouble, name):
    status, found = command(name, *(["--count", "1"] if name == "watch" else []), trouble=trouble)
    expected, code = EXPECTED[trouble][name]
    assert (status, found["status"]) == (code, code)
    assert [entry["status"] for entry in found["devices"]] == ["ok", expected]
    assert found["devices"][1]["error"]


@pytest.mark.parametrize("name", ["report", "bandwidth", "selftest"])
def test_commands_that_open_devices_are_not_held_up_by_one_that_hangs(tmp_path, name):
    output = [] if name == "bandwidth" else ["--output", str(tmp_path / "file")]
    begin = time.monotonic()
    status, found = command(name, *output, trouble="hung=0")
    assert time.monotonic() - begin < 30  # ten seconds where nothing else runs; devices that answer get 60 and 600
    if name == "report":
        with tarfile.open(tmp_path / "file") as archive:
            health = json.load(archive.extractfile("mindtorch-npu-report/health.json"))
        assert (status, health["devices"][0]["status"]) == (0, "hung")
    elif name == "bandwidth":
        assert (status, [entry["status"] for entry in found["devices"]]) == (2, ["hung", "ok"])
        assert found["devices"][1]["gigabytes_per_second"]
    else:
        assert status == 2
        assert "device 0 is not asked: the device did not answer within" in found["error"]


@pytest.mark.parametrize("name", ["check", "info", "doctor", "metrics"])
@pytest.mark.parametrize("trouble", EXPECTED)
def test_a_bad_card_is_seen_by_every_other_command(monkeypatch, capsys, trouble, name):
    monkeypatch.setenv(simulator.VARIABLE, HOST + trouble)
    expected, code = EXPECTED[trouble]["memory"]
    code = {"doctor": code // 2}.get(name, code)  # full is no trouble to it
    assert diagnostics.main([name]) == code
    shown = capsys.readouterr().out
    if name == "metrics":
        assert f'mindtorch_npu_status{{device="1",status="{expected}"}} 1' in shown
    else:
        assert expected in next(line for line in shown.splitlines() if "device 1" in line)
        assert "simulate" in shown


def test_errors_and_events_ask_no_device(monkeypatch, tmp_path):
    monkeypatch.setenv(simulator.VARIABLE, HOST + "hung=0,hung=1")
    monkeypatch.setattr(readings, "read", None)
    assert diagnostics.main(["errors", "507015"]) == 0
    assert diagnostics.main(["events", "--history", str(tmp_path / "none")]) == 0


def test_devices_that_hang_are_waited_for_together(monkeypatch):
    monkeypatch.setenv(simulator.VARIABLE, "Ascend910B3:8,memory=256MiB," + ",".join(f"hung={n}" for n in range(8)))
    asked, barrier = [], threading.Barrier(8, timeout=20)  # each is asked before one has answered

    def answer(*given):
        asked.append(given)
        barrier.wait()
        return ""

    monkeypatch.setattr(readings, "_asked", answer)
    assert [one["status"] for one in readings.read_all()] == ["failure"] * 8
    assert all(seconds > readings.TIMEOUT_S / 2 for _, _, seconds in asked)


def test_a_host_without_the_drivers_tool_is_no_broken_one(monkeypatch, tmp_path):
    monkeypatch.delenv(simulator.VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(readings, "indices", lambda: [0])
    (found,) = readings.read_all()
    assert (found["status"], workers.exit_status([found])) == ("unknown", 1)
    assert "npu-smi not found" in found["error"]


def test_a_hung_device_says_where(monkeypatch):
    monkeypatch.setenv(simulator.VARIABLE, HOST + "hung=0")
    found = workers.run("health")
    assert "(at: open)" in found["devices"][0]["error"]
    assert found["devices"][1]["status"] == "ok"


def test_a_trouble_of_no_device_is_a_wrong_setting():
    with pytest.raises(ValueError, match="names no device"):
        simulator.settings.parse("Ascend910B3:2,hung=2")


def test_metrics_and_history(monkeypatch, tmp_path, capsys):
    history, out = tmp_path / "events.jsonl", tmp_path / "npu.prom"
    for trouble, code in (("delay=0", 0), ("delay=0", 0), ("ecc=1", 2), ("delay=0", 0)):
        monkeypatch.setenv(simulator.VARIABLE, HOST + trouble)
        assert diagnostics.main(["metrics", "--textfile", str(out), "--history", str(history)]) == code
    text = out.read_text()
    assert f'mindtorch_npu_memory_total_bytes{{device="0"}} {2**28}\n' in text
    assert 'mindtorch_npu_status{device="1",status="ok"} 1' in text
    assert not list(tmp_path.glob("*.part"))
    assert diagnostics.main(["events", "--history", str(history), "--json"]) == 0
    seen = [(row["device"], row["status"]) for row in json.loads(capsys.readouterr().out)["events"]]
    assert seen == [(0, "ok"), (1, "ok"), (1, "ecc"), (1, "ok")]


def test_the_endpoint_answers_prometheus(monkeypatch):
    monkeypatch.setenv(simulator.VARIABLE, HOST + "full=0")
    made = endpoint.server("0")
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    try:
        place = f"http://127.0.0.1:{made.server_address[1]}"
        with urllib.request.urlopen(f"{place}/metrics", timeout=20) as answer:
            assert 'status{device="0",status="full"} 1' in answer.read().decode()
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(f"{place}/other", timeout=20)
    finally:
        made.shutdown()
        made.server_close()
        thread.join()


def test_how_long_a_command_waits_can_be_said(monkeypatch):
    monkeypatch.setenv("MINDTORCH_NPU_TIMEOUT", "2.5")
    status, found = command("memory", trouble="hung=1")
    assert status == 2
    assert "within 2.5 s" in found["devices"][1]["error"]


def test_the_report_is_one_archive(tmp_path):
    output = tmp_path / "report.tar.gz"
    status, found = command("report", "--output", str(output), trouble="ecc=0")
    assert status == 0
    with tarfile.open(output) as archive:
        names = [name.removeprefix("mindtorch-npu-report/") for name in archive.getnames()]
        health = json.load(archive.extractfile("mindtorch-npu-report/health.json"))
    assert names == found["files"]
    assert {"check.json", "doctor.json", "info.json", "memory.json", "environment.json", "packages.txt"} <= set(names)
    assert health["devices"][0]["status"] == "ecc"


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ("EL0004", "could not be allocated"),
        ("EZ9999", "inner error"),
        ("EE1", "runtime, caused by the caller"),
        ("0x26", "AI core exception"),
        ("ERR00001", "the framework, a wrong parameter"),
        ("5070", "507015 ACL_ERROR_RT_AICORE_EXCEPTION"),
        ("ACL_ERROR_RT_AICORE", "507015 ACL_ERROR_RT_AICORE_EXCEPTION"),
    ],
)
def test_errors_finds_codes_and_their_beginnings(word, shown, capsys):
    assert diagnostics.main(["errors", word]) == 0
    assert shown in capsys.readouterr().out


def test_errors_names_what_it_does_not_know(capsys):
    assert diagnostics.main(["errors", "507015", "0x77", "nonsense"]) == 1
    shown = capsys.readouterr().out
    assert "not recognised: 0x77" in shown
    assert "not recognised: nonsense" in shown
