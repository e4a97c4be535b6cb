"""Exchange what two tensor objects are, so that every reference to one now sees the other."""

from __future__ import annotations

import copyreg
import weakref
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

_SLOTS = tuple(name for name in TensorBase.__slots__ if name != "__weakref__")


def swap_tensors(t1: Any, t2: Any) -> None:
    """Swap class, attributes, contents and autograd state of two tensors. Neither may have weak references.

    >>> x, y = torch.zeros(1), torch.ones(1)
    >>> torch.utils.swap_tensors(x, y)
    >>> x
    tensor([1.])
    """
    followed1, followed2 = _leave_base(t1), _leave_base(t2)
    try:
        _check_weakrefs(t1, t2)
        for tensor in (t1, t2):
            _poison(tensor)
        _swap_all(t1, t2)
        followed1, followed2 = followed2, followed1
    finally:
        for tensor, followed in ((t1, followed1), (t2, followed2)):
            if followed:
                tensor._counter.append(weakref.ref(tensor))


def _leave_base(tensor: Any) -> bool:
    """Forget the reference by which the base of a view reaches it, which is no program's; return whether there was one."""
    counter = tensor._counter
    for place in range(1, len(counter)):
        if isinstance(counter[place], weakref.ref) and counter[place]() is tensor:
            del counter[place]
            return True
    return False


def _check_weakrefs(t1: Any, t2: Any) -> None:
    for name, tensor in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")


def _poison(tensor: Any) -> None:
    """Let a backward fail that would still accumulate into the leaf as it was."""
    node = _accumulator(tensor)
    if node is not None:
        node.register_prehook(_refuse)


def _accumulator(tensor: Any) -> Any:
    meta = tensor._meta
    return meta.accumulator() if meta is not None and meta.accumulator is not None else None


def _refuse(grad_outputs: Any) -> None:
    raise RuntimeError(
        "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run backward "
        "on a tensor that was swapped. For a module m with `torch.__future__.set_swap_module_params_on_conversion(True)` you "
        "should not change the device or dtype of the module (e.g. `m.cpu()` or `m.half()`) between running forward and "
        "backward. To resolve this, please only change the device/dtype before running forward (or after both forward and "
        "backward)."
    )


def _swap_all(t1: Any, t2: Any) -> None:
    slots1, slots2 = set(copyreg._slotnames(t1.__class__)), set(copyreg._slotnames(t2.__class__))  # type: ignore[attr-defined]
    if slots1 != slots2:
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name in sorted(slots1.union(_SLOTS) - {"__weakref__"}):
        _swap_attribute(t1, t2, name)
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    t1.__dict__, t2.__dict__ = t2.__dict__, t1.__dict__
    for tensor in (t1, t2):
        _follow(tensor)


def _swap_attribute(t1: Any, t2: Any, name: str) -> None:
    missing = object()
    value1, value2 = getattr(t1, name, missing), getattr(t2, name, missing)
    for tensor, value in ((t1, value2), (t2, value1)):
        if value is not missing:
            setattr(tensor, name, value)
        elif hasattr(tensor, name):
            delattr(tensor, name)


def _follow(tensor: Any) -> None:
    """The node that accumulates into a leaf must find the object that holds the leaf now."""
    node = _accumulator(tensor)
    if node is not None:
        node.variable = tensor


swap_tensors.__module__ = "torch.utils"
