"""`torch_npu.utils.collect_env`: what a report of a fault should say."""

from __future__ import annotations

import os
import site
import warnings
from typing import NamedTuple

import mindtorch as torch
from mindtorch.npu._versions import get_cann_version
from mindtorch.utils import collect_env

__all__ = [
    "SystemEnv", "check_directory_path_readable", "check_path_owner_consistent", "get_cann_version", "get_env_info",
    "get_pretty_env_info", "get_torch_npu_install_path", "get_torch_npu_version", "main", "pretty_str",
]  # fmt: skip


class SystemEnv(NamedTuple):
    """What is installed: torch's own report, and what torch_npu adds to it."""

    torch: str
    torch_npu_version: str
    cann_version: str


def get_torch_npu_install_path() -> str:
    """Return the folder of installed packages."""
    return next(iter(site.getsitepackages()), "")


def check_path_owner_consistent(path: str) -> None:
    """RuntimeError for a path that is not there; its owner is no longer asked for."""
    warnings.warn(
        "`torch_npu.utils.collect_env.check_path_owner_consistent(path)` is deprecated and no longer performs path owner "
        "verification. Please use `check_directory_path_readable(path)` to check whether the path exists.",
        FutureWarning,
        stacklevel=2,
    )
    if not os.path.exists(path):
        raise RuntimeError(f"The path does not exist: {path}")


def check_directory_path_readable(path: str) -> None:
    """RuntimeError for a path that is not there, is a link, or cannot be read."""
    if not os.path.exists(path):
        raise RuntimeError(f"The path does not exist: {path}")
    if os.path.islink(path):
        raise RuntimeError(f"Invalid path is a symbolic link: {path}")
    if not os.access(path, os.R_OK):
        raise RuntimeError(f"The path permission check failed: {path}")


def get_torch_npu_version() -> str:
    """Return torch_npu's version, which is that of torch."""
    return str(torch.__version__)


def get_env_info() -> SystemEnv:
    """Return what is installed."""
    return SystemEnv(collect_env.get_pretty_env_info(), get_torch_npu_version(), get_cann_version() or "not known")


def pretty_str(envinfo: SystemEnv) -> str:
    """Return the report as text."""
    return f"{envinfo.torch}\n\nTorch-npu version: {envinfo.torch_npu_version}\n\nCANN:\n{envinfo.cann_version}"


def get_pretty_env_info() -> str:
    """Return the report of this machine as text."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print the report."""
    print("Collecting environment information...")
    print(get_pretty_env_info())
