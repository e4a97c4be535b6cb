"""Where the source of a class lies whose `__module__` names the module of torch that users find it in.

`inspect` asks the module that `__module__` names, which may only import the class: `torch.nn.modules.conv.Conv2d` is written
in `_conv.py`. Programs that read the source of their base classes (command lines made of signatures, templates, documentation)
would not find it. As torch.package does for its modules, `inspect.getfile` is asked here first; other classes go on to it.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

_getfile = inspect.getfile
_FIRST = "mindtorch"
_files: dict[type, str] = {}
"""What was found, by class: only classes of torch's modules, which stay."""


def getfile(object: Any) -> str:
    """Return the file in which an object is written, as `inspect.getfile` does."""
    if isinstance(object, type) and object.__module__.partition(".")[0] in ("torch", _FIRST):
        found = _files.get(object) or _of_methods(object) or _of_module(object)
        if found is not None:
            _files[object] = found
            return found
    return _getfile(object)


def _of_methods(cls: type) -> str | None:
    """Return the file of a function that was defined in the class's body."""
    for value in vars(cls).values():
        function = inspect.unwrap(getattr(value, "__func__", None) or getattr(value, "fget", None) or value)
        if isinstance(function, FunctionType) and function.__code__.co_qualname.startswith(f"{cls.__qualname__}."):
            return function.__code__.co_filename
    return None


def _of_module(cls: type) -> str | None:
    """Return the file of the module of ours that has the class and its definition: a class without functions of its own."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(_FIRST) or vars(module).get(cls.__name__) is not cls:
            continue
        file = getattr(module, "__file__", None)
        if file and re.search(rf"^class {cls.__name__}\b", Path(file).read_text(encoding="utf-8"), re.MULTILINE):
            return str(file)
    return None


def install() -> None:
    """Let `inspect` find the source of our classes."""
    inspect.getfile = getfile
