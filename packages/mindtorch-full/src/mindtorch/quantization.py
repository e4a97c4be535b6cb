"""The older home of `torch.ao.quantization`."""

from mindtorch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]
