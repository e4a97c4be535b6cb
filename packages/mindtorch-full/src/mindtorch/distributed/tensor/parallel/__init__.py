"""`torch.distributed.tensor.parallel`: layers that are spread over processes."""

from mindtorch._naming import adopt
from mindtorch.distributed.tensor.parallel import style
from mindtorch.distributed.tensor.parallel.api import parallelize_module
from mindtorch.distributed.tensor.parallel.loss import loss_parallel
from mindtorch.distributed.tensor.parallel.style import *  # noqa: F403 - the names of its __all__

__all__ = [*style.__all__, "loss_parallel", "parallelize_module"]

adopt(globals())
