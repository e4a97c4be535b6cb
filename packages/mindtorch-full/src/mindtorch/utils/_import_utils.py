"""`torch.utils._import_utils`: whether other modules are there."""

import functools
import importlib.util
from types import ModuleType

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import load

__all__ = ["dill_available", "import_dill"]


def _check_module_exists(name: str) -> bool:
    """Return whether a module can be found; it is not imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        return False


@functools.lru_cache
def dill_available() -> bool:
    """Return whether `dill` is installed."""
    return _check_module_exists("dill")


@functools.lru_cache
def import_dill() -> ModuleType | None:
    """Return the module `dill`, None where there is none; the pickler of the standard library stays as it is."""
    if not dill_available():
        return None
    dill = load("dill")
    dill.extend(use_dill=False)  # importing it puts its reductions into `pickle`
    return dill


adopt(globals())
