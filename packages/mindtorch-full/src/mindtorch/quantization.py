"""The older home of `torch.ao.quantization`."""

from mindtorch._naming import missing_attribute
from mindtorch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]

__getattr__ = missing_attribute(__name__)
