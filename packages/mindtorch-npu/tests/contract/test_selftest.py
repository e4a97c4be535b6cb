"""`mindtorch-npu selftest`: what the device answers beside what the simulator answers, in one file."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import selftest, simulator


def test_a_device_as_the_simulator_differs_in_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(simulator.VARIABLE, "Ascend910B3:1,memory=256MiB")
    output = tmp_path / "selftest.json"
    assert selftest.main(["--output", str(output)]) == 0
    shown, report = capsys.readouterr().out, json.loads(output.read_text())
    assert "0 differ" in shown
    assert report["answers"]["missing"] == []
    assert report["answers"]["errors"]["set_device(99)"] == 107001
    assert report["answers"]["results"]["Abs float32[1]"] == pytest.approx(
        report["answers"]["results"]["Relu float32[1]"]
    )
    assert len(report["answers"]["results"]) > 300


def test_another_answer_is_a_difference():
    simulated = {"errors": {"free(0)": 100000}, "results": {"Exp float32[1]": [1.0]}, "missing": []}
    device = {"errors": {"free(0)": 0}, "results": {"Exp float32[1]": [1.1]}, "missing": ["aclnnExp"]}
    found = [(row["what"], row["name"]) for row in selftest.compare(device, simulated)]
    assert found == [("errors", "free(0)"), ("results", "Exp float32[1]"), ("missing", "aclnnExp")]
    assert selftest.compare(simulated, simulated) == []
    near = {**simulated, "results": {"Exp float32[1]": [1.0 + 1e-7]}}
    assert selftest.compare(near, simulated) == []


def test_without_a_device_the_status_is_three(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv(simulator.VARIABLE, raising=False)
    assert selftest.main(["--output", str(tmp_path / "out.json"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"].startswith("NPU is not available")
