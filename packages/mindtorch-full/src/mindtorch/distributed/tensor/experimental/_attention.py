"""`torch.distributed.tensor.experimental._attention`: not offered: its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import functions

globals().update(functions(__name__, "context_parallel set_rotate_method"))

adopt(globals())
