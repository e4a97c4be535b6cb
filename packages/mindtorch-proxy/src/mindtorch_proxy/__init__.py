"""Import hook that makes `import torch` resolve to MindTorch."""

from mindtorch_proxy.__about__ import __version__

__all__ = ["__version__"]
