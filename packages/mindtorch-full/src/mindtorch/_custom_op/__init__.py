"""`torch._custom_op`: the interface for operators of programs before `torch.library.custom_op`, which takes its place."""

from mindtorch_storage.lazy_import import submodules as _submodules

__getattr__ = _submodules(__name__, "autograd impl", "torch._custom_op")
