"""The one place where parts of the dispatcher that stand below the call path are given what they need of it.

Importing `mindtorch_dispatch` imports this module; upper layers fill the rest of `interface.wiring.wired`.
"""

from __future__ import annotations

from typing import Any

from mindtorch_storage.device import device as Device

from .call import aten, call_overload, make_form
from .extend.dispatcher import TableKernel
from .extend.overloads import overload_of
from .interface.wiring import wired
from .matching import call_matching
from .typing import Tensor


def _copy_(target: Tensor, value: Tensor) -> Any:
    return aten.copy_(target, value)


def _copy_to(tensor: Tensor, device: Device | None) -> Any:
    return aten._to_copy(tensor, device=device)


def assemble() -> None:
    """Join the parts; `mindtorch_dispatch` does so when it is imported."""
    wired.call_overload = call_overload
    wired.call_form = make_form
    wired.call_matching = call_matching
    wired.copy_, wired.copy_to = _copy_, _copy_to
    wired.overload_of = overload_of
    wired.table_kernel = TableKernel
