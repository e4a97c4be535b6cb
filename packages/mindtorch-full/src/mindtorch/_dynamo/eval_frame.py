"""`torch._dynamo.eval_frame`: the type of compiled modules."""

from mindtorch._naming import adopt
from mindtorch.compiler._compiled import OptimizedModule

__all__ = ["OptimizedModule"]

adopt(globals())
