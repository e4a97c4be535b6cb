"""The older home of `torch.ao.quantization`."""

from mindtorch._naming import missing_attribute
from mindtorch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper, quantize_dynamic
from mindtorch.quantization import fuse_modules, quantize, quantize_jit

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "quantize_dynamic"]

del fuse_modules, quantize, quantize_jit
"""Functions have these names; their modules, imported once, take them no more."""

__getattr__ = missing_attribute(__name__)
