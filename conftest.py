"""Writes down what a run of tests found, for the summary at the end of `./hatchw run test:run` (tools/hatch_run.py)."""

import json
import os
import time
from collections import Counter
from pathlib import Path

import pytest

LONGEST = 6
SHOWN = 20


class Results:
    """Counts outcomes and adds up times by file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.start = time.monotonic()
        self.counts: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take in one phase of one test."""
        self.seconds[report.nodeid.split("::")[0]] += report.duration
        if report.when != "call" and report.outcome == "passed":
            return
        word = "expected failures" if hasattr(report, "wasxfail") else report.outcome
        self.counts[word] += 1
        if word == "failed":
            self.failures.append(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        name = "oracle" if "oracle" in os.environ.get("HATCH_ENV_ACTIVE", "") else "proxy"
        found = {
            "name": name,
            "counts": dict(self.counts),
            "seconds": time.monotonic() - self.start,
            "longest": self.seconds.most_common(LONGEST),
            "failures": self.failures[:SHOWN],
        }
        (self.folder / f"{name}.json").write_text(json.dumps(found))


def pytest_configure(config: pytest.Config) -> None:
    """Listen where a summary is asked for; not in the tests of tests."""
    folder = os.environ.pop("MINDTORCH_TEST_RESULTS", None)
    if folder is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(Path(folder)))
