"""What parts of the dispatcher use that only parts above them can give: one object, filled by `assembly` and upper layers.

A module that needs something from above reads it from `wired` when it runs. Nothing else is bound late.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.tensor_base import TensorBase


def _nothing_there(*args: object, **kwargs: object) -> Any:
    raise RuntimeError("this needs a layer above mindtorch-dispatch, which is not imported")


class Wiring:
    """By who gives it.

    `assembly`, from the call path: `call_overload(row, args, kwargs)`, `call_form(packet, method)`,
    `call_matching(packet, shown, args, kwargs)` for the operators of libraries; the operators `copy_(target, value)` and
    `copy_to(tensor, device)`; `overload_of(row, out)`, the `torch.ops` object of a row or of its `out=` form;
    `table_kernel(row, key)`, what the op table has for a backend as a kernel of tensors.

    The surface: `tensor_class`, the class of results; `override_owner`, the class that defines the default
    `__torch_function__`; `from_array(array)`, a tensor over a numpy array; `load_backend(device type)`, which imports a
    backend, and `backend_installed(device type)`, which only looks; `can_pin()` and `pinned_copy(tensor)` for page-locked
    memory.

    Autograd: `next_sequence()`, the number that the next node of the backward graph will get.
    """

    __slots__ = (
        "backend_installed",
        "call_form",
        "call_matching",
        "call_overload",
        "can_pin",
        "copy_",
        "copy_to",
        "from_array",
        "load_backend",
        "next_sequence",
        "overload_of",
        "override_owner",
        "pinned_copy",
        "table_kernel",
        "tensor_class",
    )

    def __init__(self) -> None:
        self.call_overload: Callable[..., Any] = _nothing_there
        self.call_form: Callable[..., Any] = _nothing_there
        self.call_matching: Callable[..., Any] = _nothing_there
        self.copy_: Callable[[Any, Any], Any] = _nothing_there
        self.copy_to: Callable[[Any, Any], Any] = _nothing_there
        self.overload_of: Callable[..., Any] = _nothing_there
        self.table_kernel: Callable[..., Any] = _nothing_there
        self.tensor_class: type[TensorBase] = TensorBase
        self.override_owner: type | None = None
        self.from_array: Callable[[Any], Any] = _nothing_there
        self.load_backend: Callable[[str], None] = lambda device_type: None
        self.backend_installed: Callable[[str], bool] = lambda device_type: False
        self.can_pin: Callable[[], bool] = lambda: False
        self.pinned_copy: Callable[[Any], Any] = _nothing_there
        self.next_sequence: Callable[[], int] = lambda: -1


wired = Wiring()
"""The process's wiring."""
