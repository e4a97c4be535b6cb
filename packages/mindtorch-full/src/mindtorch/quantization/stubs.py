"""The older home of `torch.ao.quantization.stubs`."""

from mindtorch.ao.quantization import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]
