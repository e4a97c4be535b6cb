"""Writing a graph module as a package of files."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import mindtorch as torch
from mindtorch.fx._names import CUSTOM_BUILTINS
from mindtorch.nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Linear

_SHOWN = (Linear, Conv1d, Conv2d, Conv3d, BatchNorm1d, BatchNorm2d, BatchNorm3d)
"""Modules whose `repr` makes them again."""


def write_folder(module: Any, folder: str | os.PathLike[str], module_name: str) -> None:
    """Write the files of `GraphModule.to_folder`."""
    place = Path(folder)
    place.mkdir(exist_ok=True)
    torch.save(module.state_dict(), place / "state_dict.pt")
    pickled = []
    lines = []
    for name, child in module.named_children():
        if type(child) in _SHOWN:
            lines.append(f"setattr(self, '{name}', {child!r})")
        else:
            pickled.append(name)
            torch.save(child, place / f"{name}.pt")
            made = f"torch.load(r'{place / f'{name}.pt'}', weights_only=False)"
            lines.append(f"setattr(self, '{name}', {made}) # {repr(child).replace(chr(10), ' ')}")
    for name, buffer in module._buffers.items():
        if buffer is not None:
            lines.append(f"self.register_buffer('{name}', torch.empty({list(buffer.shape)}, dtype={buffer.dtype}))")
    for name, parameter in module._parameters.items():
        if parameter is not None:
            empty = f"torch.empty({list(parameter.shape)}, dtype={parameter.dtype})"
            lines.append(f"setattr(self, '{name}', torch.nn.Parameter({empty}))")
    lines.append(f"self.load_state_dict(torch.load(r'{place / 'state_dict.pt'}'))")
    imports = "\n".join(one.import_str for one in CUSTOM_BUILTINS.values())
    body = "".join(f"        {line}\n" for line in lines)
    code = "\n".join(f"    {line}" if line.strip() else "" for line in module.code.split("\n"))
    source = (
        f"\nimport torch\n{imports}\n\nfrom torch.nn import *\nclass {module_name}(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n{body}{code}\n"
    )
    (place / "module.py").write_text(source)
    (place / "__init__.py").write_text("from .module import *")
    if pickled:
        warnings.warn(
            f"Was not able to save the following children modules as reprs -saved as pickled files instead: {pickled}",
            stacklevel=3,
        )
