"""`torch._higher_order_ops`: control flow as functions. Nothing is captured here, so they run as plain Python."""

from mindtorch._higher_order_ops.associative_scan import associative_scan
from mindtorch._higher_order_ops.cond import cond
from mindtorch._higher_order_ops.foreach_map import foreach_map
from mindtorch._higher_order_ops.out_dtype import out_dtype
from mindtorch._higher_order_ops.scan import scan
from mindtorch._higher_order_ops.while_loop import while_loop
from mindtorch._naming import adopt

__all__ = ["associative_scan", "cond", "foreach_map", "out_dtype", "scan", "while_loop"]

adopt(globals())
