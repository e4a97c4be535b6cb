"""What `mindtorch env` reports."""

import importlib
import importlib.util
import os
import platform
import sys
from importlib import metadata
from typing import Any

import mindtorch_proxy
from mindtorch_storage.lazy_import import load

_MEMBERS = ("full", "storage", "dispatch", "autograd", "cpu", "npu", "runtime", "proxy")
_THIRD_PARTY = ("numpy", "ml_dtypes", "scipy", "transformers", "safetensors")


def environment_report() -> dict[str, Any]:
    """Return versions, devices and the state of the proxy; what is absent is None."""
    real = mindtorch_proxy.find_real_torch()
    return {
        "mindtorch": {f"mindtorch-{member}": _member_version(member) for member in _MEMBERS},
        "torch_interface": mindtorch_proxy.TORCH_VERSION,
        "python": platform.python_version(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "cpus": os.cpu_count(),
        "packages": {name: _distribution_version(name) for name in _THIRD_PARTY},
        "backends": {"cpu": _cpu(), "npu": _npu()},
        "call_path": _runtime(),
        "proxy_on": mindtorch_proxy.is_installed(),
        "MINDTORCH": os.environ.get("MINDTORCH"),
        "real_torch": real.origin if real is not None else None,
    }


def report_lines(report: dict[str, Any]) -> list[str]:
    """Return the report as lines of text."""
    lines = [f"{'torch interface:':<21}{report['torch_interface']}"]
    lines += [f"{name + ':':<21}{version or 'not installed'}" for name, version in report["mindtorch"].items()]
    lines += [f"{'python:':<21}{report['python']} ({report['executable']})"]
    lines += [f"{'platform:':<21}{report['platform']}, {report['cpus']} CPUs"]
    lines += [f"{name + ':':<21}{version or 'not installed'}" for name, version in report["packages"].items()]
    lines += [f"{'backend ' + name + ':':<21}{state}" for name, state in report["backends"].items()]
    lines += [f"{'call path:':<21}{report['call_path']}"]
    lines += [f"{'real torch:':<21}{report['real_torch'] or 'not importable'}"]
    lines += [f"{'proxy:':<21}{'on' if report['proxy_on'] else 'off'} in this process"]
    lines += [f"{'MINDTORCH:':<21}{report['MINDTORCH'] or 'unset'}"]
    return lines


def _member_version(member: str) -> str | None:
    """Return a member's version from its own `__about__`; installed metadata of an editable tree may be stale."""
    package = "mindtorch" if member == "full" else f"mindtorch_{member}"
    if importlib.util.find_spec(package) is None:
        return None
    return str(load(f"{package}.__about__").__version__)


def _distribution_version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    if importlib.util.find_spec("mindtorch_cpu") is None:
        return "mindtorch-cpu is not installed"
    native = load("mindtorch_cpu.native").module is not None
    return "native kernels" if native else "numpy kernels (the native module is not built, or switched off)"


def _runtime() -> str:
    if importlib.util.find_spec("mindtorch_runtime") is None:
        return "mindtorch-runtime is not installed"
    native = load("mindtorch_runtime.native").module is not None
    return "native" if native else "Python (the native module is not built, or switched off)"


def _npu() -> str:
    if importlib.util.find_spec("mindtorch_npu") is None:
        return "mindtorch-npu is not installed"
    return str(load("mindtorch_npu.runtime").describe())
