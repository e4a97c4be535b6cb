"""Import hook that makes `import torch` resolve to MindTorch. Knows names only; imports `mindtorch` when torch is."""

from mindtorch_proxy.__about__ import __version__
from mindtorch_proxy.environment import install_by_mode
from mindtorch_proxy.ipython import load_ipython_extension, unload_ipython_extension
from mindtorch_proxy.names import TORCH_VERSION
from mindtorch_proxy.real_torch import RealTorchImportedError, find_real_torch
from mindtorch_proxy.run import run_code, run_module, run_path
from mindtorch_proxy.switch import install, is_installed, proxy, uninstall

__all__ = [
    "TORCH_VERSION",
    "RealTorchImportedError",
    "__version__",
    "find_real_torch",
    "install",
    "install_by_mode",
    "is_installed",
    "load_ipython_extension",
    "proxy",
    "run_code",
    "run_module",
    "run_path",
    "uninstall",
    "unload_ipython_extension",
]
