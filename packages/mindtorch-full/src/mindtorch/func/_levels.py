"""What the transforms share: arguments by number, stand-ins for inputs, and results freed of a level's history."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch_autograd.mode import enable_grad
from mindtorch_autograd.node import AccumulateGrad
from mindtorch_autograd.saved_hooks import disable_saved_tensors_hooks
from mindtorch_autograd.views import grad_fn, set_history, set_requires_grad
from mindtorch_dispatch.batching import depth, is_batched, lifted_here, rewrapped, transforming, without_history
from mindtorch_dispatch.keys import DispatchKey
from mindtorch_dispatch.state import mode_set, state
from mindtorch_storage.tensor_base import TensorBase

from ..utils._pytree import tree_flatten, tree_map


def fresh_leaf(value: Any) -> Any:
    """Return a leaf over the same value that requires grad."""
    if hasattr(value, "_value"):  # it stands for another, whose leaf is made by what handles its calls
        return value.detach().requires_grad_()
    made = without_history(value)
    set_requires_grad(made, True)
    return made


def writable(stand_in: Any) -> Any:
    """Return a tensor over a leaf's value that is no leaf and no view, so that a function may write into it."""
    if hasattr(stand_in, "_value") or grad_fn(stand_in) is not None:
        return stand_in
    node = grad_fn(stand_in.view_as(stand_in))
    made = without_history(stand_in)
    set_history(made, node, 0)
    return made


def checked_argnums(argnums: Any, count: int) -> None:
    """Raise torch's errors for argument numbers that are none, or too high for `count` arguments."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, tuple) and not argnums:
        raise RuntimeError("argnums must be non-empty")
    many = argnums if isinstance(argnums, tuple) else (argnums,)
    for number in many:
        if not isinstance(number, int):
            raise RuntimeError(f"argnum must be int, got: {type(number)}")
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    counted = tuple(number % count for number in many)
    if len(set(counted)) != len(counted):
        raise RuntimeError(f"argnums elements must be unique, got {counted}")


def chosen(args: Sequence[Any], argnums: int | tuple[int, ...]) -> Any:
    """Return the argument, or the tuple of arguments, that `argnums` names."""
    return args[argnums] if isinstance(argnums, int) else tuple(args[number] for number in argnums)


def replaced(args: Sequence[Any], argnums: int | tuple[int, ...], values: Any) -> list[Any]:
    """Return the arguments with those that `argnums` names replaced by `values`."""
    made = list(args)
    if isinstance(argnums, int):
        made[argnums] = values
    else:
        for number, value in zip(argnums, values, strict=True):
            made[number] = value
    return made


WRITTEN_LEAF = "a leaf Variable that requires grad is being used in an in-place operation."
CAPTURED = (
    "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (aten::copy_) "
    "that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly "
    "accept the mutated Tensor(s) as inputs."
)


class Level:
    """The inputs one transform differentiates by, as stand-ins: views where an outer level needs them, else leaves."""

    def __init__(self, inputs: Any) -> None:
        self.outer_grad = state.mode.grad
        self.depth = depth()
        self.leaves: set[int] = set()
        self._inside: set[Any] = set()  # nodes whose history does not lead out
        self._calls_programs = False  # whether one of them runs a backward of the program
        self.stand_ins = tree_map(self._stand_in, inputs)
        self.flat, self.spec = tree_flatten(self.stand_ins)
        self._nodes = [grad_fn(one) for one in self.flat]

    def check_written(self, text: str) -> None:
        """Raise RuntimeError(text) where the function wrote into an input that belongs to an outer level too.

        What it computed follows from what it wrote, and no more from the input.
        """
        for one, node in zip(self.flat, self._nodes, strict=True):
            if node is not None and grad_fn(one) is not node:
                raise RuntimeError(text)

    def _stand_in(self, value: Any) -> Any:
        if not isinstance(value, TensorBase):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
        value = lifted_here(value)
        if self.outer_grad and value.requires_grad:
            return value.view_as(value)
        if not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise RuntimeError("only Tensors of floating point dtype can require gradients")
        made = fresh_leaf(value)
        self.leaves.add(id(getattr(made, "_value", made)))  # of a tensor that stands for another, that one is the leaf
        return made

    def closed(self, values: Any) -> Any:
        """Return results without the history that only leads to this level's leaves."""
        return tree_map(self._closed, values)

    def _closed(self, value: Any) -> Any:
        if not isinstance(value, TensorBase):
            return value
        if is_batched(value) and value._storage.level > self.depth:  # a batch opened inside of this level
            return rewrapped(value, self._closed)
        if value.requires_grad and (not self.outer_grad or not self._leads_out(value)):
            return value.detach() if hasattr(value, "_value") else without_history(value)
        return value

    def is_seen_outside(self, values: Sequence[Any]) -> bool:
        """True when what follows from `values` may be differentiated outside of the level, or a program sees how it does.

        Its backward functions find grad mode on in a transform.
        """
        if state.mode.overriding or state.mode.forward_ad:
            return True
        for value in values:
            if value.requires_grad and self._leads_out(value):
                return True
            while value._wraps:
                value = value._storage.value
                if value.requires_grad:
                    return True
        return self._calls_programs

    def _leads_out(self, value: Any) -> bool:
        """True when the history of `value` reaches a leaf that is not of this level."""
        root = grad_fn(value)
        if root is None:
            return id(getattr(value, "_value", value)) not in self.leaves
        inside = self._inside
        seen, stack = {root}, [] if root in inside else [root]
        while stack:
            node = stack.pop()
            if isinstance(node, AccumulateGrad) and id(node.variable) not in self.leaves:
                return True
            self._calls_programs |= node._recorder is None and not isinstance(node, AccumulateGrad)
            for child, _ in node._edges:
                if child is not None and child not in seen and child not in inside:
                    seen.add(child)
                    stack.append(child)
        inside |= seen
        return False


