"""Which steps of a graph do more than give their value."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket

_impure: set[Any] = set()

_RANDOM = frozenset(
    "bernoulli dropout normal poisson multinomial rand rand_like randint randint_like randn randn_like randperm "
    "rrelu".split()
)


_OPERATORS = frozenset(
    "_c10d_functional::batch_p2p_ops _c10d_functional::irecv _c10d_functional::isend _c10d_functional::wait_tensor "
    "profiler::_record_function_enter profiler::_record_function_enter_new profiler::_record_function_exit "
    "aten::_assert_async aten::_assert_scalar aten::_assert_tensor_metadata aten::sym_constrain_range "
    "aten::sym_constrain_range_for_size".split()
)
"""Operators that are called for what they do: they wait, measure and check."""


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Keep calls of `fn` in graphs whose result nobody uses, and return `fn`."""
    _impure.add(fn)
    return fn


def is_impure(node: Any, impure_random: bool) -> bool:
    """Return whether removing `node` changes more than what uses its value."""
    if node.op in ("placeholder", "output"):
        return True
    if node.op == "call_function":
        return _function_is_impure(node.target, node.kwargs, impure_random)
    if node.op == "call_module":
        module = node.graph.owning_module
        if module is None:
            raise AssertionError("self.graph.owning_module not set for purity check")
        target = module.get_submodule(node.target)
        if target is None:
            raise AssertionError(f"Did not find expected submodule target {node.target}")
        return getattr(target, "_is_impure", False)
    return False


def _function_is_impure(target: Any, kwargs: dict[str, Any], impure_random: bool) -> bool:
    if target in _impure:
        return True
    packet = target.overloadpacket if isinstance(target, OpOverload) else target
    if isinstance(packet, OpOverloadPacket) and packet._qualified_op_name in _OPERATORS:
        return True
    if isinstance(target, OpOverload):
        return target._schema.is_mutable or (impure_random and torch.Tag.nondeterministic_seeded in target.tags)
    if target is operator.setitem:
        return True
    if impure_random and getattr(target, "__name__", None) in _RANDOM:
        return getattr(target, "__module__", None) == "torch" and kwargs.get("generator") is None
    return False


for _name in ("_assert", "_assert_async", "_assert_scalar", "_assert_tensor_metadata"):
    if hasattr(torch, _name):
        _impure.add(getattr(torch, _name))
for _check in (torch._check, torch._check_is_size, torch._check_with):
    _impure.add(_check)
