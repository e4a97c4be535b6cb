"""pytest plugin of the runs: a JSON line when a test begins and one when it is over, so that a crash loses one test."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

RECORD = "MINDTORCH_SUITE_RECORD"
INTERNALS = "MINDTORCH_SUITE_INTERNALS"
SAMPLE = "MINDTORCH_SUITE_SAMPLE"
GONE = "MINDTORCH_SUITE_GONE"
_RANK = {"skip": 0, "pass": 1, "fail": 2}
_worst: dict[str, str] = {}
_reasons: dict[str, str] = {}


def _write(**line: str) -> None:
    with Path(os.environ[RECORD]).open("a") as record:
        record.write(json.dumps(line) + "\n")


def _name(nodeid: str) -> str:
    return nodeid.partition("::")[2]


def read(record: Path) -> tuple[dict[str, dict[str, str]], str | None]:
    """Return the outcomes of a record, and the test that began and did not end."""
    outcomes: dict[str, dict[str, str]] = {}
    running = None
    for text in record.read_text().splitlines():
        line = json.loads(text)
        if "status" in line:
            outcomes[line["test"]] = {"status": line["status"], "reason": line["reason"]}
        running = None if "status" in line else line["test"]
    return outcomes, running


def pytest_configure() -> None:
    """Take `torch.testing._internal` from the folders that are right for the file, whichever torch runs.

    What the file imports and torch has no more is a name that nothing stands behind.
    """
    internal = importlib.import_module("torch.testing._internal")
    internal.__path__ = os.environ[INTERNALS].split(os.pathsep)
    for place, _, name in (one.rpartition(".") for one in os.environ.get(GONE, "").split()):
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError:
            module = sys.modules[place] = ModuleType(place)
        setattr(module, name, type(name, (Exception,), {}))


def sample(names: list[str], size: int) -> set[str]:
    """Return the ids whose digests are smallest: drawn as by chance, and the same on every machine and run."""
    return set(sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:size])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the record holds already; of the rest keep one shard, and only what is wanted."""
    done, running = read(Path(os.environ[RECORD]))
    chosen, total = (int(number) for number in os.environ.get("MINDTORCH_SUITE_SHARD", "1/1").split("/"))
    wanted = os.environ.get("MINDTORCH_SUITE_IDS")
    ids = set(Path(wanted).read_text().split("\n")) if wanted else None
    if size := int(os.environ.get(SAMPLE, "0")):
        ids = sample([_name(item.nodeid) for item in items], size)
    kept = [item for item in items if ids is None or _name(item.nodeid) in ids]
    kept = [item for place, item in enumerate(kept) if place % total == chosen - 1]
    kept = [item for item in kept if _name(item.nodeid) not in done and _name(item.nodeid) != running]
    left_out = set(items) - set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = kept


def pytest_runtest_logstart(nodeid: str, location: object) -> None:
    """Note that a test begins."""
    _write(test=_name(nodeid))


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be imported."""
    if report.failed:
        text = str(report.longrepr).strip().splitlines()
        _write(test="(import)", status="fail", reason=text[-1].removeprefix("E").strip() if text else "")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the worst outcome of a test over setup, call, teardown and subtests."""
    name = _name(report.nodeid)
    outcome = {"passed": "pass", "failed": "fail", "skipped": "skip"}[report.outcome]
    if report.when != "call" and outcome == "pass":
        outcome = "skip"  # only the call itself can pass a test
    if outcome == "skip" and report.skipped and name not in _reasons:
        _reasons[name] = f"Skipped: {report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr}"
    if outcome == "fail":
        crash = getattr(report.longrepr, "reprcrash", None)
        _reasons[name] = crash.message if crash else str(report.longrepr)[-300:]
    if _RANK[outcome] >= _RANK[_worst.get(name, "skip")]:
        _worst[name] = outcome
    if report.when == "teardown":
        reason = _reasons.get(name, "") if _worst[name] != "pass" else ""
        _write(test=name, status=_worst[name], reason=reason.strip().split("\n")[0][:300])
