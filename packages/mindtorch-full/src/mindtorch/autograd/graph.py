"""`torch.autograd.graph`."""

from mindtorch_autograd.graph import (
    GradientEdge,
    get_gradient_edge,
    increment_version,
    register_multi_grad_hook,
)
from mindtorch_autograd.mutation import allow_mutation_on_saved_tensors
from mindtorch_autograd.node import Node
from mindtorch_autograd.saved_hooks import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]
