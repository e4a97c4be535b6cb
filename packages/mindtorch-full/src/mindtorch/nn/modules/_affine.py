"""The weight and bias by which normalization layers scale and shift, where they do."""

from typing import Any

import mindtorch
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


def register_affine(module: Module, shape: Any, weight: bool, bias: bool, **made: Any) -> None:
    """Give ``module`` a weight and a bias of ``shape``, not filled yet; those that it does without are None."""
    for name, wanted in (("weight", weight), ("bias", bias)):
        module.register_parameter(name, Parameter(mindtorch.empty(shape, **made)) if wanted else None)


def reset_affine(module: Module) -> None:
    """Let ``module`` scale by one and shift by zero."""
    init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)
