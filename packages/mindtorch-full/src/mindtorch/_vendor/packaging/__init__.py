"""`torch._vendor.packaging`: versions as PEP 440 orders them."""

from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, "version", "torch._vendor.packaging")
