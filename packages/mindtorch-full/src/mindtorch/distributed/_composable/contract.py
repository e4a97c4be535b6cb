"""The contract of functions that change a module in place: once per module, and its names stay."""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.distributed._composable_state import _State


def generate_state_key(string: str = "__composable_api_state_key") -> str:
    """Return a name that no attribute of a module has."""
    return f"{string}_{uuid.uuid4()}"


STATE_KEY = generate_state_key()
REGISTRY_KEY = generate_state_key()


class RegistryItem:
    """Stands for one call in the registries of its modules."""


_NAMES: tuple[tuple[str, Callable[[nn.Module], Any]], ...] = (
    ("parameters", nn.Module.named_parameters),
    ("buffers", nn.Module.named_buffers),
    ("modules", nn.Module.named_modules),
)


def _names_of(module: nn.Module) -> dict[str, list[str]]:
    return {kind: [name for name, _ in named(module)] for kind, named in _NAMES}


def _check_names(before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    for kind, original in before.items():
        new = after[kind]
        if original == new:
            continue
        own, others = set(original) - set(new), set(new) - set(original)
        what = f"Checking {kind}: Composable distributed API implementations cannot modify"
        if own or others:
            raise RuntimeError(f"{what} FQNs.\nFQNs only in original: {own}\nFQNs only in new: {others}")
        raise RuntimeError(f"{what} the order of FQNs.\nOriginal FQNs: {own}\nNew FQNs: {others}")


def contract(state_cls: type[Any] = _State) -> Callable[[Callable[..., Any]], Any]:
    """Let a function be called once per module, and give it `state(module)`: what that call keeps."""

    def inner(func: Callable[..., Any]) -> Any:
        @wraps(func)
        def wrapper(module: nn.Module | Sequence[nn.Module], *args: Any, **kwargs: Any) -> Any:
            modules = (module,) if isinstance(module, nn.Module) else tuple(module)
            state, item = state_cls(), RegistryItem()
            for one in modules:
                states = one.__dict__.setdefault(STATE_KEY, OrderedDict())
                registry = one.__dict__.setdefault(REGISTRY_KEY, OrderedDict())
                if func in states or func.__name__ in registry:
                    raise AssertionError(
                        "Each distinct composable distributed API can only be applied to a module once. "
                        f"{func.__name__} has already been applied to the following module:\n{one}"
                    )
                states[func], registry[func.__name__] = state, item
            before = [_names_of(one) for one in modules]
            changed = func(module, *args, **kwargs)
            if changed is None:
                changed = module
            results = (changed,) if isinstance(changed, nn.Module) else tuple(changed)
            for names, one in zip(before, results, strict=False):  # torch looks at those that are given back
                _check_names(names, _names_of(one))
            return changed

        def get_state(module: nn.Module) -> Any:
            """Return what the call for a module keeps, None without one."""
            return module.__dict__.get(STATE_KEY, {}).get(func)

        wrapper.state = get_state  # type: ignore[attr-defined] # a function has attributes
        return wrapper

    return inner


def _get_registry(module: nn.Module) -> dict[str, RegistryItem] | None:
    """Return the calls for a module by the names of their functions, None where there was none."""
    found: dict[str, RegistryItem] | None = getattr(module, REGISTRY_KEY, None)
    return found


adopt(globals())
