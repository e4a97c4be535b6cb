"""`torch._vendor`: what torch carries of other projects, as far as others import it from there."""

from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, "packaging", "torch._vendor")
