"""`mindtorch-npu health`, `memory` and `bandwidth` on the simulated device and without one."""

from __future__ import annotations

import json

import pytest

from mindtorch_npu import diagnostics, simulator, trials, workers

SETTINGS = "Ascend910B3:2,memory=256MiB"


@pytest.fixture
def simulated(monkeypatch):
    monkeypatch.setenv(simulator.VARIABLE, SETTINGS)


@pytest.mark.parametrize("command", trials.TRIALS)
def test_on_the_simulator(simulated, capsys, command):
    assert diagnostics.main([command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["simulated"] is True
    assert [entry["device"] for entry in found["devices"]] == [0, 1]
    assert all("(simulated)" in entry["name"] for entry in found["devices"])
    if command == "bandwidth":
        rates = found["devices"][0]["gigabytes_per_second"]
        assert set(rates) == {"H2D pinned", "H2D pageable", "D2H pinned", "D2H pageable", "D2D"}
        assert all(rate > 0 for by_size in rates.values() for rate in by_size.values())
    if command == "memory":
        assert (found["devices"][0]["free"], found["devices"][0]["total"]) == (2**28, 2**28)


@pytest.mark.parametrize("command", trials.TRIALS)
def test_as_text(simulated, capsys, command):
    assert diagnostics.main([command]) == 0
    text = capsys.readouterr().out
    assert text.startswith("These devices are simulated.\ndevice 0: Ascend910B3 (simulated)\n")


def test_a_device_that_fails(monkeypatch, capsys):
    monkeypatch.setenv(simulator.VARIABLE, SETTINGS + ",fail=rt.memcpy@1+=507899")
    assert diagnostics.main(["health", "--json"]) == 2
    steps = json.loads(capsys.readouterr().out)["devices"][0]["steps"]
    assert "507899" in steps["memory keeps a pattern"]
    assert steps["open"] is steps["synchronize"] is None


def test_without_a_device(monkeypatch, capsys):
    monkeypatch.delenv(simulator.VARIABLE, raising=False)
    assert diagnostics.main(["health"]) == 3
    assert "NPU is not available" in capsys.readouterr().out


def test_a_device_that_hangs(simulated):
    found = workers.run("health", timeout_s=0.001)["devices"]
    assert [entry["status"] for entry in found] == [workers.HUNG] * 2
    assert "did not answer within" in found[0]["error"]
