"""The batched tensor: looks like one example, holds the whole batch.

It is a tensor without bytes. Its geometry is that of one example; the slot where others have their storage holds a
`Batched`: the value (a tensor, perhaps batched at an outer level), the batch dimension in it, and the level. Its autograd
slots are those of differentiation *inside* the level; the value's own are those of differentiation around it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, cast

from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase, make_tensor, share_bytes

from ..interface.wiring import wired
from ..override import overrides
from ..plan import wrapping_types
from ..typing import Tensor
from .levels import current, depth

_ITEM = (
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item() on a Tensor, please "
    "try to rewrite what you're doing with other operations. If error is occurring somewhere inside PyTorch internals, "
    "please file a bug report."
)
_CONTROL_FLOW = (
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support that yet, "
    "please file an issue at https://github.com/pytorch/pytorch/issues ."
)


def unbatchable(text: str) -> RuntimeError:
    """Return the error for what cannot be done for a batch at once; a composed op that meets it is looped over."""
    error = RuntimeError(text)
    error.mindtorch_unbatchable = True  # type: ignore[attr-defined]
    return error


def is_unbatchable(error: BaseException) -> bool:
    """True for errors made by `unbatchable`."""
    return getattr(error, "mindtorch_unbatchable", False)


class Batched:
    """What a batched tensor holds: `value`, the batch dimension `dim` in it (None when all examples share the value),
    and the level it belongs to."""

    __slots__ = ("dim", "level", "value")

    def __init__(self, value: Tensor, dim: int | None, level: int) -> None:
        self.value = value
        self.dim = dim
        self.level = level


def _no_pointer(self: Tensor, *args: object, **kwargs: object) -> NoReturn:
    raise unbatchable("Cannot access data pointer of Tensor that doesn't have storage")


def _no_storage(self: Tensor, *args: object, **kwargs: object) -> NoReturn:
    raise NotImplementedError("Cannot access storage of BatchedTensorImpl")


def _no_item(self: Tensor, *args: object) -> NoReturn:
    raise unbatchable(_ITEM)


def _no_truth(self: Tensor) -> NoReturn:
    raise unbatchable(_CONTROL_FLOW)


def _no_data(self: Tensor) -> NoReturn:
    raise RuntimeError("accessing `data` under vmap transform is not allowed")


def _text(self: Any, *args: Any, **kwargs: Any) -> str:
    held = self._storage
    inner = "\n".join("    " + line for line in repr(held.value).split("\n"))
    if held.dim is None:
        return repr(held.value)
    return f"BatchedTensor(lvl={held.level}, bdim={held.dim}, value=\n{inner}\n)"


def _made(cls: type, *args: object, **kwargs: object) -> Any:
    return wired.tensor_class(*args, **kwargs)


def _formatted(self: Tensor, spec: str) -> str:
    if self.dim() == 0:
        self.item()
    return object.__format__(self, spec)


_MEMBERS: dict[str, Any] = {
    "_wraps": True,
    "__slots__": (),
    "__module__": "torch",
    "__new__": _made,
    "__repr__": _text,
    "__str__": _text,
    "__format__": _formatted,
    "__bool__": _no_truth,
    "is_nonzero": _no_truth,
    "item": _no_item,
    "tolist": _no_pointer,
    "numpy": _no_pointer,
    "__array__": _no_pointer,
    "data_ptr": _no_pointer,
    "_host_array": _no_item,
    "untyped_storage": _no_storage,
    "storage": _no_storage,
    "_typed_storage": _no_storage,
    "_materialized_storage": _no_storage,
    "__deepcopy__": _no_storage,
    "__reduce_ex__": _no_storage,
    "data": property(_no_data),
}

_classes: dict[type, type] = {}


def batched_class() -> type:
    """Return the class of batched tensors: the surface's tensor class, refusing what needs an example's bytes."""
    base = wired.tensor_class
    made = _classes.get(base)
    if made is None:
        made = _classes.setdefault(base, type("Tensor", (base,), dict(_MEMBERS)))
        overrides.default_plain.add(made)
        wrapping_types.add(made)
    return made


def is_batched(value: TensorBase) -> bool:
    """True for a batched tensor."""
    return isinstance(value, TensorBase) and value._wraps


def escaped(value: Any) -> bool:
    """True for a batched tensor whose batch is closed."""
    return is_batched(value) and value._storage.level > depth()


def example_spec(value: Any, dim: int | None) -> Spec:
    """Return the geometry of one example."""
    found: Spec = value._sig.spec
    if dim is None:
        return found
    shape, stride = list(found.shape), list(found.stride)
    del shape[dim], stride[dim]
    return Spec.of(found.dtype, found.device, shape, tuple(stride))


def wrapped(value: Any, dim: int | None, level: int) -> Any:
    """Return the batched tensor that holds `value`."""
    sig = example_spec(value, dim).plain
    inside: Any = Batched(value, dim, level)  # stands where others have their storage
    return make_tensor(batched_class(), sig, None, inside, value._offset, [0])


def lifted(tensor: Any, level: int) -> Any:
    """Return `tensor` as a batched tensor of `level`: itself, or one whose value all examples share."""
    if tensor._wraps and tensor._storage.level == level:
        return tensor
    return wrapped(tensor, None, level)


def lifted_here(value: TensorBase) -> Any:
    """Return `value` as a tensor of the innermost open batch; itself outside of `vmap`."""
    batch = current()
    return value if batch is None else lifted(value, batch.level)


def unwrapped(tensor: Any, level: int) -> tuple[Any, int | None]:
    """Return (value, batch dimension) of a tensor at `level`; (itself, None) for one that is not of that level."""
    if tensor._wraps and tensor._storage.level == level:
        held = tensor._storage
        return held.value, held.dim
    return tensor, None


def rewrapped(tensor: Any, change: Callable[[Any], Any]) -> Any:
    """Return a batched tensor with its value changed by `change`; itself when that leaves the value as it is."""
    held = tensor._storage
    value = change(held.value)
    if value is held.value:
        return tensor
    made = share_bytes(type(tensor), tensor._sig, tensor)
    cast(Any, made)._storage = Batched(value, held.dim, held.level)
    made._grad_fn, made._output_nr = tensor._grad_fn, tensor._output_nr
    return made


def without_history(tensor: Any) -> Any:
    """Return a leaf over the same value: of a batched tensor only what is recorded at its own level is left behind."""
    if tensor._wraps:
        return share_bytes(type(tensor), tensor._sig.spec.plain, tensor)
    return tensor.detach()
