"""Hooks: their handles, the hooks a node carries, and how they run, with torch's checks of what they return."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase


class RemovableHandle:
    """Removes one hook from the dictionary it was registered in; usable as a context manager.

    >>> x = torch.ones(1, requires_grad=True)
    >>> handle = x.register_hook(lambda grad: 10 * grad)
    >>> type(handle).__name__
    'RemovableHandle'
    >>> handle.remove()
    >>> x.sum().backward()
    >>> x.grad
    tensor([1.])
    """

    __module__ = "torch.utils.hooks"
    id: int
    next_id: int = 0

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = () if extra_dict is None else extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref: tuple[Any, ...] = tuple(weakref.ref(each) for each in extra)

    def remove(self) -> None:
        """Forget the hook. A second call, or a dictionary that is gone, is fine."""
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None and self.id in hooks:
                del hooks[self.id]

    def __getstate__(self) -> tuple[Any, ...]:
        state: tuple[Any, ...] = (self.hooks_dict_ref(), self.id)
        if self.extra_dict_ref:
            state += (tuple(ref() for ref in self.extra_dict_ref),)
        return state

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        # A handle whose dictionary did not survive points at an empty one nobody else holds.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if state[0] is None else state[0])
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        extra = state[2] if len(state) > 2 and state[2] else ()
        self.extra_dict_ref = tuple(weakref.ref(OrderedDict() if each is None else each) for each in extra)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, exc_type: object, exc: object, trace: object) -> None:
        self.remove()


def add_hook(hooks: OrderedDict[int, Any], fn: Callable[..., Any]) -> RemovableHandle:
    """Put `fn` into `hooks` and return its handle."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = fn
    return handle


class NodeHooks:
    """What is attached to one node.

    `pre` and `post` are hook dicts of the node itself; `tensor` has (output number, hook dict) pairs of the tensors
    it made, in the order they were connected; `retain` maps output numbers to the functions that fill `.grad`;
    `metadata` is the user's dict.
    """

    __slots__ = ("metadata", "post", "pre", "retain", "tensor")

    def __init__(self) -> None:
        self.pre: OrderedDict[int, Any] = OrderedDict()
        self.post: OrderedDict[int, Any] = OrderedDict()
        self.tensor: list[tuple[int, dict[int, Any]]] = []
        self.retain: dict[int, Any] = {}
        self.metadata: dict[Any, Any] = {}


def hook_name(hook: Callable[..., Any]) -> str:
    """Return the name that torch's texts use for a hook."""
    return getattr(hook, "__name__", "<unknown>")


def run_tensor_hooks(attached: Sequence[tuple[int, dict[int, Any]]], grads: list[Any]) -> None:
    """Let the hooks of the output tensors see, and replace in place, the gradients that arrived."""
    for number, hooks in attached:
        grads[number] = _replaced(hooks, grads[number])


def run_post_accumulate_hooks(hooks: dict[int, Any], variable: TensorBase) -> None:
    """Let the hooks of a leaf see it. They may return the leaf itself, as its in-place methods do, but no other tensor."""
    if _replaced(hooks, variable) is not variable:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _replaced(hooks: dict[int, Any], value: TensorBase | None) -> TensorBase | None:
    """Return what hooks that each see one tensor make of it: what the last that returned one returned."""
    for hook in list(hooks.values()):
        changed = hook(value)
        if changed is None:
            continue
        if not isinstance(changed, TensorBase):
            raise TypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
        check_changed(value, changed, hook)
        value = changed
    return value


def run_retain_hooks(retain: dict[int, Any], grads: list[Any]) -> None:
    """Fill `.grad` of the outputs that retain it."""
    for number, keep in retain.items():
        if grads[number] is not None:
            keep(grads[number])


def run_pre_hooks(hooks: dict[int, Any], grads: list[Any]) -> list[Any]:
    """Return the gradients a node is to run on, after its pre-hooks."""
    for hook in list(hooks.values()):
        changed = hook(tuple(grads))
        if changed is not None:
            grads = _checked_all(grads, changed, hook)
    return grads


def run_post_hooks(hooks: dict[int, Any], answers: Sequence[Any], grads: Sequence[Any]) -> Sequence[Any]:
    """Return the gradients a node passes on, after its hooks saw what it got and gave."""
    given = tuple(grads)
    for hook in list(hooks.values()):
        changed = hook(tuple(answers), given)
        if changed is not None:
            answers = _checked_all(answers, changed, hook)
    return answers


def _checked_all(before: Sequence[Any], after: object, hook: Callable[..., Any]) -> list[Any]:
    if not isinstance(after, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(after).__name__}'")
    if len(after) != len(before):
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has returned an incorrect number of values (got {len(after)}, but expected "
            f"{len(before)})"
        )
    for old, new in zip(before, after, strict=True):
        if new is not None:
            check_changed(old, new, hook)
    return list(after)


def check_changed(before: TensorBase | None, after: TensorBase, hook: Callable[..., Any]) -> None:
    """Raise torch's errors for a gradient that a hook must not put in the place of `before`."""
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    have, want = after._sig.spec, before._sig.spec
    if have.dtype is not want.dtype:
        raise RuntimeError(
            f"hook '{hook_name(hook)}' has changed the type of value (was {want.dtype.type_name} got "
            f"{have.dtype.type_name})"
        )
    if have.device != want.device:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the type of value")
    if have.shape != want.shape:
        raise RuntimeError(f"hook '{hook_name(hook)}' has changed the size of value")
