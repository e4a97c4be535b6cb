"""Automatic differentiation of MindTorch."""

from mindtorch_autograd.__about__ import __version__

__all__ = ["__version__"]
