"""The torch surface of MindTorch."""

from mindtorch.__about__ import __version__

__all__ = ["__version__"]
