"""Where the classes and functions that say ``torch...`` in ``__module__`` are really found.

Python's pickler refers to a class by its module. Under the proxy that is torch's name, and the pickle is torch's; a
process without the proxy has no module of that name, or another library's.
"""

from __future__ import annotations

import copyreg
import sys
from typing import Any, SupportsIndex

from mindtorch_storage.lazy_import import load

_SHOWN = "torch"
_HOME = "mindtorch"


def find(module_name: str, qualname: str) -> Any:
    """Return the member of a module of ours that pickles name."""
    value: Any = load(module_name)
    for part in qualname.split("."):
        value = getattr(value, part)
    return value


def home(value: Any) -> tuple[str, str] | None:
    """Return module and name of one of our classes or functions; None for others."""
    module = value.__module__ or ""
    if module != _SHOWN and not module.startswith(_SHOWN + "."):
        return None
    name = _HOME + module[len(_SHOWN) :]
    try:
        return (name, value.__qualname__) if find(name, value.__qualname__) is value else None
    except (ImportError, AttributeError):
        return None


def new_object(module_name: str, qualname: str, *args: Any, **kwargs: Any) -> Any:
    """Return a new instance of a class of ours, which has no attributes yet."""
    cls = find(module_name, qualname)
    return cls.__new__(cls, *args, **kwargs)


def reduce_ex(self: Any, protocol: SupportsIndex) -> str | tuple[Any, ...]:
    """Take an instance apart: `object.__reduce_ex__`, but for a class that this process cannot import by its name."""
    cls = type(self)
    made = object.__reduce_ex__(self, max(2, int(protocol)))
    if not isinstance(made, tuple) or made[0] is not copyreg.__newobj__ or _is_importable(cls):
        return made
    place = home(cls)
    return made if place is None else (new_object, (*place, *made[1][1:]), *made[2:])


def _is_importable(cls: type) -> bool:
    return getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls
