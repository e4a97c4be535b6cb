"""NVIDIA's communication library: absent."""

import warnings
from collections.abc import Iterable
from typing import Any, NoReturn

from mindtorch._absent import no_binding
from mindtorch._naming import adopt

__all__ = []


def is_available(tensors: Iterable[Any]) -> bool:
    """Return whether the library can work on ``tensors``: False, with a warning."""
    warnings.warn("PyTorch is not compiled with NCCL support", stacklevel=2)
    return False


def version() -> NoReturn:
    """Return the library's version; raises, there is none."""
    no_binding("_nccl_version")


def unique_id() -> NoReturn:
    """Return a new communicator's id; raises, there is none."""
    no_binding("_nccl_unique_id")


adopt(globals())
