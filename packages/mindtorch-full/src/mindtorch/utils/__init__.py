"""Utilities around tensors and modules."""

import importlib
import importlib.util
from typing import Any, NoReturn

from mindtorch._naming import adopt, names_of, torch_name
from mindtorch_storage.lazy_import import load as _load

from ._absent import ABSENT
from ._swap import swap_tensors
from .backend_registration import generate_methods_for_privateuse1_backend, rename_privateuse1_backend

__all__ = [
    "generate_methods_for_privateuse1_backend",
    "get_cpp_backtrace",
    "rename_privateuse1_backend",
    "set_module",
    "swap_tensors",
]

_SUBMODULES = (
    "_contextlib _device _import_utils _foreach_utils _triton cpp_extension "
    "_python_dispatch _pytree _typing_utils backend_registration checkpoint "
    "benchmark collect_env data deterministic dlpack hooks model_zoo serialization weak"
).split()


def set_module(obj: Any, mod: Any) -> None:
    """Change the module name an object shows.

    >>> class Layer:
    ...     pass
    >>> torch.utils.set_module(Layer, "my.layers")
    >>> Layer.__module__
    'my.layers'
    """
    if not isinstance(mod, str):
        raise TypeError("The mod argument should be a string")
    obj.__module__ = mod


def get_cpp_backtrace(frames_to_skip: int = 0, maximum_number_of_frames: int = 64) -> NoReturn:
    """There is no C++ stack to show."""
    raise NotImplementedError("get_cpp_backtrace: MindTorch has no C++ frames")


def __getattr__(name: str) -> Any:
    if name in ABSENT:
        raise AttributeError(f"module '{torch_name(__name__)}' has no attribute '{name}': {ABSENT[name]}")
    if name in _SUBMODULES and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return _load(f"{__name__}.{name}")
    raise AttributeError(f"module '{torch_name(__name__)}' has no attribute '{name}'")


def __dir__() -> list[str]:
    return names_of(__name__, globals(), _SUBMODULES)


adopt(globals())
