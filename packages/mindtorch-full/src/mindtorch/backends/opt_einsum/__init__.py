"""`torch.backends.opt_einsum`: the order in which `einsum` contracts, where the package opt_einsum is installed."""

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.backends._flags import allow_mutation, flag, give_class
from mindtorch_storage.lazy_import import load as _load

_state: dict[str, Any] = {"enabled": None, "strategy": None}


def is_available() -> bool:
    """Return whether the package opt_einsum is installed."""
    return importlib.util.find_spec("opt_einsum") is not None


def get_opt_einsum() -> Any:
    """Return the package opt_einsum, None when it is not installed."""
    return _load("opt_einsum") if is_available() else None


def _enabled() -> bool:
    return is_available() if _state["enabled"] is None else _state["enabled"]


def _strategy() -> str | None:
    if _state["strategy"] is None:
        return "auto" if is_available() else None
    return _state["strategy"]


class OptEinsumModule(ModuleType):
    """The type of this module; its properties are the settings."""

    enabled = flag(_enabled, lambda value: _state.update(enabled=value))
    strategy = flag(_strategy, lambda value: _state.update(strategy=value))


def set_flags(_enabled: bool | None = None, _strategy: str | None = None) -> tuple[bool, str | None]:
    """Set those settings that are not None and return what both were."""
    before = (_SETTINGS["enabled"](), _SETTINGS["strategy"]())
    if _enabled is not None:
        _set_enabled(_enabled)
    if _strategy is not None:
        _set_strategy(_strategy)
    return before


_SETTINGS: dict[str, Any] = {"enabled": _enabled, "strategy": _strategy}


def _set_enabled(value: bool) -> None:
    if value and not is_available():
        raise ValueError(
            "opt_einsum is not available, so setting `enabled` to True will not reap the benefits of calculating an "
            "optimal path for einsum. torch.einsum will fall back to contracting from left to right. To enable this "
            "optimal path calculation, please install opt-einsum."
        )
    _state["enabled"] = value


def _set_strategy(value: str) -> None:
    if not is_available():
        raise ValueError(
            f"opt_einsum is not available, so setting `strategy` to {value} will not be meaningful. torch.einsum will "
            "bypass path calculation and simply contract from left to right. Please install opt_einsum or unset "
            "`strategy`."
        )
    if value not in ("auto", "greedy", "optimal"):
        raise ValueError(f"`strategy` must be one of the following: [auto, greedy, optimal] but is {value}")
    _state["strategy"] = value


@contextmanager
def flags(enabled: bool | None = None, strategy: str | None = None) -> Iterator[None]:
    """Context manager that sets the settings."""
    with allow_mutation():
        before = dict(_state)
        set_flags(enabled, strategy)
    try:
        yield
    finally:
        _state.update(before)


adopt(globals())
give_class(__name__, OptEinsumModule)
