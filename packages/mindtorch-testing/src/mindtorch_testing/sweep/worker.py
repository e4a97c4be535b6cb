"""The sweep's worker process: reads entry names on stdin, writes one JSON line per entry to the result pipe.

The driver starts `python -m mindtorch_testing.sweep.worker '<settings as JSON>'`. Results go to a copy of stdout made
before stdout itself is pointed at stderr, so that nothing an op prints can be taken for a result.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import sys
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db

from mindtorch_testing.sweep.entry import EntryRunner, Limits


def main() -> None:
    """Serve entry names until stdin closes."""
    faulthandler.enable()
    warnings.simplefilter("ignore")
    results = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    settings = json.loads(sys.argv[1])
    torch.set_num_threads(1)
    runner = EntryRunner(importlib.import_module(settings["target"]), Limits(**settings["limits"]))
    entries = {info.full_name: info for info in op_db}
    results.write(json.dumps({"ready": sorted(entries)}) + "\n")
    for line in sys.stdin:
        name = line.strip()
        results.write(json.dumps(runner.run(entries[name]).to_json()) + "\n")


if __name__ == "__main__":
    main()
