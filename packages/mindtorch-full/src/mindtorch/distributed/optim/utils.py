"""`torch.distributed.optim.utils`: optimizers by their functional forms."""

from mindtorch._naming import adopt

from ._functional import _create_functional_optim as _create_functional_optim
from ._functional import as_functional_optim, functional_optim_map, register_functional_optim

__all__ = ["as_functional_optim", "functional_optim_map", "register_functional_optim"]

adopt(globals())
