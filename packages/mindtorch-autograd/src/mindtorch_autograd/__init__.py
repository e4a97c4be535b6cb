"""The backward graph of MindTorch: recording, the engine, modes, derivative formulas, custom functions.

Importing the package puts autograd into the call path of `mindtorch_dispatch`.
"""

from .__about__ import __version__
from .backward import backward, grad
from .derivative import NON_DIFFERENTIABLE, ZERO, derivative, joint
from .graph import GradientEdge, get_gradient_edge, increment_version, register_multi_grad_hook
from .installation import install
from .mode import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from .node import AccumulateGrad, Node
from .saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

install()

__all__ = [
    "NON_DIFFERENTIABLE",
    "ZERO",
    "AccumulateGrad",
    "GradientEdge",
    "Node",
    "__version__",
    "backward",
    "derivative",
    "disable_saved_tensors_hooks",
    "enable_grad",
    "get_gradient_edge",
    "grad",
    "increment_version",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "joint",
    "no_grad",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_grad_enabled",
]
