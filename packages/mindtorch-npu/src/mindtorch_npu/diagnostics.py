"""The command `mindtorch-npu`: what this host has of an Ascend installation, and what is missing.

    mindtorch-npu [doctor] [--json]

Exit status: 0 all is well, 1 with warnings, 2 something is broken, 3 no device. It loads no vendor library and
initialises no device, so it is safe beside running programs and works where nothing is installed.
"""

import argparse
import json
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from mindtorch_npu import runtime
from mindtorch_npu.__about__ import __version__
from mindtorch_npu.acl import loader

SCHEMA = 1
DRIVER = Path("/usr/local/Ascend/driver/version.info")
OK, WARNING, FAILURE, ABSENT = "ok", "warning", "failure", "absent"


@dataclass(frozen=True)
class Check:
    """One line of the report. `value` is None exactly when `why` says why it is missing."""

    name: str
    status: str
    value: str | None
    why: str | None = None


def check_devices(folder: Path = runtime.DEVICES) -> Check:
    """Device files of the driver, and whether this user may open them."""
    nodes = runtime.device_nodes(folder)
    if not nodes:
        return Check("devices", ABSENT, None, f"no {folder}/davinci<number>")
    closed = [str(n.path) for n in nodes if not n.accessible]
    value = ", ".join(str(n.path) for n in nodes)
    return Check("devices", FAILURE if closed else OK, value, f"no permission: {', '.join(closed)}" if closed else None)


def check_driver(file: Path = DRIVER) -> Check:
    """The version of the driver."""
    if not file.is_file():
        return Check("driver", WARNING, None, f"no {file}")
    lines = dict(line.split("=", 1) for line in file.read_text().splitlines() if "=" in line)
    version = lines.get("Version")
    return Check("driver", OK if version else WARNING, version, None if version else f"no Version in {file}")


def check_cann(environment: Mapping[str, str] = os.environ, folder: Path = loader.INSTALL_FOLDER) -> Check:
    """The CANN installations."""
    roots = [str(r) for r in loader.cann_roots(environment, folder)]
    if not roots:
        return Check("CANN", FAILURE, None, f"not in {', '.join(loader.ROOT_VARIABLES)}, not under {folder}")
    return Check("CANN", OK, ", ".join(roots))


def check_acl() -> Check:
    """pyACL on the path."""
    reason = loader.why_not()
    return Check("pyACL", FAILURE if reason else OK, None if reason else "found", reason)


def check_library_path(environment: Mapping[str, str] = os.environ) -> Check:
    """Stub libraries ahead of the real ones make every call fail with code 100039."""
    stubs = [p for p in environment.get("LD_LIBRARY_PATH", "").split(":") if p.rstrip("/").endswith("/stub")]
    why = (
        f"remove {', '.join(stubs)} from LD_LIBRARY_PATH: these libraries only serve to link against" if stubs else None
    )
    return Check("library path", WARNING if stubs else OK, "contains stubs" if stubs else "no stubs", why)


def doctor() -> list[Check]:
    """All checks of this host."""
    return [check_devices(), check_driver(), check_cann(), check_acl(), check_library_path()]


def exit_status(checks: Sequence[Check]) -> int:
    """Return the exit status that the checks ask for. Without a device nothing else counts."""
    found = {c.status for c in checks}
    return next((code for status, code in ((ABSENT, 3), (FAILURE, 2), (WARNING, 1)) if status in found), 0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="mindtorch-npu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", nargs="?", choices=["doctor"], default="doctor")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--version", action="version", version=f"mindtorch-npu {__version__}")
    options = parser.parse_args(arguments)
    checks = doctor()
    status = exit_status(checks)
    if options.json:
        host = {"mindtorch_npu": __version__, "python": platform.python_version(), "platform": platform.platform()}
        report = {"schema": SCHEMA, "status": status, **host, "checks": [asdict(c) for c in checks]}
        print(json.dumps(report, indent=2))
        return status
    print(f"mindtorch-npu {__version__}, Python {platform.python_version()}, {platform.platform()}")
    for check in checks:
        text = "; ".join(part for part in (check.value, check.why) if part)
        print(f"{check.status:>8}  {check.name}: {text}")
    if status == 3:
        print("No Ascend device on this host. MindTorch computes on the CPU here.")
    return status


if __name__ == "__main__":
    sys.exit(main())
