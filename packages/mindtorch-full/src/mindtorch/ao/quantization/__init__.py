"""Marks in a model where quantization begins and ends. Observers, `prepare` and `convert` are not offered."""

from mindtorch._naming import adopt
from mindtorch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]

adopt(globals())
