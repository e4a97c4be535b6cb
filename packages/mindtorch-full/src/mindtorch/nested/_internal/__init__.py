"""`torch.nested._internal`: where libraries look for the class of jagged tensors."""

from mindtorch._naming import adopt
from mindtorch_storage.lazy_import import submodules

__all__: list[str] = []

__getattr__ = submodules(__name__, "nested_tensor", "torch.nested._internal")

adopt(globals())
