"""Asks pyACL about the devices in a process of its own, so that a device that hangs, or a vendor library that ends the
process, does not take the asking program with it. `python -m mindtorch_npu.probe` is that process.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from types import ModuleType

from mindtorch_npu.acl import codes, loader
from mindtorch_npu.acl.errors import AclError, check

TIMEOUT_S = float(os.environ.get("MINDTORCH_NPU_TIMEOUT", "8.0"))


@dataclass(frozen=True)
class Report:
    """What pyACL says without being initialised. What it did not say is None; ``error`` says why nothing was said."""

    device_count: int | None = None
    soc_name: str | None = None
    acl_version: str | None = None
    error: str | None = None


def ask(timeout_s: float = TIMEOUT_S) -> Report:
    """Return what pyACL says, asked in another process for at most ``timeout_s`` seconds."""
    absence = loader.absence()
    if absence is not None:
        return Report(error=absence.text)
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__], capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return Report(error=f"pyACL did not answer within {timeout_s:g} s")
    # The vendor's libraries write to standard output too; ours is the last line.
    lines = done.stdout.strip().splitlines()
    try:
        return Report(**json.loads(lines[-1]))
    except (IndexError, ValueError, TypeError):
        tail = (done.stderr.strip().splitlines() or ["no output"])[-1]
        return Report(error=f"pyACL ended the process (status {done.returncode}): {tail}")


def look() -> Report:
    """Return what pyACL says, asked in this process."""
    try:
        acl = loader.load()
        count, code = acl.rt.get_device_count()
        check(code, "acl.rt.get_device_count()", acl)
    except (loader.AclNotFoundError, AclError) as error:
        return Report(error=str(error))
    return Report(device_count=int(count), soc_name=_soc_name(acl), acl_version=_version(acl))


def _soc_name(acl: ModuleType) -> str | None:
    """Return the chip's name; pyACL may lack the function, and gives None where it does not know."""
    ask_name = getattr(acl, "get_soc_name", None)
    name = ask_name() if ask_name is not None else None
    return name if isinstance(name, str) and name else None


def _version(acl: ModuleType) -> str | None:
    ask_version = getattr(acl, "get_version", None)
    if ask_version is None:
        return None
    *parts, code = ask_version()
    return ".".join(map(str, parts)) if code == codes.SUCCESS else None


if __name__ == "__main__":
    print(json.dumps(asdict(look())))
