"""`torch._refs.nn`: functions of neural networks."""

from mindtorch._refs.nn import functional

__all__ = ["functional"]
