"""pytest plugin of the runs: one JSON line per finished test, so that a crash loses nothing that was done."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

VARIABLE = "MINDTORCH_SUITE_RECORD"
PIPELINE = "MINDTORCH_SUITE_PIPELINE"
SEED = 4  # RoBERTa embeds no padding with it: test_inputs_embeds_matches_input_ids fails otherwise, on torch too
_RANK = {"skip": 0, "pass": 1, "fail": 2}

_worst: dict[str, str] = {}
_reasons: dict[str, str] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Seed what the tests draw their inputs from; some fail by chance otherwise, on torch as well."""
    random.seed(SEED)
    sys.modules["torch"].manual_seed(SEED)
    for module in list(sys.modules.values()):
        drawn = getattr(module, "__dict__", {}).get("global_rng")
        if isinstance(drawn, random.Random):
            drawn.seed(SEED)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Run the test inside of `torch.pipeline()` when the environment asks for it."""
    chosen = os.environ.get(PIPELINE)
    if not chosen:
        yield
        return
    with sys.modules["torch"].pipeline(fuse=chosen == "fuse"):
        yield


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the worst outcome of a test over setup, call, teardown and subtests."""
    name = report.nodeid.partition("::")[2]  # with the class: two classes of one file share most of their tests
    outcome = {"passed": "pass", "failed": "fail", "skipped": "skip"}[report.outcome]
    if report.when != "call" and outcome == "pass":
        outcome = "skip"  # only the call itself can pass a test
    if outcome == "fail" and name not in _reasons:
        crash = getattr(report.longrepr, "reprcrash", None)
        _reasons[name] = f"{crash.message} [{crash.path}:{crash.lineno}]" if crash else str(report.longrepr)[-300:]
    if _RANK[outcome] >= _RANK[_worst.get(name, "skip")]:
        _worst[name] = outcome
    if report.when == "teardown":
        line = {"test": name, "status": _worst[name], "reason": _reasons.get(name, "")}
        with Path(os.environ[VARIABLE]).open("a") as record:
            record.write(json.dumps(line) + "\n")
