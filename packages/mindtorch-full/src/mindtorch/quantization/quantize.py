"""The older home of `torch.ao.quantization.quantize`."""

from mindtorch._naming import missing_attribute
from mindtorch.ao.quantization import quantize_dynamic

__all__ = ["quantize_dynamic"]

__getattr__ = missing_attribute(__name__)
