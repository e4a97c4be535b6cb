"""Huawei Ascend runtime of MindTorch; this package's core imports the standard library only."""

from mindtorch_npu.__about__ import __version__

__all__ = ["__version__"]