def only_tensors(values: Sequence[Any], text: str) -> None:
    """Raise torch's error when a function returned something that is no tensor."""
    for value in values:
        if not isinstance(value, TensorBase):
            raise RuntimeError(text.format(type(value)))


def tensor_outputs(output: Any, name: str, expected: str) -> tuple[list[Any], Any]:
    """Return the tensors of an output and its structure; torch's errors where it has none, or something else."""
    flat, spec = tree_flatten(output)
    if not flat or (len(flat) == 1 and flat[0] is None):
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {flat})")
    only_tensors(flat, f"{name}: {expected}, got unsupported type {{}}")
    return flat, spec


def real_only(values: Sequence[Any], name: str, what: str) -> None:
    """Raise torch's error for complex tensors where a Jacobian is asked for."""
    for place, value in enumerate(values):
        if isinstance(value, TensorBase) and value.dtype.is_complex:
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened input idx: {place}"
            )


def differentiable_only(values: Sequence[Any]) -> None:
    """Raise torch's error for outputs of a dtype that no cotangent has."""
    for value in values:
        if not (value.dtype.is_floating_point or value.dtype.is_complex):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{value.dtype}"
            )


@contextmanager
def reversing() -> Iterator[None]:
    """Context of a function that is differentiated in reverse mode.

    It is recorded even where a guard has taken autograd out of calls, and its tensors are not saved through hooks.
    """
    text = (
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use "
        "case."
    )
    exclude = state.mode.exclude & ~(1 << DispatchKey.Autograd)
    with disable_saved_tensors_hooks(text), enable_grad(), transforming(), mode_set(exclude=exclude):
        yield


def split_aux(result: Any, has_aux: bool, name: str) -> tuple[Any, Any]:
    """Return (output, aux) of a function's result; torch's error when `has_aux` and it is no pair, or aux no tensors."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    only_tensors(tree_flatten(result[1])[0], "Expected tensors, got unsupported type {}")
    return result


def name_of(function: Callable[..., Any] | str) -> str:
    """Return the name that torch's texts give a function, which may be told by its name."""
    if isinstance(function, str):
        return function
    if isinstance(function, functools.partial):
        return f"functools.partial({name_of(function.func)}, ...)"
    return getattr(function, "__name__", None) or repr(function)
