"""`torch.autograd`."""

from mindtorch_autograd.backward import backward, grad
from mindtorch_autograd.function import Function, NestedIOFunction
from mindtorch_autograd.mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_autograd.mode import (
    preserved_version_counter as _unsafe_preserve_version_counter,
)

from .._C import _is_multithreading_enabled as is_multithreading_enabled
from .._C import _is_view_replay_enabled as is_view_replay_enabled
from .._C._autograd import SavedTensor, _profiler_enabled
from .._naming import adopt
from .._profiling.device import kineto_available
from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler
from ._shapes import _calculate_shape
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .grad_mode import _force_original_view_tracking
from .gradcheck import gradcheck, gradgradcheck
from .graph import _engine_run_backward
from .variable import Variable, variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "SavedTensor",
    "Variable",
    "_calculate_shape",
    "_engine_run_backward",
    "_force_original_view_tracking",
    "_profiler_enabled",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
adopt(globals())
