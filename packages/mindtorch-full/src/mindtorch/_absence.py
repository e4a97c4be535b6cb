"""Names of torch that are there and raise when they are used: `data/absent.toml` has them, by reason.

A function raises when it is called, a class when it is made; both import, and stand in annotations and `isinstance`. A
module that the table has and no file makes is found by :class:`AbsentModules`, the last of the import system's finders.
"""

from __future__ import annotations

import functools
import tomllib
from importlib.machinery import ModuleSpec
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn

from mindtorch_storage.lazy_import import LazyModule, load

_OURS, _THEIRS = "mindtorch", "torch"
_NEWER_HOMES = {
    "torch.quantization": "torch.ao.quantization",
    "torch.nn.intrinsic": "torch.ao.nn.intrinsic",
    "torch.nn.qat": "torch.ao.nn.qat",
    "torch.nn.quantized": "torch.ao.nn.quantized",
}
_overrides = LazyModule("mindtorch.overrides", "only calls of what is absent ask it")


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """Return the absent names of every module, each with its reason; a name may carry the mark of its kind."""
    found: dict[str, dict[str, str]] = {}
    text = files("mindtorch.data").joinpath("absent.toml").read_text(encoding="utf-8")
    for group in tomllib.loads(text).values():
        reason = group.pop("reason")
        for module, names in group.items():
            found.setdefault(module, {"": reason}).update((name, reason) for name in names.split())
    return found


def names(module: str) -> set[str]:
    """Return the absent names of the module called `module` (`torch.x`), modules among them."""
    within = {key[len(module) + 1 :] for key in table() if key.startswith(module + ".")}
    return {name.lstrip("@!") for name in table().get(module, {}) if name} | {one for one in within if "." not in one}


def placeholder(module: str, name: str) -> Any:
    """Return what stands for a name of the module called `module` (`torch.x`), None where the table has no such name."""
    newer = _newer_home(module)
    if newer is not None:
        found = getattr(load(_OURS + newer[len(_THEIRS) :]), name, None)
        if found is not None and reason_of(found) is None:
            return found
    for mark, make in (("", _by_spelling), ("@", _class), ("!", _exception)):
        reason = table().get(module, {}).get(mark + name)
        if reason is not None:
            return make(module, name, reason)
    return load(_OURS + f"{module}.{name}"[len(_THEIRS) :]) if f"{module}.{name}" in table() else None


def _newer_home(module: str) -> str | None:
    """Return the module that has the names of one which torch keeps for older programs, where it is."""
    for old, new in _NEWER_HOMES.items():
        if module == old or module.startswith(old + "."):
            found = new + module[len(old) :]
            return found if find_spec(_OURS + found[len(_THEIRS) :]) is not None else None
    return None


def reason_of(value: Any) -> str | None:
    """Return why something is not offered, None of what is."""
    reason = getattr(value, "_absent_reason", None)
    return reason if isinstance(reason, str) else None


def stand_in(module: str, name: str, reason: str) -> Any:
    """Return a function that raises when it is called or, of a name that begins as classes' do, a class."""
    return _by_spelling(module, name, reason)


def _by_spelling(module: str, name: str, reason: str) -> Any:
    return (_class if name.lstrip("_")[:1].isupper() else _function)(module, name, reason)


def _function(module: str, name: str, reason: str) -> Any:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        # A subclass or a mode may offer what is not offered here.
        given = (*args, *kwargs.values())
        if _overrides.has_torch_function(given):
            return _overrides.handle_torch_function(refuse, given, *args, **kwargs)
        raise NotImplementedError(f"{module}.{name}: {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = module
    refuse.__doc__ = f"Not offered: {reason}."
    refuse._absent_reason = reason  # type: ignore[attr-defined]
    return refuse


def _class(module: str, name: str, reason: str) -> type:
    def refuse(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{module}.{name}: {reason}")

    members = {"__new__": refuse, "__module__": module, "__doc__": f"Not offered: {reason}.", "_absent_reason": reason}
    return type(name, (), members)


def _exception(module: str, name: str, reason: str) -> type:
    """Return an exception that handlers can name; nothing raises it."""
    return type(name, (Exception,), {"__module__": module, "__doc__": f"Never raised: {reason}."})


class _AbsentModule(ModuleType):
    """A module that the table alone has. Some share their names with functions of the package around, which torch shows."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = _THEIRS + self.__name__[len(_OURS) :] if self.__name__.startswith(_OURS) else self.__name__
        raise NotImplementedError(f"{name}: {reason_of(self)}")


class AbsentModules:
    """The finder and the loader of the modules that the table alone has."""

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return a spec for a module of the table."""
        if self._name(fullname) not in table():
            return None
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, without its names."""
        return _AbsentModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Put the table's names into the module."""
        name = self._name(module.__name__)
        names = table()[name]
        module.__dict__["_absent_reason"] = names[""]
        module.__doc__ = f"Not offered: {names['']}."

        def missing(attribute: str) -> Any:
            found = None if attribute.startswith("__") else placeholder(name, attribute)
            if found is None:
                raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
            module.__dict__[attribute] = found
            return found

        module.__dict__["__getattr__"] = missing
        module.__dict__["__all__"] = sorted(one.lstrip("@!") for one in names if one and not one.startswith("_"))

    def _name(self, fullname: str) -> str:
        return _THEIRS + fullname[len(_OURS) :] if fullname.startswith(_OURS) else fullname
