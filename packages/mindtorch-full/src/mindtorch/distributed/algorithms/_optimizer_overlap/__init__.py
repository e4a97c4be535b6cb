"""Optimizers that step while gradients of other parameters are still computed."""

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms._optimizer_overlap.optimizer_overlap import (
    _as_overlapped_optim as _as_overlapped_optim,
)

adopt(globals())
