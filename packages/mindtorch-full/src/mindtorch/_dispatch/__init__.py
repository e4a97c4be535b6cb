"""`torch._dispatch`: switches of the dispatcher."""

from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, "python", "torch._dispatch")
