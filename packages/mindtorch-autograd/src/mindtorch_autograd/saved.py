"""Saved values of a node: what is kept, how it is checked when it is read, and the pack/unpack hooks."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, cast

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.override.interception import intercepted
from mindtorch_dispatch.state import AUTOGRAD_MASK, mode_set, state
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.tensor_base import TensorBase, share_bytes

from . import anomaly
from .node import FREED_TEXT, AccumulateGrad, Node, forward_name, meta_of
from .views import grad_fn, gradient_edge

INFERENCE_TEXT = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)


_FREED_HOOKS_TEXT = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed "
    "when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a "
    "second time or if you need to access saved variables after calling backward."
)


class _HookStack(threading.local):
    def __init__(self) -> None:
        self.pairs: list[tuple[Callable[[Any], Any], Callable[[Any], Any]]] = []


hook_stack = _HookStack()
"""This thread's (pack, unpack) pairs, the innermost last. `Mode.saved_hooks` is True while there is one, the error text
while they are forbidden, else None; so plans know whether to pack without being made anew for every pair."""


class Packed:
    """A saved tensor that went through a `pack_hook`.

    `number` is the output number of a saved output; `edge` is where gradients of another saved tensor go. What the unpack
    hook returns gets that history, whatever it has itself.
    """

    __slots__ = ("edge", "number", "owner", "packed", "unpack")

    def __init__(self, unpack: Any, packed: Any, number: int | None, edge: tuple[Any, int] | None) -> None:
        self.unpack = unpack
        self.packed = packed
        self.number = number
        self.edge = edge
        self.owner: Any = None


class SavedResult:
    """An output saved by its own node: an alias without the node, so that no reference cycle keeps it alive.

    `owner` refers weakly to the node that unpacked tensors get, where it is not the saving node.
    """

    __slots__ = ("alias", "number", "owner")

    def __init__(self, alias: TensorBase, number: int) -> None:
        self.alias = alias
        self.number = number
        self.owner: Any = None


def alias_of(tensor: TensorBase) -> TensorBase:
    """Return a tensor without history over the same bytes and version counter, of the class that its own class makes."""
    cls = wired.tensor_class
    if (state.mode.dispatch_modes or type(tensor) is not cls) and intercepted(state.mode, (tensor,)):
        return _detached(tensor)
    return share_bytes(cls, tensor._sig.spec.plain, tensor)


def _detached(tensor: TensorBase) -> TensorBase:
    """As `alias_of`, by the operator that handlers in Python see."""
    with mode_set(exclude=state.mode.exclude | AUTOGRAD_MASK):
        made: TensorBase = aten.detach(tensor)
    made._counter = tensor._counter
    return made


def pack(tensor: TensorBase, number: int | None, node: Any = None) -> Any:
    """Return what `node` keeps of `tensor`; `number` is the output number when the node made it."""
    if tensor._sig.inference:
        raise RuntimeError(INFERENCE_TEXT)
    if state.mode.saved_hooks is not True:
        return tensor if number is None else SavedResult(alias_of(tensor), number)
    pack_hook, unpack_hook = hook_stack.pairs[-1]
    given = tensor
    if number is not None:
        given = alias_of(tensor)
        given._sig, given._grad_fn, given._output_nr = given._sig.spec.tracked, node, number
    return _packed(given, number, pack_hook, unpack_hook)


def _packed(given: TensorBase, number: int | None, pack_hook: Any, unpack_hook: object) -> Packed:
    edge = gradient_edge(given) if number is None and given._sig.requires_grad else None
    counter, version = given._counter, given._counter[0]
    before = state.mode
    state.mode = before.replace(grad=False, saved_hooks=None)
    try:
        packed = pack_hook(given)
    finally:
        state.mode = before
    if counter[0] != version:
        raise RuntimeError(
            "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
            "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you "
            "need to perform in-place operations on the input to a pack hook."
        )
    if packed is given and number is not None:
        given._grad_fn = None  # the node will hold it: no cycle
    return Packed(unpack_hook, packed, number, edge)


def unpack(node: Node, item: Any, version: int, history: bool = False) -> Any:
    """Return the tensor saved as `item`, after checking that nobody wrote into it since.

    An output comes with its history where it can matter, in grad mode, or when `history` is asked for.
    """
    if item.__class__ is Packed:
        return _unpacked(node, item)
    if item.__class__ is SavedResult:
        alias = item.alias
        if alias._counter[0] != version:
            raise modified_error(alias, version, node, item.number)
        if history or state.mode.grad:
            return _with_history(node, alias, item)
        return alias_of(alias) if _is_seen(alias) else alias
    if item._counter[0] != version:
        raise modified_error(item, version, grad_fn(item), item._output_nr)
    return item


def _unpacked(node: Node, item: Packed) -> Any:
    before = state.mode
    state.mode = before.replace(saved_hooks=None)
    try:
        tensor = item.unpack(item.packed)
    finally:
        state.mode = before
    if not isinstance(tensor, TensorBase):
        raise TypeError(
            f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(tensor).__name__}"
        )
    if item.number is not None:
        return _with_history(node, tensor, item)
    made = alias_of(tensor)
    if item.edge is not None:
        target, number = item.edge
        made._sig = made._sig.spec.tracked
        if isinstance(target, AccumulateGrad):
            meta_of(made).accumulator = weakref.ref(target)
        else:
            made._grad_fn, made._output_nr = target, number
    return made


def _is_seen(alias: TensorBase) -> bool:
    """Return whether handlers in Python may have to make the alias that an unpacked result is."""
    return bool(state.mode.dispatch_modes) or type(alias) is not wired.tensor_class


def _with_history(node: Node, alias: TensorBase, item: Packed | SavedResult) -> TensorBase:
    if _is_seen(alias):
        tensor = alias_of(alias)  # a wrapper's own parts come with it
        tensor._sig = tensor._sig.spec.tracked
    else:
        tensor = share_bytes(type(alias), alias._sig.spec.tracked, alias)
    owner = item.owner() if item.owner is not None else None
    tensor._grad_fn = node if owner is None else owner
    tensor._output_nr = cast(int, item.number) if owner is None else 0
    if alias._meta is not None and alias._meta.tangents:
        meta_of(tensor).tangents = dict(alias._meta.tangents)
    return tensor


_NAMED = ("Float", "Double", "Half", "Byte", "Char", "Short", "Int", "Long")


def type_text(dtype: Dtype, device_type: str) -> str:
    """Return the type name that torch's version error shows: legacy names for old dtypes, C++ names for others."""
    if device_type == "cpu" and dtype.scalar_name in _NAMED:
        return dtype.type_name
    return f"{device_type.upper()}{dtype.scalar_name}Type"


