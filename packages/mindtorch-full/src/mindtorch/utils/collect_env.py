"""`torch.utils.collect_env`: a text about the program's surroundings, for reports of bugs."""

from __future__ import annotations

import importlib.metadata
import platform
import sys
from typing import NamedTuple

import mindtorch as torch
from mindtorch.__about__ import __version__
from mindtorch._naming import adopt

__all__ = ["SystemEnv", "get_env_info", "get_pip_packages", "get_pretty_env_info", "main", "pretty_str"]

_PACKAGES = ("mindtorch", "torch", "numpy", "scipy", "ml-dtypes", "transformers", "safetensors", "triton", "onnx")


class SystemEnv(NamedTuple):
    """What is known of the surroundings.

    >>> torch.utils.collect_env.SystemEnv._fields[:3]
    ('torch_version', 'is_debug_build', 'cuda_compiled_version')
    """

    torch_version: str
    is_debug_build: str
    cuda_compiled_version: str
    os: str
    libc_version: str
    python_version: str
    python_platform: str
    is_cuda_available: str
    accelerator: str
    cpu_info: str
    pip_packages: str


def get_pip_packages() -> str:
    """Return the installed distributions that matter here, a line each."""
    found = {
        f"{name}=={one.version}"
        for one in importlib.metadata.distributions()
        if (name := one.metadata["Name"]) is not None and name.lower().startswith(_PACKAGES)
    }
    return "\n".join(sorted(found))


def get_env_info() -> SystemEnv:
    """Return what is known of the surroundings.

    >>> torch.utils.collect_env.get_env_info().is_cuda_available
    'False'
    """
    found = torch.accelerator.current_accelerator()
    return SystemEnv(
        torch_version=f"{torch.__version__} (MindTorch {__version__})",
        is_debug_build="False",
        cuda_compiled_version="None",
        os=platform.platform(terse=True),
        libc_version="-".join(platform.libc_ver()),
        python_version=f"{sys.version} ({platform.architecture()[0]} runtime)".replace("\n", " "),
        python_platform=platform.platform(),
        is_cuda_available=str(torch.cuda.is_available()),
        accelerator=str(found),
        cpu_info=f"{platform.machine()} {platform.processor()}".strip(),
        pip_packages=get_pip_packages(),
    )


def pretty_str(envinfo: SystemEnv) -> str:
    """Return the text.

    >>> from torch.utils.collect_env import get_env_info, pretty_str
    >>> pretty_str(get_env_info()._replace(is_debug_build="maybe")).splitlines()[1]
    'Is debug build: maybe'
    """
    packages = "\n".join(f"[pip3] {line}" for line in envinfo.pip_packages.splitlines())
    return (
        f"PyTorch version: {envinfo.torch_version}\nIs debug build: {envinfo.is_debug_build}\n"
        f"CUDA used to build PyTorch: {envinfo.cuda_compiled_version}\n\nOS: {envinfo.os}\n"
        f"Libc version: {envinfo.libc_version}\n\nPython version: {envinfo.python_version}\n"
        f"Python platform: {envinfo.python_platform}\nIs CUDA available: {envinfo.is_cuda_available}\n"
        f"Accelerator: {envinfo.accelerator}\n\nCPU:\n{envinfo.cpu_info}\n\n"
        f"Versions of relevant libraries:\n{packages}"
    )


def get_pretty_env_info() -> str:
    """Return the text about these surroundings.

    >>> torch.utils.collect_env.get_pretty_env_info().splitlines()[0].startswith("PyTorch version: 2.13.0")
    True
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


adopt(globals())

if __name__ == "__main__":
    main()
