"""CPU backend of MindTorch."""

from mindtorch_cpu.__about__ import __version__

__all__ = ["__version__"]
