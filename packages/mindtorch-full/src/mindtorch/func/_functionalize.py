"""`functionalize`: a program run without its writes in place, what it would have written copied to its inputs at the end.

Tensors of the program are wrapped. A wrapper knows the value it stands for, the memory it would share (`_Memory`), and by
which views it comes from there. A write computes the new value out of place, carries it back through the views to the
memory's contents, and other wrappers over the same memory work their value out again when they are asked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch_autograd.node import meta_of
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.extend.overloads import OpOverload, OutOverload, overload_of
from mindtorch_dispatch.override.overrides import disabled_torch_function
from mindtorch_dispatch.plan.targets import check_writable
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.table import find_packet, find_row
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from ..tensor.tensor import Tensor
from ..utils._python_dispatch import TorchDispatchMode
from ..utils._pytree import tree_map
from ._view_inverses import written_back

_NOT_WRAPPED = (
    "mutating a non-functional tensor with a functional tensor is not allowed. Please ensure that all of your inputs are "
    "wrapped inside of a functionalize() call."
)
_INVALID = (
    "functionalize(f, remove='mutations'): received invalid argument for remove={}. Valid options are:\n"
    "     remove='mutations': all inplace and out= operators will be removed from the program, and replaced with their "
    "out-of-place equivalents.\n"
    "     remove='mutations_and_views': In addition to the above, all aliasing operators {{view}} will be replaced with "
    "their non-aliasing counterparts, {{view}}_copy.\n"
)


class _Memory:
    """What tensors that would share memory have in common: its contents, and how often it was written."""

    __slots__ = ("contents", "writes")

    def __init__(self, contents: Any) -> None:
        self.contents = contents
        self.writes = 0


class _Step:
    """One view: the operator, its other arguments, and which of several results it is."""

    __slots__ = ("args", "func", "kwargs", "name", "number")

    def __init__(self, func: Any, name: str, args: Any, kwargs: Any, number: int | None) -> None:
        self.func = func
        self.name = name
        self.args = args
        self.kwargs = kwargs
        self.number = number

    def forward(self, base: Any) -> Any:
        """Return the view of `base`."""
        made = self.func(base, *self.args, **self.kwargs)
        return made if self.number is None else made[self.number]

    def backward(self, base: Any, value: Any) -> Any:
        """Return `base` with the view replaced by `value`."""
        return written_back(self.name, self.number, base, value, self.args, self.kwargs)


class FunctionalTensor(Tensor):
    """Stands for a tensor of a program that is run without writes."""

    __torch_function__ = disabled_torch_function

    _level: Any
    _value: Any
    _memory: _Memory
    _steps: tuple[_Step, ...]
    _seen: int

    @staticmethod
    def wrap(level: Any, value: Any, memory: _Memory | None = None, steps: tuple[_Step, ...] = ()) -> FunctionalTensor:
        """Return the wrapper of `value`, which is contents of its own or a view of `memory`'s."""
        made = make_tensor(FunctionalTensor, value._sig, None, UntypedStorage(0, device="meta"), value._offset, [0])
        made._level = level
        made._memory = _Memory(value) if memory is None else memory
        made._steps = steps
        made._become(value)
        return made

    def _become(self, value: Any) -> None:
        self._value, self._seen = value, self._memory.writes
        self._sig, self._grad_fn, self._output_nr = value._sig, value._grad_fn, value._output_nr
        # The gradient state of a leaf is one object, whichever of the two a program asks.
        leaf = value._sig.requires_grad and value._grad_fn is None and value._view is None
        self._meta = meta_of(value) if leaf else value._meta

    def current(self) -> Any:
        """Return the value after all writes so far."""
        if self._seen != self._memory.writes:
            value = self._memory.contents
            for step in self._steps:
                value = step.forward(value)
            self._become(value)
        return self._value

    def write(self, value: Any) -> None:
        """Make `value` the contents of this tensor, in the memory it shares."""
        befores = [self._memory.contents]
        for step in self._steps[:-1]:
            befores.append(step.forward(befores[-1]))
        contents = value
        for step, before in zip(reversed(self._steps), reversed(befores), strict=False):
            contents = step.backward(before, contents)
        self._memory.contents = contents
        self._memory.writes += 1
        self._become(value)
        self._counter[0] += 1

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Turn recording on or off for the value."""
        value = self.current()
        value.requires_grad_(requires_grad)
        self._become(value)
        return self

    def numpy(self, *, force: bool = False) -> Any:
        """The value as an array."""
        return self.current().numpy(force=force)

    def tolist(self) -> Any:
        """The value as numbers."""
        return self.current().tolist()

    def __repr__(self, **options: Any) -> str:  # type: ignore[override]
        return f"FunctionalTensor(lvl={self._level.number}, value=\\\n{self.current()!r})"


class _Level(TorchDispatchMode):
    """One running `functionalize`."""

    above_autograd = True

    def __init__(self, copies: bool) -> None:
        super().__init__()
        self.copies = copies
        self.number = 1 + sum(isinstance(mode, _Level) for mode in state.mode.dispatch_modes)

    def ours(self, value: Any) -> bool:
        """True for a wrapper of this level."""
        return isinstance(value, FunctionalTensor) and value._level is self

    def unwrapped(self, values: Any) -> Any:
        """Return nested values with this level's wrappers replaced by what they stand for now."""
        return tree_map(lambda one: one.current() if self.ours(one) else one, values)

    def wrapped(self, values: Any) -> Any:
        """Return nested values with every tensor wrapped as contents of its own."""
        return tree_map(
            lambda one: FunctionalTensor.wrap(self, one) if isinstance(one, TensorBase) and not self.ours(one) else one,
            values,
        )

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = func.declared
        named = dict(zip((argument.name for argument in schema.arguments), args, strict=False)) | kwargs
        targets = [named.get(argument.name) for argument in schema.arguments if argument.is_write]
        if targets:
            return self._write(func, targets, args, kwargs)
        aliased = next((argument for argument in schema.arguments if argument.alias is not None), None)
        base = named.get(aliased.name) if aliased is not None else None
        if base is not None and self.ours(base) and schema.returns[0].alias is not None:
            return self._view(func, base, args, kwargs)
        return self.wrapped(func(*self.unwrapped(args), **self.unwrapped(kwargs)))

    def _view(self, func: Any, base: Any, args: Any, kwargs: Any) -> Any:
        rest = self.unwrapped(args[1:])
        chosen = _copying(func) if self.copies else func
        made = chosen(base.current(), *rest, **kwargs)
        several = isinstance(made, (list, tuple))
        wrapped = []
        for number, value in enumerate(made if several else (made,)):
            step = _Step(chosen, func._opname, rest, kwargs, number if several else None)
            wrapped.append(FunctionalTensor.wrap(self, value, base._memory, (*base._steps, step)))
        return type(made)(wrapped) if several else wrapped[0]

    def _write(self, func: Any, targets: list[Any], args: Any, kwargs: Any) -> Any:
        flat = [one for target in targets for one in (target if isinstance(target, (list, tuple)) else (target,))]
        if not any(map(self.ours, (*flat, *_leaves(args), *_leaves(kwargs)))):
            return func(*args, **kwargs)  # nothing of the program's inputs is concerned
        if not all(map(self.ours, flat)):
            raise RuntimeError(_NOT_WRAPPED)
        view = _view_of(func)
        if view is not None:
            return self._reshape(view, args, kwargs)
        functional = _functional(func)
        if isinstance(func, OutOverload):
            kwargs = {name: value for name, value in kwargs.items() if not any(value is one for one in targets)}
        if functional is None:
            return self._write_copies(func, flat, args, kwargs)
        for target in flat if not isinstance(func, OutOverload) else ():
            check_writable(target._sig.spec)
        args, kwargs = _with_defaults(func, functional, args, kwargs)
        made = functional(*self.unwrapped(args), **self.unwrapped(kwargs))
        values = list(made) if isinstance(made, (list, tuple)) else [made]
        for target, value in zip(flat, values, strict=True):
            self._assign(target, value, isinstance(func, OutOverload))
        if not func.declared.returns:
            return None
        return targets[0] if len(targets) == 1 else tuple(targets)

    def _write_copies(self, func: Any, flat: list[Any], args: Any, kwargs: Any) -> Any:
        """Run a writing operator that has no other form on copies of what it writes."""
        copies = {id(target): aten.clone(target.current()) for target in flat}

        def value(one: Any) -> Any:
            return copies[id(one)] if id(one) in copies else one.current() if self.ours(one) else one

        made = func(*tree_map(value, args), **tree_map(value, kwargs))
        back = {id(copies[id(target)]): target for target in flat}
        for target in flat:
            target.write(copies[id(target)])
        return tree_map(lambda one: back[id(one)] if id(one) in back else self.wrapped(one), made)

    def _assign(self, target: Any, value: Any, resizes: bool) -> None:
        spec, have = target._sig.spec, value._sig.spec
        if have.shape != spec.shape and not resizes:
            raise RuntimeError(
                f"output with shape {list(spec.shape)} doesn't match the broadcast shape {list(have.shape)}"
            )
        if have.dtype is not spec.dtype:
            value = aten._to_copy(value, dtype=spec.dtype)
        target.write(value)

    def _reshape(self, view: Any, args: Any, kwargs: Any) -> Any:
        target, rest = args[0], self.unwrapped(args[1:])
        chosen = _copying(view) if self.copies else view
        value = chosen(target.current(), *rest, **kwargs)
        target._steps = (*target._steps, _Step(chosen, view._opname, rest, kwargs, None))
        target._become(value)
        return target


