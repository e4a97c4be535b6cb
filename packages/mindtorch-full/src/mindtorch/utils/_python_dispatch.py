"""Modes that see every operator, and tensors that wrap others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mindtorch as torch
from mindtorch._C import _modes as stacks
from mindtorch._naming import adopt
from mindtorch_dispatch.execute.executor import rebind_geometry
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.override.handlers import PYTHON_MASK
from mindtorch_dispatch.state import mode_set, state
from mindtorch_storage.tensor_base import is_bare

__all__ = [
    "AliasInfo",
    "BaseTorchDispatchMode",
    "SchemaInfo",
    "TorchDispatchMode",
    "any_torch_dispatch_mode_on_stack",
    "get_alias_info",
    "is_in_any_mode_without_ignore_compile_internals",
    "is_in_torch_dispatch_mode",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "return_and_correct_aliasing",
    "transform_subclass",
]


class TorchDispatchMode:
    """Inside the block, ``__torch_dispatch__(func, types, args, kwargs)`` is called instead of every operator.

    The mode is not active while its own handler runs.
    """

    supports_higher_order_operators = False

    def __init__(self, _dispatch_key: Any = None) -> None:
        if _dispatch_key is not None:
            self.__dict__["_dispatch_key"] = _dispatch_key

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        _push_mode(self)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        _pop_mode(getattr(self, "_mode_key", None))

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> Any:
        """The older way to make a mode."""
        return cls(*args, **kwargs)

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Whether this mode belongs to the machinery rather than to the user."""
        return False

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Whether the mode does not care for what a compiler makes of the program."""
        return False


class BaseTorchDispatchMode(TorchDispatchMode):
    """A mode that only calls through."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def _push_mode(mode: Any) -> None:
    stacks._push_on_torch_dispatch_stack(mode)


def _pop_mode(k: Any = None) -> Any:
    return stacks._pop_torch_dispatch_stack(k)


@contextlib.contextmanager
def _pop_mode_temporarily(k: Any = None) -> Iterator[Any]:
    mode = _pop_mode(k)
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _disable_current_modes() -> Iterator[list[Any]]:
    """Run the block with no mode active; gives the modes, outermost first."""
    modes = list(state.mode.dispatch_modes)
    with mode_set(dispatch_modes=()):
        yield modes


@contextlib.contextmanager
def _disable_infra_mode(key: Any) -> Iterator[Any]:
    mode = _unset_infra_mode(key)
    try:
        yield mode
    finally:
        if mode is not None:
            _push_mode(mode)


def _detect_infra_mode(key: Any) -> Any:
    return next((mode for mode in state.mode.dispatch_modes if getattr(mode, "_mode_key", None) == key), None)


def _unset_infra_mode(key: Any) -> Any:
    return None if _detect_infra_mode(key) is None else _pop_mode(key)


def _get_current_dispatch_mode_stack() -> list[Any]:
    """The active modes, outermost first."""
    return list(state.mode.dispatch_modes)


def _get_current_dispatch_mode() -> Any:
    """The innermost active mode."""
    modes = state.mode.dispatch_modes
    return modes[-1] if modes else None


def is_in_torch_dispatch_mode(include_infra_modes: bool = True) -> bool:
    """Whether any mode is active."""
    return any(include_infra_modes or not mode.is_infra_mode() for mode in state.mode.dispatch_modes)


def is_in_any_mode_without_ignore_compile_internals() -> bool:
    """Whether a mode is active that cares for what a compiler makes of the program."""
    return any(not mode.ignore_compile_internals() for mode in state.mode.dispatch_modes)


def any_torch_dispatch_mode_on_stack() -> bool:
    """Whether any mode is active."""
    return bool(state.mode.dispatch_modes)


def _unwraps(kind: type) -> bool:
    return hasattr(kind, "__tensor_flatten__") and hasattr(kind, "__tensor_unflatten__")


def is_traceable_wrapper_subclass(t: object) -> bool:
    """Whether a value is a tensor that can be taken apart into plain ones and put together again."""
    return isinstance(t, torch.Tensor) and type(t) is not torch.Tensor and _unwraps(type(t))


def is_traceable_wrapper_subclass_type(t: type) -> bool:
    """Whether a type is one of tensors that can be taken apart."""
    return isinstance(t, type) and issubclass(t, torch.Tensor) and t is not torch.Tensor and _unwraps(t)


