"""The mode that records every operator of a program that runs, as nodes of a graph."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mindtorch as torch
from mindtorch._C._modes import _TorchDispatchModeKey
from mindtorch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from mindtorch.fx.experimental._proxy_tracking import (
    _ProxyTensor,
    fetch_object_proxy,
    get_proxy_slot,
    track_tensor_tree,
)
from mindtorch.fx.experimental._regions import Regions
from mindtorch.utils._python_dispatch import TorchDispatchMode, _detect_infra_mode, _disable_infra_mode
from mindtorch.utils._pytree import tree_flatten, tree_map, tree_map_only
from mindtorch_dispatch.extend.overloads import OpOverload
from mindtorch_dispatch.override.handlers import dispatches

Decompositions = Mapping[OpOverload, Callable[..., Any]]

CONSTANT_NUMEL_LIMIT = 1
"""Literals of at most that many elements keep their value while they are traced."""

_tables: list[Decompositions] = []


@contextlib.contextmanager
def decompose(decomposition_table: Decompositions | None) -> Iterator[Decompositions]:
    """In the block, operators of the table are recorded as what their functions do."""
    table = decomposition_table or {}
    _tables.append(table)
    try:
        yield table
    finally:
        _tables.pop()


def get_proxy_mode() -> Any:
    """Return the mode that records, None where nothing is traced.

    >>> from torch.fx.experimental.proxy_tensor import get_innermost_proxy_mode
    >>> print(get_innermost_proxy_mode())
    None
    """
    return _detect_infra_mode(_TorchDispatchModeKey.PROXY)


get_innermost_proxy_mode = get_proxy_mode


def disable_proxy_modes_tracing() -> contextlib.AbstractContextManager[Any]:
    """Return a block that is not recorded; it gives the mode that was active, or None."""
    return _disable_infra_mode(_TorchDispatchModeKey.PROXY)


class ProxyTorchDispatchMode(TorchDispatchMode):
    """Records operators. A tensor that the tracer knows is an input or the result of a node; others are constants.

    Args:
        tracer: what makes the nodes.
        tracing_mode: "real" or "fake".
        pre_dispatch: record operators as the program calls them, above autograd, and composed ones whole.
    """

    _mode_key = _TorchDispatchModeKey.PROXY

    def __init__(
        self,
        tracer: Any,
        tracing_mode: str,
        pre_dispatch: bool = False,
        _allow_fake_constant: bool = False,
        _error_on_data_dependent_ops: bool = True,
        decomposition_table: Decompositions | None = None,
    ) -> None:
        super().__init__()
        self.tracer = tracer
        self.tracing_mode = tracing_mode
        self.pre_dispatch = pre_dispatch
        self.enable_tracing = True
        self._allow_fake_constant = _allow_fake_constant
        self._error_on_data_dependent_ops = _error_on_data_dependent_ops
        self.decomposition_table = decomposition_table
        self.above_autograd = self.sees_composed = pre_dispatch
        self.regions = Regions(tracer) if pre_dispatch else None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return proxy_call(self, func, self.pre_dispatch, args, kwargs or {})

    def finish(self) -> None:
        """Record what the program leaves as it ends."""
        if self.regions is not None:
            self.regions.note()

    @classmethod
    def is_infra_mode(cls) -> bool:
        """True: it stands below a program's own modes."""
        return True


def maybe_handle_decomp(proxy_mode: Any, op: OpOverload, args: Any, kwargs: Any) -> Any:
    """Return what the decompositions in force make of a call, recorded; NotImplemented where they have none."""
    table: Decompositions = _tables[-1] if _tables else {}
    if op not in table:
        return NotImplemented
    with proxy_mode:
        return table[op](*args, **kwargs)


