"""`python watched.py REPORT PROGRAM [ARGUMENT...]`: runs a program and writes down what it learned.

Of every scalar that `backward` is called on, the value; of every parameter an optimizer has at the end, its sum and the sum
of its absolute values. The program is run as it is; nothing of it is replaced but the two calls that are noted. A rank of
several adds its number to the name of its report, and counts of tensors that are spread the part that it has.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

import torch
from accelerators import stand_in

NOTED: dict[str, list[Any]] = {"losses": [], "optimizers": []}


def part(tensor: Any) -> Any:
    """Return a tensor's values here: of a tensor that is spread, this process's."""
    values = tensor.detach()
    return values.to_local().double() if hasattr(values, "to_local") else values.double()


def watch() -> None:
    """Note losses and optimizers from now on."""
    backward, made = torch.Tensor.backward, torch.optim.Optimizer.__init__

    def noted_backward(self: Any, *args: Any, **kwargs: Any) -> Any:
        NOTED["losses"].append(float(part(self).sum()))
        return backward(self, *args, **kwargs)

    def noted_init(self: Any, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        NOTED["optimizers"].append(self)

    torch.Tensor.backward = noted_backward  # type: ignore[method-assign, assignment]
    torch.optim.Optimizer.__init__ = noted_init  # type: ignore[method-assign]


def weights() -> list[list[float]]:
    """Return two numbers of every parameter that an optimizer has, in their order."""
    return [
        [float(part(one).sum()), float(part(one).abs().sum())]
        for optimizer in NOTED["optimizers"]
        for group in optimizer.param_groups
        for one in group["params"]
    ]


def main() -> None:
    """Run the program, then write the report, if it ended well or said so itself."""
    report, program, *arguments = sys.argv[1:]
    if "WATCHED_ACCELERATORS" in os.environ:
        stand_in(int(os.environ["WATCHED_ACCELERATORS"]))
    exec(os.environ.get("WATCHED_BEFORE", ""), {"torch": torch})
    watch()
    sys.argv[:] = [program, *arguments]
    sys.path[0] = str(Path(program).resolve().parent)
    try:
        runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise
    if "RANK" in os.environ:
        report += f".{os.environ['RANK']}"
    Path(report).write_text(json.dumps({"losses": NOTED["losses"], "weights": weights()}))


if __name__ == "__main__":
    main()
