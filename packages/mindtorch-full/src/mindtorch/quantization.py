"""The older home of `torch.ao.quantization`."""

from mindtorch._naming import missing_attribute
from mindtorch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper, quantize_dynamic

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "quantize_dynamic"]

__getattr__ = missing_attribute(__name__)