def proxy_call(proxy_mode: Any, func: OpOverload, pre_dispatch: bool, args: Any, kwargs: Any) -> Any:
    """Record a call and return its result.

    Raises:
        RuntimeError: the program asks for a value of a tensor that is traced.
    """
    leaves = [leaf for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)]
    if any(_unknown(type(leaf)) for leaf in leaves):
        return NotImplemented
    made = maybe_handle_decomp(proxy_mode, func, args, kwargs)
    if made is not NotImplemented:
        return made
    tracer = proxy_mode.tracer
    found = [fetch_object_proxy(tracer, leaf) for leaf in leaves]
    slots = [one for one in found if isinstance(one, _ProxyTensor)]
    constants = [one for one in slots if one.constant is not None]
    all_constant = len(constants) == len(slots) and all(isinstance(one, _ProxyTensor) for one in found)
    if torch.Tag.data_dependent_output in func.tags:
        return _data_dependent(proxy_mode, func, args, kwargs, all_constant and bool(slots))
    if func is torch.ops.aten.lift_fresh.default:
        func = torch.ops.aten.lift_fresh_copy.default
    return _recorded(proxy_mode, func, args, kwargs, constants, all_constant)


def _unknown(kind: type) -> bool:
    """True for a type of tensor that handles calls itself: the handler is asked, and what it calls is recorded."""
    if kind is torch.Tensor or issubclass(kind, (torch.nn.Parameter, FakeTensor)):
        return False
    return dispatches(kind)


def _data_dependent(proxy_mode: Any, func: OpOverload, args: Any, kwargs: Any, known: bool) -> Any:
    if known:
        tracer = proxy_mode.tracer

        def constant(tensor: Any) -> Any:
            return get_proxy_slot(tensor, tracer).constant

        with unset_fake_temporarily():
            return func(*tree_map_only(torch.Tensor, constant, args), **tree_map_only(torch.Tensor, constant, kwargs))
    if not proxy_mode._error_on_data_dependent_ops:
        return func(*args, **kwargs)
    raise RuntimeError(
        f"It appears that you're trying to get value out of a tracing tensor with {func} - erroring out! It's likely "
        "that this is caused by data-dependent control flow or similar.  It may be possible to trace this with dynamic "
        "shapes; try setting tracing_mode='symbolic' in your make_fx call."
    )


def _recorded(
    proxy_mode: Any, func: OpOverload, args: Any, kwargs: Any, constants: list[_ProxyTensor], all_constant: bool
) -> Any:
    tracer = proxy_mode.tracer
    if proxy_mode.regions is not None:
        proxy_mode.regions.note()
    proxy_args, proxy_kwargs = tree_map(tracer.unwrap_proxy, (args, kwargs))
    name = tracer.graph._target_to_str(func.overloadpacket.__name__)
    proxy_out = tracer.create_proxy("call_function", func, proxy_args, proxy_kwargs, name=name)
    if func._opname.endswith("_") and not func._opname.endswith("__") and isinstance(args[0], torch.Tensor):
        # What follows reads the result of the write. The literal that is written is a literal no more.
        slot = get_proxy_slot(args[0], tracer, None)
        if slot is not None:
            slot.proxy = proxy_out
            slot.constant = slot.constant if all_constant else None
    out = func(*args, **kwargs)
    constant = _constant_of(proxy_mode, func, args, kwargs, constants, all_constant, out)
    track_tensor_tree(out, proxy_out, constant=constant, tracer=tracer)
    return out


def _constant_of(
    proxy_mode: Any,
    func: OpOverload,
    args: Any,
    kwargs: Any,
    constants: list[_ProxyTensor],
    all_constant: bool,
    out: Any,
) -> Any:
    """Return the value of a result that follows from literals alone, None for others."""
    if func is torch.ops.aten.lift_fresh_copy.default:
        if out.numel() > CONSTANT_NUMEL_LIMIT:
            return None
        with unset_fake_temporarily(), disable_proxy_modes_tracing():
            return args[0].clone()
    small = [one for one in tree_flatten(out)[0] if isinstance(one, torch.Tensor)]
    if not (constants and all_constant and all(one.numel() <= CONSTANT_NUMEL_LIMIT for one in small)):
        return None
    if torch.Tag.nondeterministic_seeded in func.tags:
        return None
    tracer = proxy_mode.tracer

    def constant(tensor: Any) -> Any:
        return get_proxy_slot(tensor, tracer).constant

    with unset_fake_temporarily(), disable_proxy_modes_tracing():
        return func(*tree_map_only(torch.Tensor, constant, args), **tree_map_only(torch.Tensor, constant, kwargs))
