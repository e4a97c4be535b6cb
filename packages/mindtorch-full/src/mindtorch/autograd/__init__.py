"""`torch.autograd`."""

from mindtorch_autograd.backward import backward, grad
from mindtorch_autograd.function import Function, NestedIOFunction
from mindtorch_autograd.mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from mindtorch_autograd.mode import (
    preserved_version_counter as _unsafe_preserve_version_counter,
)

from .._naming import adopt
from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph, profiler
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable, variable

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "_unsafe_preserve_version_counter",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
adopt(globals())
