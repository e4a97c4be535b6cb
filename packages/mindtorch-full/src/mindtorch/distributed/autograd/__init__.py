"""`torch.distributed.autograd`: gradients through calls to other processes are not offered: its names say so when used."""

from mindtorch._naming import adopt
from mindtorch.distributed import _not_offered

globals().update(_not_offered.functions(__name__, "backward get_gradients"))
globals().update(_not_offered.classes(__name__, "context"))


def is_available() -> bool:
    """Return whether gradients go through calls to other processes: False."""
    return False


adopt(globals())
