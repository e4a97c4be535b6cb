"""Every command of `mindtorch-npu` on a simulated host, which it says, and on hosts without a device."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_npu import checks, diagnostics, doctor, probe, snapshot_page
from mindtorch_npu.acl import loader

SOURCE = Path(diagnostics.__file__).parents[1]
SIMULATED = "Ascend910B3:2,memory=256MiB"


def command(*arguments, simulator=SIMULATED, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ASCEND") and k != loader.SIMULATOR}
    environment["PYTHONPATH"] = str(SOURCE)
    if simulator:
        environment[loader.SIMULATOR] = simulator
    run = subprocess.run(
        [sys.executable, "-m", "mindtorch_npu", *arguments], env=environment, capture_output=True, text=True, timeout=120,
        check=False, **more,
    )  # fmt: skip
    return run.returncode, run.stdout, run.stderr


@pytest.mark.parametrize("name", ["info", "health", "memory", "bandwidth", "doctor"])
def test_reports_say_that_the_devices_are_simulated(name):
    status, shown, _ = command(name)
    assert status == 0
    assert "simulat" in shown
    status, shown, _ = command(name, "--json")
    found = json.loads(shown)
    assert (status, found["status"], found["schema"]) == (0, 0, diagnostics.SCHEMA)
    assert found["simulated"] is True


@pytest.mark.parametrize("name", ["health", "memory", "bandwidth", "watch"])
def test_trials_answer_for_every_device(name):
    more = ["--count", "1"] if name == "watch" else []
    status, shown, _ = command(name, "--json", *more)
    found = json.loads(shown)
    assert status == 0
    assert [entry["device"] for entry in found["devices"]] == [0, 1]
    assert all("simulated" in entry["name"] for entry in found["devices"])


def test_bandwidth_has_every_way():
    _, shown, _ = command("bandwidth", "--json")
    rates = json.loads(shown)["devices"][0]["gigabytes_per_second"]
    assert set(rates) == {"H2D pinned", "H2D pageable", "D2H pinned", "D2H pageable", "D2D"}
    assert all(rate > 0 for by_size in rates.values() for rate in by_size.values())


def test_memory_is_what_was_asked_for():
    _, shown, _ = command("memory", "--json")
    assert json.loads(shown)["devices"][0]["total"] == 256 * 2**20


def test_health_fails_with_the_device(tmp_path):
    status, shown, _ = command("health", "--json", simulator=SIMULATED + ",fail=rt.malloc@1+=507899")
    found = json.loads(shown)
    assert status == found["status"] == 2
    assert "507899" in found["devices"][0]["steps"]["memory keeps a pattern"]


def test_watch_looks_so_often_and_in_lines():
    status, shown, _ = command("watch", "--json", "--count", "2", "--interval", "0")
    lines = [json.loads(line) for line in shown.splitlines()]
    assert status == 0
    assert len(lines) == 2
    assert lines[0]["time"] <= lines[1]["time"]
    status, shown, _ = command("watch", "--count", "1")
    assert status == 0
    assert "used MiB" in shown


@pytest.mark.parametrize("name", ["health", "memory", "bandwidth", "watch", "info"])
def test_without_a_device_the_status_is_three(name):
    more = ["--count", "1"] if name == "watch" else []
    status, shown, _ = command(name, *more, simulator=None)
    assert status == 3
    assert shown.strip()


def test_doctor_without_cann_says_what_to_do_first():
    status, shown, errors = command("doctor", simulator=None)
    assert status == 1
    assert not errors
    assert "The NPU is not found: no /dev/davinci<number>." in shown
    assert "Do this first: Install the Ascend driver" in shown
    status, shown, _ = command("doctor", "--json", simulator=None)
    found = json.loads(shown)
    assert (status, found["status"], found["well"], found["simulated"]) == (1, 1, False, False)
    assert found["first"]["advice"] == found["steps"][0]["advice"]


def test_doctor_needs_no_other_distribution():
    others = "('numpy', 'mindtorch_storage')"
    code = (
        f"import sys; from mindtorch_npu.diagnostics import main; main(['doctor']); "
        f"print([m for m in {others} if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines()[-1] == "[]"


def test_doctor_says_when_the_simulators_text_is_wrong():
    status, shown, _ = command("doctor", simulator="Ascend999:1")
    assert status == 1
    assert "no chip 'Ascend999'" in shown


def _steps(monkeypatch, **statuses):
    monkeypatch.setattr(loader, "simulated", lambda: False)
    for name in ("devices", "visible_devices", "driver", "cann", "one_installation", "library_path", "acl", "runtime"):
        made = checks.Check(
            name, statuses.get(name, checks.OK), "v", None if statuses.get(name, checks.OK) == checks.OK else "why"
        )
        monkeypatch.setattr(checks, f"check_{name}", lambda *a, made=made: made)
    return doctor.report()


def test_doctor_finds_nothing_wrong(monkeypatch):
    found = _steps(monkeypatch)
    assert found["well"]
    assert [step["status"] for step in found["steps"]] == [doctor.OK] * 9
    assert doctor.text(found).endswith("The NPU should be found.")


@pytest.mark.parametrize(
    ("broken", "place"),
    [
        ("devices", 0),
        ("visible_devices", 1),
        ("driver", 2),
        ("cann", 3),
        ("one_installation", 4),
        ("library_path", 5),
        ("acl", 6),
        ("runtime", 7),
    ],
)
def test_doctor_names_the_step_that_fails(monkeypatch, broken, place):
    found = _steps(monkeypatch, **{broken: checks.FAILURE})
    assert not found["well"]
    assert found["steps"][place]["status"] == doctor.TROUBLE
    assert found["first"]["advice"] == found["steps"][place]["advice"]
    last = found["steps"][7]["status"]
    expected = (
        doctor.LEFT_OUT
        if broken in ("devices", "driver", "cann", "acl")
        else doctor.TROUBLE
        if broken == "runtime"
        else doctor.OK
    )
    assert last == expected


@pytest.fixture
def dumped(npu, tmp_path):
    from mindtorch_npu import memory

    memory.record_memory_history()
    blocks = [memory.caching_allocator_alloc(size) for size in (1000, 5 << 20, 30 << 20)]
    memory.caching_allocator_delete(blocks[1])
    path = tmp_path / "snapshot.pickle"
    memory.dump_snapshot(str(path))
    memory.record_memory_history(None)
    return path


def test_snapshot_view_writes_one_page_that_needs_nothing(dumped, capfd):
    assert diagnostics.main(["snapshot", "view", str(dumped)]) == 0
    shown = capfd.readouterr().out
    page = Path(f"{dumped}.html").read_text()
    assert f"written: {dumped}.html" in shown
    assert "http" not in page
    assert "src=" not in page
    for word in ("Timeline", "Segments", "Largest blocks", "active_allocated", "inactive"):
        assert word in page
    assert page.count('class="seg"') == 3


def test_snapshot_view_as_json(dumped, capfd, tmp_path):
    output = tmp_path / "page.html"
    assert diagnostics.main(["snapshot", "view", str(dumped), "-o", str(output), "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found["page"] == str(output)
    assert output.is_file()
    assert found["segments"] == 3
    assert found["reserved"] == (2 << 20) + (20 << 20) + (30 << 20) + (2 << 20)
    assert found["active"] < found["reserved"]
    assert found["largest_free"] <= found["free"]


def test_snapshot_timeline_ends_with_what_is_there(dumped):
    snapshot = snapshot_page.load(dumped)
    (history,) = snapshot_page.timeline(snapshot)
    last = history["points"][-1]
    blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive"]
    assert last["allocated"] == sum(b["requested_size"] for b in blocks) == 1000 + (30 << 20)
    assert last["reserved"] == sum(s["total_size"] for s in snapshot["segments"])
    assert [p["action"] for p in history["points"]].count("alloc") == 3


@pytest.mark.parametrize(
    "content", [b"", b"no pickle", pickle.dumps([1]), pickle.dumps({"a": 1}), pickle.dumps(os.system)]
)
def test_snapshot_view_refuses_other_files(tmp_path, content, capfd):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert diagnostics.main(["snapshot", "view", str(path), "--json"]) == 1
    assert "no memory snapshot" in json.loads(capfd.readouterr().out)["error"]
    assert not Path(f"{path}.html").exists()


def test_snapshot_view_of_no_file(tmp_path, capfd):
    assert diagnostics.main(["snapshot", "view", str(tmp_path / "none")]) == 1
    assert "none" in capfd.readouterr().err


def test_torchs_own_viewer_opens_the_snapshot(dumped):
    viz = pytest.importorskip("torch.cuda._memory_viz", reason="oracle")
    snapshot = pickle.loads(dumped.read_bytes())
    summary = viz.segsum(snapshot)
    assert "[" in summary
    trace = viz.trace(snapshot)
    assert "alloc" in trace
    for name in ("trace_plot", "segment_plot"):
        page = getattr(viz, name)(snapshot)
        assert "MemoryViz" in page


def test_probing_a_simulated_host(monkeypatch):
    monkeypatch.setenv(loader.SIMULATOR, SIMULATED)
    found = probe.ask()
    assert found.error is None
    assert (found.device_count, found.soc_name) == (2, "Ascend910B3")
