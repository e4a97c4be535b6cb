"""`torch.export`: programs are not exported. What marks dimensions for it is there, as models carry such marks."""

from mindtorch._naming import adopt
from mindtorch.export.dynamic_shapes import Dim, dims

__all__ = ["Dim", "dims"]

adopt(globals())
