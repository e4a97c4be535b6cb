"""Marks in a model where quantization begins and ends, and `quantize_dynamic` for linear layers; no observers, no `convert`."""

from mindtorch._naming import adopt
from mindtorch.ao.quantization import quantize, quantize_jit
from mindtorch.ao.quantization.quantize import quantize_dynamic
from mindtorch.ao.quantization.stubs import DeQuantStub, QuantStub, QuantWrapper

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper", "quantize_dynamic"]

del quantize, quantize_jit
"""Functions have these names; their modules, imported once, take them no more."""

adopt(globals())
