"""`torch.distributed._tensor.api`: the former place of spread tensors and of what makes them."""

from mindtorch._naming import missing_attribute
from mindtorch.distributed.tensor._api import (
    DTensor,
    distribute_module,
    distribute_tensor,
    empty,
    full,
    ones,
    rand,
    randn,
    zeros,
)

__all__ = [
    "DTensor", "distribute_module", "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros",
]  # fmt: skip

__getattr__ = missing_attribute(__name__)
