"""The sweep's worker process: reads entry names on stdin, writes one JSON line per entry to the result pipe.

The driver starts `python -m mindtorch_testing.sweep.worker '<settings as JSON>'`. Results go to a copy of stdout made
before stdout itself is pointed at stderr, so that nothing an op prints can be taken for a result.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import warnings

import torch

from mindtorch_testing.sweep.runner import Limits
from mindtorch_testing.sweep.suites import SUITES


def main() -> None:
    """Serve entry names until stdin closes."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    suite = SUITES[settings["suite"]]
    entries = suite.entries()
    runner = suite.make_runner(settings["target"], Limits(**settings["limits"]))
    results.write(json.dumps({"ready": sorted(entries)}) + "\n")
    for line in sys.stdin:
        name = line.strip()
        results.write(json.dumps(runner.run(entries[name]).to_json()) + "\n")


if __name__ == "__main__":
    main()
