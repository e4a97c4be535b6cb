"""`torch._export`: what programs mark for an exporter."""

from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, "wrappers", "torch._export")
