"""`torch.autograd`."""

from mindtorch_autograd.backward import backward, grad
from mindtorch_autograd.function import Function
from mindtorch_autograd.mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)

from .._naming import adopt
from ..tensor.tensor import Tensor as Variable
from . import function, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
adopt(globals())