def _leaves(values: Any) -> list[Any]:
    found: list[Any] = []
    tree_map(found.append, values)
    return found


def _functional(func: Any) -> Any:
    """Return the operator that computes what `func` writes, None when there is none."""
    row = func.row
    if isinstance(func, OutOverload):
        return overload_of(row)
    if row.base is not None:
        return overload_of(row.base)
    named = _OTHER_NAMES.get(row.name) or row.packet.removesuffix("_") + (f".{row.overload}" if row.overload else "")
    found = find_row(named) if row.packet.endswith("_") else None
    return overload_of(found) if found is not None else None


def _with_defaults(func: Any, functional: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """Return the arguments of `func` for its other form, which may lack defaults that `func` has."""
    optional = {argument.name for argument in functional.declared.arguments if argument.has_default}
    args = list(args)
    for argument in func.declared.arguments[len(args) :]:
        if argument.kwarg_only or argument.name in optional or not argument.has_default:
            break
        args.append(kwargs.get(argument.name, argument.default))
    return args, kwargs


_OTHER_NAMES = {"normal_": "normal_functional", "bernoulli_.float": "bernoulli.p"}


def _view_of(func: Any) -> Any:
    """Return the view that an in-place change of geometry makes of its tensor, None for other operators."""
    row = func.row
    if row.meta is None or not row.meta.view or not row.packet.endswith("_"):
        return None
    base = row.packet.removesuffix("_")
    found = find_row(f"{base}.{row.overload}" if row.overload else base) or find_row(f"{base}.int")
    return overload_of(found) if found is not None else None


def _copying(view: OpOverload) -> OpOverload:
    """Return the form of a view that copies; the view itself where there is no such form."""
    packet = find_packet(f"{_COPIES.get(view._opname, view._opname)}_copy")
    if packet is None:
        return view
    row = next((row for row in packet.rows if row.overload == view.declared.overload), None)
    return view if row is None else overload_of(row)


_COPIES = {"_reshape_alias": "view"}


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return a function that computes what `func` does without writing in place while it runs.

    What `func` writes to its inputs is copied to them at the end. With `remove="mutations_and_views"` views are replaced
    by copies too. RuntimeError when a tensor that is no input is written with values of one that is.

    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.ones(2))
    tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(_INVALID.format(remove))

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        level = _Level(remove == "mutations_and_views")
        inputs: dict[int, tuple[Any, FunctionalTensor]] = {}

        def enter(value: Any) -> Any:
            if not isinstance(value, TensorBase):
                return value
            if id(value) not in inputs:
                inputs[id(value)] = (value, FunctionalTensor.wrap(level, value))
            return inputs[id(value)][1]

        given, named = tree_map(enter, args), tree_map(enter, kwargs)
        with level:
            result = func(*given, **named)
        result = tree_map(lambda one: one.current() if level.ours(one) else one, result)
        for value, wrapper in inputs.values():
            if wrapper._memory.writes:
                _copy_back(value, wrapper)
        return result

    return wrapped


def _copy_back(value: Any, wrapper: FunctionalTensor) -> None:
    contents = wrapper._memory.contents
    if contents is value:
        return
    if contents._sig.spec.shape != value._sig.spec.shape:
        raise NotImplementedError("functionalize: an input was given another size, which cannot be copied back to it")
    with mode_set(function_override=state.mode.function_override):
        aten.copy_(value, contents)
