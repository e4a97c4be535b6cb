"""`functorch.experimental.control_flow`: control flow as functions, whose place is `torch._higher_order_ops`."""

from mindtorch._higher_order_ops import cond as cond
from mindtorch._higher_order_ops.map import map as map
