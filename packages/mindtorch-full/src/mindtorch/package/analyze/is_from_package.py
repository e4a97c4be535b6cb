"""Whether something was loaded from a package."""

from types import ModuleType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.package._mangling import is_mangled

__all__ = ["is_from_package"]


def is_from_package(obj: Any) -> bool:
    """Return whether a module, or the class of an object, came from a package and not from outside it.

    >>> import torch.package
    >>> torch.package.is_from_package(torch.nn.Linear)
    False
    """
    return is_mangled(obj.__name__ if type(obj) is ModuleType else type(obj).__module__)


adopt(globals())
