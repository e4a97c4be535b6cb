"""The older home of `torch.ao.nn.quantized`."""

from mindtorch.ao.nn.quantized import FloatFunctional

__all__ = ["FloatFunctional"]
