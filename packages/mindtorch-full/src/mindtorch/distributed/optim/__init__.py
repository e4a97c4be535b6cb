"""`torch.distributed.optim`: optimizers of many processes. Those over remote calls are not offered."""

from mindtorch._naming import adopt
from mindtorch._submodules import offer
from mindtorch.distributed._not_offered import classes
from mindtorch.distributed.optim import _functional
from mindtorch.distributed.optim.apply_optimizer_in_backward import (
    _apply_optimizer_in_backward as _apply_optimizer_in_backward,
)
from mindtorch.distributed.optim.apply_optimizer_in_backward import (
    _get_in_backward_optimizers as _get_in_backward_optimizers,
)
from mindtorch.distributed.optim.named_optimizer import _NamedOptimizer as _NamedOptimizer
from mindtorch.distributed.optim.post_localSGD_optimizer import PostLocalSGDOptimizer as PostLocalSGDOptimizer
from mindtorch.distributed.optim.utils import as_functional_optim as as_functional_optim
from mindtorch.distributed.optim.zero_redundancy_optimizer import ZeroRedundancyOptimizer as ZeroRedundancyOptimizer

__all__ = ["DistributedOptimizer", "PostLocalSGDOptimizer", "ZeroRedundancyOptimizer", "as_functional_optim"]

globals().update(classes(__name__, "DistributedOptimizer"))
offer(
    globals(),
    {
        f"functional_{cls.__name__.lower()}": {made.__name__: made}
        for cls, made in _functional.functional_optim_map.items()
    },
)

adopt(globals())
