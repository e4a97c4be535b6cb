"""`torch.distributed._composable`: functions that change a module in place."""

from mindtorch._naming import adopt
from mindtorch.distributed._composable.checkpoint_activation import checkpoint as checkpoint
from mindtorch.distributed._composable.contract import _get_registry as _get_registry
from mindtorch.distributed._composable.contract import contract as contract

adopt(globals())
