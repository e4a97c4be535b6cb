"""`torch.distributed._tools`: looking at a training while it runs."""

from mindtorch._naming import adopt
from mindtorch.distributed._tools.mod_tracker import ModTracker as ModTracker

adopt(globals())
