"""Collectives of a group that a program's dispatch modes are told of, as torch's are: by their operators of `torch.ops.c10d`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import mindtorch as torch
from mindtorch.utils._python_dispatch import is_in_torch_dispatch_mode
from mindtorch_dispatch.state import state

Arguments = tuple[Any, ...]
_OPERATORS: dict[str, tuple[str, Callable[..., Arguments]]] = {
    "allreduce": ("allreduce_", lambda group, tensors, options: (tensors, group, options.reduceOp, None)),
    "broadcast": (
        "broadcast_",
        lambda group, tensors, options: (tensors, group, options.rootRank, options.rootTensor),
    ),
    "reduce": (
        "reduce_",
        lambda group, tensors, options: (tensors, group, options.reduceOp, options.rootRank, options.rootTensor),
    ),
    "allgather": ("allgather_", lambda group, outputs, inputs, options: (outputs, inputs, group)),
    "all_gather_single": ("_allgather_base_", lambda group, output, given, options: (output, given, group)),
    "gather": ("gather_", lambda group, outputs, inputs, options: (outputs, inputs, group, options.rootRank)),
    "scatter": ("scatter_", lambda group, outputs, inputs, options: (outputs, inputs, group, options.rootRank)),
    "reduce_scatter": (
        "reduce_scatter_",
        lambda group, outputs, inputs, options: (outputs, inputs, group, options.reduceOp),
    ),
    "reduce_scatter_single": (
        "_reduce_scatter_base_",
        lambda group, output, given, options: (output, given, group, options.reduceOp),
    ),
    "alltoall": ("alltoall_", lambda group, outputs, inputs, options: (outputs, inputs, group)),
}
"""The operator of a group's method, and its arguments but the last two."""


def begin(group: Any, method: str, *arguments: Any) -> Any:
    """Begin a collective by a group's method and its options; modes of the program see the operator first."""
    if not state.mode.dispatch_modes or not is_in_torch_dispatch_mode(include_infra_modes=False):
        return getattr(group, method)(*arguments)
    name, taken = _OPERATORS[method]
    options = arguments[-1]
    result = getattr(torch.ops.c10d, name)(*taken(group, *arguments), options.asyncOp, _milliseconds(options.timeout))
    return result[-1] if isinstance(result, (tuple, list)) else result


def _milliseconds(timeout: timedelta | None) -> int:
    return -1 if timeout is None else timeout // timedelta(milliseconds=1)
