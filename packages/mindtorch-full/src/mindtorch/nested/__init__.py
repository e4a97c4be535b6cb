"""`torch.nested`: nested and jagged tensors are not offered; its names say so when they are used."""

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import submodules

__all__: list[str] = []

__getattr__ = submodules(__name__, "_internal", "torch.nested")

adopt(globals())
