"""`torch.distributed.tensor.parallel`: layers that are spread over processes."""

from mindtorch._naming import adopt
from mindtorch.distributed.tensor.parallel.api import parallelize_module
from mindtorch.distributed.tensor.parallel.loss import loss_parallel
from mindtorch.distributed.tensor.parallel.style import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
)

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
    "loss_parallel",
    "parallelize_module",
]

adopt(globals())
