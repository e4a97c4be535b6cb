"""Turns the proxy on in a Python process started by a program that `mindtorch run` runs.

The directory of this file is put on PYTHONPATH by `mindtorch_proxy.environment.hand_on`. The `sitecustomize` that would
have been found without it is run afterwards.
"""

import importlib.util
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_here = Path(__file__).parent
sys.path[:] = [entry for entry in sys.path if not entry or Path(entry) != _here]

if importlib.util.find_spec("mindtorch_proxy") is not None:
    importlib.import_module("mindtorch_proxy.startup")

_next = PathFinder.find_spec("sitecustomize")
if _next is not None and _next.loader is not None:
    _module = importlib.util.module_from_spec(_next)
    sys.modules["sitecustomize"] = _module
    _next.loader.exec_module(_module)