def modified_error(tensor: TensorBase, version: int, maker: Any, number: int) -> RuntimeError:
    """Return torch's error for a saved tensor that was written into."""
    spec = tensor._sig.spec
    made_by = f", which is output {number} of {forward_name(maker)}," if maker is not None else ""
    hint = (
        "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
        "question was changed in there or anywhere later. Good luck!"
        if anomaly.enabled()
        else "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{type_text(spec.dtype, spec.device.type)} {list(spec.shape)}]{made_by} is at version {tensor._counter[0]}; "
        f"expected version {version} instead. {hint}"
    )


def freed_error() -> RuntimeError:
    """Return torch's error for reading saved tensors that were freed."""
    return RuntimeError(FREED_TEXT)


class SavedTensor:
    """`grad_fn._raw_saved_<name>`: a saved tensor on which pack and unpack hooks can be put before it is read."""

    __module__ = "torch._C._autograd"
    __slots__ = ("_node", "_slot")

    def __init__(self, node: Any = None, slot: Any = None) -> None:
        if slot is None:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._node = node
        self._slot = slot

    def register_hooks(self, *hooks: Callable[[Any], Any]) -> None:
        """Pack the value now with the first, and unpack it with the second whenever it is read.

        RuntimeError for a second pair or a freed value, TypeError for what is no pair of callables.
        """
        if len(hooks) != 2 or not all(callable(hook) for hook in hooks):
            raise TypeError(
                "register_hooks(): incompatible function arguments. The following argument types are supported:\n"
                "    1. (self: torch._C._autograd.SavedTensor, arg0: collections.abc.Callable, arg1: "
                f"collections.abc.Callable) -> None\n\nInvoked with: {', '.join(map(repr, (self, *hooks)))}"
            )
        pack_hook, unpack_hook = hooks
        if self._node._saved is None:
            raise RuntimeError(_FREED_HOOKS_TEXT)
        values, index = self._slot
        item = values[index]
        if item.__class__ is Packed:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor whose hooks have already been set. "
                "Hint: only one pair of hooks is allowed at a time."
            )
        if item is None:
            raise RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")
        if item.__class__ is SavedResult:
            packed = _packed(item.alias, item.number, pack_hook, unpack_hook)
            packed.owner = item.owner
        else:
            packed = _packed(item, None, pack_hook, unpack_hook)
        values[index] = packed

    @property
    def unpack_hook(self) -> Any:
        """The unpack hook, None where there is none."""
        values, index = self._slot
        item = values[index]
        return item.unpack if item.__class__ is Packed else None

    def unpack(self) -> Any:
        """Return the tensor, checked and unpacked as for backward."""
        saved, (values, index) = self._node._saved, self._slot
        if saved is None:
            raise freed_error()
        if values is saved:
            return unpack(self._node, values[index], values[index + 1], True)
        versions = next(saved[at + 1] for at, one in enumerate(saved) if one is values)
        return unpack(self._node, values[index], versions[index], True)

    @property
    def data(self) -> Any:
        """What the pack hook returned, or the tensor."""
        values, index = self._slot
        item = values[index]
        return item.packed if item.__class__ is Packed else item.alias if item.__class__ is SavedResult else item
