"""Selective checkpointing: a policy says which operators' results are kept."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import mindtorch as torch
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch.utils._pytree import tree_map
from mindtorch_dispatch.extend.overloads import OpOverload, OpOverloadPacket


class CheckpointPolicy(enum.Enum):
    """What becomes of an operator's result.

    >>> import torch.utils.checkpoint
    >>> torch.utils.checkpoint.CheckpointPolicy.MUST_SAVE
    <CheckpointPolicy.MUST_SAVE: 0>
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEEPING = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_OFFLOADING = (CheckpointPolicy.MUST_CPU_OFFLOAD, CheckpointPolicy.PREFER_CPU_OFFLOAD)

#: Operators that are never kept: their results share memory with others.
SAC_IGNORED_OPS: set[Any] = set()
_NEVER_KEPT = ("aten.detach.default",)


class SelectiveCheckpointContext:
    """What a policy is told besides the operator: which of the two runs it is.

    >>> torch.utils.checkpoint.SelectiveCheckpointContext(is_recompute=True).is_recompute
    True
    """

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """A result, and the version it must still have when it is used."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.version = value._version if isinstance(value, torch.Tensor) else None

    def get(self, allow_mutation: bool) -> Any:
        if self.version is not None and not allow_mutation and self.value._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.value


def _decide(
    policy_fn: Callable[..., Any], context: SelectiveCheckpointContext, func: Any, args: Any, kwargs: Any
) -> Any:
    policy = policy_fn(context, func, *args, **kwargs)
    if isinstance(policy, bool):
        return CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
    return policy


def _ignored(func: Any) -> bool:
    return func in SAC_IGNORED_OPS or str(func) in _NEVER_KEPT


class _Keeping(TorchDispatchMode):
    """Forward: ask the policy about each operator, and keep the results it wants kept."""

    def __init__(self, policy_fn: Callable[..., Any], decisions: dict[Any, list[Any]]) -> None:
        super().__init__()
        self.policy_fn = policy_fn
        self.decisions = decisions

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if _ignored(func):
            return out
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = _decide(self.policy_fn, context, func, args, kwargs)
        if policy in _OFFLOADING:
            raise NotImplementedError("selective checkpointing: offloading results to the CPU is not supported")
        kept = None
        if policy in _KEEPING:
            kept = tree_map(lambda leaf: _Kept(leaf.detach() if isinstance(leaf, torch.Tensor) else leaf), out)
        self.decisions[func].append((policy in _KEEPING, kept))
        return out


class _Replaying(TorchDispatchMode):
    """Recomputation: the decisions of the forward pass, in their order; kept results are handed out."""

    def __init__(self, decisions: dict[Any, list[Any]], allow_mutation: bool) -> None:
        super().__init__()
        self.decisions = decisions
        self.allow_mutation = allow_mutation

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _ignored(func):
            return func(*args, **kwargs)
        if func not in self.decisions:
            raise RuntimeError(f"{func} encountered during backward, but not found in storage")
        if not self.decisions[func]:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once "
                "on any region computed under selective activation checkpoint."
            )
        keeping, kept = self.decisions[func].pop(0)
        if not keeping:
            return func(*args, **kwargs)
        return tree_map(lambda entry: entry.get(self.allow_mutation), kept)


def _check_overload(one: Any) -> None:
    """Refuse what no decision can be made about: anything but one overload of an operator."""
    if isinstance(one, OpOverload):
        return
    advice = ""
    if isinstance(one, OpOverloadPacket):
        advice = (
            "Please update the OpOverloadPacket to a specific OpOverload."
            "For example, if you have `torch.ops.aten.mm`, change it to `torch.ops.aten.mm.default`."
        )
    raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {one} of type {type(one)}. {advice}")


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """The contexts for ``checkpoint(context_fn=...)``; the policy is a function, or a list of operators to keep.

    >>> import torch.utils.checkpoint
    >>> len(torch.utils.checkpoint.create_selective_checkpoint_contexts([torch.ops.aten.mm.default]))
    2
    """
    if isinstance(policy_fn_or_list, list):
        listed = policy_fn_or_list
        for one in listed:
            _check_overload(one)

        def policy_fn(ctx: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            return CheckpointPolicy.MUST_SAVE if op in listed else CheckpointPolicy.PREFER_RECOMPUTE

    elif callable(policy_fn_or_list):
        policy_fn = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    decisions: dict[Any, list[Any]] = defaultdict(list)
    return _Keeping(policy_fn, decisions), _Replaying(decisions, allow_cache_entry_mutation)
