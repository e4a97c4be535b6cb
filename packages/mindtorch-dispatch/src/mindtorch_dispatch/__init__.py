"""Operator table and call path of MindTorch."""

from mindtorch_dispatch.__about__ import __version__

__all__ = ["__version__"]
