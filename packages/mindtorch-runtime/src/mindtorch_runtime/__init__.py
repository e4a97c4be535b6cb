"""The native call path of MindTorch. `mindtorch_runtime.native` puts it in place when it is imported."""

from pathlib import Path

from mindtorch_runtime.__about__ import __version__

__all__ = ["__version__", "include"]


def include() -> str:
    """Return the folder of `mindtorch/kernel.h`, for the compiler of kernels of one's own."""
    return str(Path(__file__).parent / "include")
