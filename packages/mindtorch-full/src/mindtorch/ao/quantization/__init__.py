"""Marks in a model where quantization begins and ends. Observers, `prepare` and `convert` are not offered."""

from mindtorch._naming import adopt
from mindtorch.ao.quantization import quantize, quantize_jit
from mindtorch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]

del quantize, quantize_jit
"""Functions have these names; their modules, imported once, take them no more."""

adopt(globals())
