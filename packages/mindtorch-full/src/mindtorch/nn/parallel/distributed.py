"""Training in several processes."""

from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.nn.modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Averages gradients between processes; making one raises, as there is no process group to do it with."""

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        if not mindtorch.distributed.is_available():
            raise RuntimeError(
                "DistributedDataParallel needs torch.distributed, which is not available "
                "(torch.distributed.is_available() is False)"
            )
        raise RuntimeError("DistributedDataParallel is not implemented")


adopt(globals())
