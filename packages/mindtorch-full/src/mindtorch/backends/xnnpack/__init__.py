"""`torch.backends.xnnpack`: XNNPACK is not part of this library, and its one flag says so."""

from types import ModuleType
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.backends._flags import give_class

__all__ = ["XNNPACKEngine"]


def _refuse(owner: Any, value: Any) -> NoReturn:
    raise RuntimeError("Assignment not supported")


class XNNPACKEngine(ModuleType):
    """The type of this module."""

    enabled = property(lambda owner: False, _refuse, doc="Whether XNNPACK is built in: False.")


adopt(globals())
give_class(__name__, XNNPACKEngine)