def transform_subclass(t: Any, callback: Any, outer_size: Any = None, outer_stride: Any = None) -> Any:
    """Rebuild a wrapper with ``callback(name, inner)`` in place of each inner tensor."""
    outer_size = t.size() if outer_size is None else outer_size
    outer_stride = t.stride() if outer_stride is None else outer_stride
    names, context = t.__tensor_flatten__()
    inner = {name: callback(name, getattr(t, name)) for name in names}
    rebuilt = type(t).__tensor_unflatten__(inner, context, outer_size, outer_stride)
    for what, have, want in (("shape", rebuilt.shape, outer_size), ("strides", rebuilt.stride(), outer_stride)):
        if tuple(have) != tuple(want):
            raise AssertionError(
                f"Expected return value from {type(t)}__tensor_unflatten__() to have {what} equal to {want}, "
                f"but got: {have}"
            )
    return rebuilt


@dataclass
class AliasInfo:
    """What a schema says of one argument or result."""

    alias_set: set[str]
    is_write: bool
    name: str | None


@dataclass
class SchemaInfo:
    """What a schema says of aliasing: per argument, per result, and what follows from both."""

    args: list[AliasInfo]
    outs: list[AliasInfo]
    is_inplace_view_op: bool
    outs_write_aliases: list[str] | None
    read_only_alias_match_indexes: list[tuple[int, int]]


_INPLACE_VIEWS = frozenset(
    "as_strided_ detach_ squeeze_ swapaxes_ swapdims_ t_ transpose_ unsqueeze_ resize_ set_".split()
)


def get_alias_info(func: Any) -> SchemaInfo:
    """Return how an operator's results relate to its arguments."""
    schema = func.declared

    def info(one: Any) -> AliasInfo:
        alias = one.alias
        name = one.name or None
        return AliasInfo(set() if alias is None else {alias.before}, alias is not None and alias.is_write, name)

    args, outs = [info(one) for one in schema.arguments], [info(one) for one in schema.returns]
    written = [_get_write_alias(out) for out in outs]
    matches = [
        (at, to)
        for at, arg in enumerate(args)
        for to, out in enumerate(outs)
        if arg.alias_set & out.alias_set and not arg.is_write
    ]
    return SchemaInfo(
        args=args,
        outs=outs,
        is_inplace_view_op=func._opname in _INPLACE_VIEWS,
        outs_write_aliases=None if any(one is None for one in written) else [one for one in written if one],
        read_only_alias_match_indexes=matches,
    )


def _get_write_alias(x: AliasInfo) -> str | None:
    if not x.alias_set:
        return None
    return next(iter(x.alias_set)) if x.is_write else None


def _share_storage(target: Any, source: Any) -> None:
    """Let `target`, the wrapper of a view's result, lie over the storage of `source`, as views do."""
    storage = source._materialized_storage()
    if is_bare(target):
        target._storage = storage
    else:
        rebind_geometry(target, target._sig.spec, storage, target._offset)


def _correct_storage_aliasing(func: Any, schema_info: SchemaInfo, args: Any, outs: Any) -> None:
    if not isinstance(func, OpOverload):
        raise AssertionError(f"func must be an OpOverload, got {type(args)}")
    if not isinstance(outs, (list, tuple)):
        raise AssertionError(f"outs must be a list or tuple, got {type(args)}")
    for at, to in schema_info.read_only_alias_match_indexes:
        results = outs[to]
        for result in results if isinstance(results, list) else (results,):
            if isinstance(result, torch.Tensor):
                if type(result) is not type(args[at]):
                    raise AssertionError(
                        f"Called {func} with input of type {type(args[at])}\nand output of type {type(result)}. But "
                        "expected types to match."
                    )
                with mode_set(exclude=state.mode.exclude | PYTHON_MASK):
                    _share_storage(result, args[at])


def return_and_correct_aliasing(func: Any, args: Any, kwargs: Any, out: Any) -> Any:
    """Return what a wrapper's handler answers, as the operator's schema has it.

    A view's result shares the wrapper's storage with its input, and what is written is returned itself.
    """
    info = get_alias_info(func)
    outs = list(out) if isinstance(out, tuple) else [out]
    _correct_storage_aliasing(func, info, args, outs)
    if info.is_inplace_view_op:
        _follow_geometry(func, args, kwargs or {})
    written = info.outs_write_aliases
    if not written:
        return out
    given = dict(zip((one.name for one in func.declared.arguments), args, strict=False)) | (kwargs or {})
    made = [given[one.name] for alias in written for one in info.args if alias in one.alias_set]
    return made[0] if len(made) == 1 else type(out)(made)


def _follow_geometry(func: Any, args: Any, kwargs: Any) -> None:
    """Give the wrapper that an in-place view op was called on its new geometry."""
    with mode_set(exclude=state.mode.exclude | PYTHON_MASK, dispatch_modes=()):
        func(*args, **kwargs)


adopt(globals())
