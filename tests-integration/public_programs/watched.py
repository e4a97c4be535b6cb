"""`python watched.py REPORT PROGRAM [ARGUMENT...]`: runs a program and writes down what it learned.

Of every scalar that `backward` is called on, the value; of every parameter an optimizer has at the end, its sum and the sum
of its absolute values. The program is run as it is; nothing of it is replaced but the two calls that are noted.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import torch

NOTED: dict[str, list[Any]] = {"losses": [], "optimizers": []}


def watch() -> None:
    """Note losses and optimizers from now on."""
    backward, made = torch.Tensor.backward, torch.optim.Optimizer.__init__

    def noted_backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        NOTED["losses"].append(float(self.detach().double().sum()))
        return backward(self, *args, **kwargs)

    def noted_init(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        NOTED["optimizers"].append(self)

    torch.Tensor.backward = noted_backward  # type: ignore[method-assign, assignment]
    torch.optim.Optimizer.__init__ = noted_init  # type: ignore[method-assign]


def weights() -> list[list[float]]:
    """Return two numbers of every parameter that an optimizer has, in their order."""
    return [
        [float(one.detach().double().sum()), float(one.detach().double().abs().sum())]
        for optimizer in NOTED["optimizers"]
        for group in optimizer.param_groups
        for one in group["params"]
    ]


def main() -> None:
    """Run the program, then write the report, if it ended well or said so itself."""
    report, program, *arguments = sys.argv[1:]
    exec(os.environ.get("WATCHED_BEFORE", ""), {"torch": torch})
    watch()
    sys.argv[:] = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    Path(report).write_text(json.dumps({"losses": NOTED["losses"], "weights": weights()}))


if __name__ == "__main__":
    main()
