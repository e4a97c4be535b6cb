"""`torch.distributed.tensor`: tensors spread over processes. Their types can be named and asked about; none is made."""

from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.distributed.tensor.placement_types import Partial, Placement, Replicate, Shard
from mindtorch.tensor.tensor import Tensor

__all__ = ["DTensor", "Partial", "Placement", "Replicate", "Shard", "distribute_module", "distribute_tensor"]

_INSTEAD = "torch.distributed is not available, so no tensor is spread over processes"


class DTensor(Tensor):
    """A tensor that is spread over processes. Nothing is one, and making one raises."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(_INSTEAD)

    @staticmethod
    def from_local(*args: Any, **kwargs: Any) -> NoReturn:
        """Make one of each process's part; raises."""
        raise NotImplementedError(_INSTEAD)


def distribute_tensor(tensor: Tensor, *args: Any, **kwargs: Any) -> NoReturn:
    """Spread a tensor; raises."""
    raise NotImplementedError(_INSTEAD)


def distribute_module(module: Any, *args: Any, **kwargs: Any) -> NoReturn:
    """Spread a module's parameters; raises."""
    raise NotImplementedError(_INSTEAD)


adopt(globals())
