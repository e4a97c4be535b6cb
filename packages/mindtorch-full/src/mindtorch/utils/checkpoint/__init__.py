"""Trade time for memory: recompute in backward what forward did not keep."""

from mindtorch._naming import adopt

from ._call import checkpoint, checkpoint_sequential, noop_context_fn
from ._frame import CheckpointError, GraphExecGroup
from ._reentrant import CheckpointFunction, check_backward_validity, detach_variable
from ._replay import DefaultDeviceType, get_device_states, set_device_states
from ._replay import _infer_device_type as _infer_device_type
from ._selective import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)
from ._settings import set_checkpoint_debug_enabled, set_checkpoint_early_stop

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

adopt(globals())
