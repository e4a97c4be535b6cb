"""`torch._refs._conversions`: tensors of another dtype."""

import mindtorch as torch
from mindtorch._refs._bind import bind, find
from mindtorch._refs._names import CONVERSIONS

_OF_TWO = ("complex", "polar")

for _name in CONVERSIONS:
    globals()[_name] = find(_name, torch) if _name in _OF_TWO else find(_name)
__all__ = bind(globals(), CONVERSIONS)
