"""`functorch`, the package that torch installs beside itself, is MindTorch's while the proxy is on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAM = """
import importlib.util, sys
import mindtorch_proxy
mindtorch_proxy.install()
import torch, warnings
warnings.simplefilter("ignore")
import functorch
from functorch import FunctionalModule, experimental, make_functional, vmap
function, params = make_functional(torch.nn.Linear(2, 1))
print(isinstance(function, FunctionalModule), function(params, torch.ones(3, 2)).shape)
print(functorch.__version__ == torch.__version__)
print(vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2)).tolist(), experimental.jvp is torch.func.jvp)
print(functorch.vmap.__wrapped__ is torch.func.vmap, importlib.util.find_spec("functorch.none"))
try: functorch.none
except AttributeError as error: print(error)
mindtorch_proxy.uninstall()
print([name for name in sys.modules if name.startswith("functorch")])
"""


def test_functorch_is_ours():
    paths = [str(path) for path in sorted(ROOT.glob("packages/*/src"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.splitlines() == [
        "True torch.Size([3, 1])",
        "True",
        "[2.0, 2.0, 2.0] True",
        "True None",
        "module 'functorch' has no attribute 'none'",
        "[]",
    ]
