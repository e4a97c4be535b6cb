"""Names that programs import and that nothing stands behind: they say so when they are used."""

from __future__ import annotations

from typing import Any, NoReturn

from mindtorch._naming import torch_name


def _refusal(full: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{full} is not offered")

    refuse.__name__ = full.rpartition(".")[2]
    refuse.__qualname__ = refuse.__name__
    refuse.__doc__ = "Not offered: raises NotImplementedError."
    return refuse


def functions(module: str, names: str) -> dict[str, Any]:
    """Return functions that raise, by name."""
    return {name: _refusal(f"{torch_name(module)}.{name}") for name in names.split()}


def classes(module: str, names: str, methods: str = "") -> dict[str, Any]:
    """Return classes that have no objects, by name; calling them or one of their `methods` raises."""
    made = {}
    for name in names.split():
        full = f"{torch_name(module)}.{name}"
        body: dict[str, Any] = {m: staticmethod(_refusal(f"{full}.{m}")) for m in methods.split()}
        body |= {"__new__": _refusal(full), "__doc__": "Not offered: nothing is one.", "__module__": torch_name(module)}
        made[name] = type(name, (), body)
    return made
