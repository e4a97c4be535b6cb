"""Arguments of `DistributedDataParallel` that are refused, or on their way out."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch.nn.parameter import Parameter, UninitializedParameter

_REPLACED = (
    "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: unlike "
    "`broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at init. If you rely on buffers NOT being "
    "synced at init (e.g. rank-local buffers), keep using `broadcast_buffers=False` until `init_sync_buffers` is available."
)
_BOTH_GIVEN = (
    "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is deprecated and its value "
    "is ignored when `forward_sync_buffers` is provided."
)


def refuse(fail: Callable[[type[Exception], str], None], **arguments: Any) -> None:
    if (arguments["delay_all_reduce_named_params"] is None) != (arguments["param_to_hook_all_reduce"] is None):
        fail(ValueError, "delay_all_reduce_named_params and param_to_hook_all_reduce need to be set at the same time.")
    for name, given in arguments.items():
        if given is not None:
            raise NotImplementedError(f"DistributedDataParallel: the argument {name} is not offered")


def check_initialized(fail: Callable[[type[Exception], str], None], parameters: Sequence[Parameter]) -> None:
    if any(isinstance(parameter, UninitializedParameter) for parameter in parameters):
        fail(
            RuntimeError,
            "Modules with uninitialized parameters can't be used with `DistributedDataParallel`. "
            "Run a dummy forward pass to correctly initialize the modules",
        )


def warn_of_arguments(broadcast_buffers: Any, forward_sync_buffers: Any, check_reduction: bool) -> None:
    if broadcast_buffers is not None:
        given_both = forward_sync_buffers is not None
        warnings.warn(_BOTH_GIVEN if given_both else _REPLACED, FutureWarning, stacklevel=3)
    if check_reduction:
        warnings.warn(
            "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please avoid using it.",
            FutureWarning,
            stacklevel=3,
        )
