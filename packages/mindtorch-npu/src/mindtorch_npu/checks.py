"""The checks of `mindtorch-npu check`: each looks at one thing of the host and returns one line of the report."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mindtorch_npu import probe, readings, runtime, workers
from mindtorch_npu.acl import loader

DRIVER = Path("/usr/local/Ascend/driver/version.info")
OK, WARNING, FAILURE, ABSENT = "ok", "warning", "failure", "absent"
VISIBLE_DEVICES = "ASCEND_RT_VISIBLE_DEVICES"


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


def check_visible_devices(environment: Mapping[str, str] = os.environ) -> Check:
    """The variable that hides devices. The runtime reads ids up to the first it does not like and ignores the rest."""
    value = environment.get(VISIBLE_DEVICES)
    if value is None:
        return Check("visible devices", OK, f"all ({VISIBLE_DEVICES} is unset)")
    entries = [entry.strip() for entry in value.split(",")]
    if not all(re.fullmatch(r"\d+", entry) for entry in entries):
        return Check("visible devices", WARNING, value, f"{VISIBLE_DEVICES} is not a list of numbers; its rest is lost")
    numbers = [int(entry) for entry in entries]
    if numbers != sorted(set(numbers)):
        return Check("visible devices", WARNING, value, f"{VISIBLE_DEVICES} must ascend; what does not is ignored")
    return Check("visible devices", OK, value)


def check_driver(file: Path = DRIVER) -> Check:
    """The version of the driver."""
    if not file.is_file():
        return Check("driver", WARNING, None, f"no {file}")
    version = version_info(file).get("Version")
    return Check("driver", OK if version else WARNING, version, None if version else f"no Version in {file}")


def check_driver_fits(
    environment: Mapping[str, str] = os.environ, folder: Path = loader.INSTALL_FOLDER, file: Path = DRIVER
) -> Check:
    """Whether the driver's parts are as new as the parts of the CANN that would be loaded need them."""
    has = version_info(file)
    roots = list(loader.cann_roots(environment, folder))
    if not has or not roots:
        return Check("driver for CANN", WARNING, None, "the driver or CANN is not there to tell what fits")
    told, old = 0, []
    for info in sorted(roots[0].glob("*/version.info")):
        for name, needed in version_info(info).items():
            part = re.fullmatch(r"required_driver_(\w+)_version", name)
            found = has.get(f"{part.group(1)}_version") if part else None
            if part is None or found is None:
                continue
            told += 1
            if _numbers(found) < _numbers(needed):
                old.append(f"{info.parent.name} needs {part.group(1)} {needed}, the driver has {found}")
    if old:
        return Check("driver for CANN", FAILURE, has.get("Version"), f"{'; '.join(old)}: install a newer driver")
    return Check("driver for CANN", OK, f"{told} of its parts are as new as {roots[0]} needs them")


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def check_cann(environment: Mapping[str, str] = os.environ, folder: Path = loader.INSTALL_FOLDER) -> Check:
    """The CANN installations, each with its version where the layout tells it."""
    roots = list(loader.cann_roots(environment, folder))
    if not roots:
        return Check("CANN", FAILURE, None, f"not in {', '.join(loader.ROOT_VARIABLES)}, not under {folder}")
    return Check(
        "CANN", OK, ", ".join(f"{root} ({version})" if (version := cann_version(root)) else str(root) for root in roots)
    )


def check_one_installation(environment: Mapping[str, str] = os.environ) -> Check:
    """Whether all variables name one version of CANN; libraries of one and operators of another fail later, oddly."""
    found: dict[str, list[str]] = {}
    for variable in (*loader.ROOT_VARIABLES, "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
        versions = (_version_around(Path(entry)) for entry in environment.get(variable, "").split(os.pathsep) if entry)
        for version in dict.fromkeys(version for version in versions if version):
            found.setdefault(version, []).append(variable)
    shown = ", ".join(f"{version} in {', '.join(names)}" for version, names in found.items())
    if len(found) < 2:
        return Check("one CANN", OK, shown or "no version in the environment")
    return Check(
        "one CANN", WARNING, shown, "several versions of CANN are on the paths: source the set_env.sh of one alone"
    )


def _version_around(path: Path) -> str | None:
    """Return the version of the installation that a path is in, None for one of none."""
    real = path.resolve()
    return next((version for root in (real, *real.parents[:4]) if (version := cann_version(root))), None)


def check_acl() -> Check:
    """pyACL on the path."""
    absence = loader.absence()
    if absence is None:
        return Check("pyACL", OK, "found")
    return Check("pyACL", FAILURE, None, f"{absence.kind}: {absence.text}")


def check_library_path(environment: Mapping[str, str] = os.environ) -> Check:
    """Stub libraries ahead of the real ones make every call fail with code 100039."""
    stubs = [p for p in environment.get("LD_LIBRARY_PATH", "").split(":") if p.rstrip("/").endswith("/stub")]
    if not stubs:
        return Check("library path", OK, "no stubs")
    why = f"remove {', '.join(stubs)} from LD_LIBRARY_PATH: these libraries only serve to link against"
    return Check("library path", WARNING, "contains stubs", why)


def check_runtime(timeout_s: float = probe.TIMEOUT_S) -> Check:
    """Load pyACL in a process of its own and ask it for devices; the only check that loads the vendor's libraries."""
    report = probe.ask(timeout_s)
    if report.error is not None:
        return Check("runtime", FAILURE, None, report.error)
    if not report.device_count:
        return Check("runtime", FAILURE, "pyACL loads", "it counts no device")
    return Check("runtime", OK, f"pyACL counts {report.device_count} device(s), {report.soc_name or 'chip unknown'}")


def check_readings() -> list[Check]:
    """What the driver tells of every device, without opening it: whether it answers, has room and no errors of memory."""
    found = []
    for one in readings.read_all():
        name, status = f"device {one['device']}", one["status"]
        size = "" if one["total"] is None else f", {one['total'] / 2**30:.3g} GiB"
        if status == workers.WELL:
            found.append(Check(name, OK, f"{one['name']}{size}"))
        else:
            found.append(Check(name, WARNING if workers.EXIT[status] == 1 else FAILURE, status, one["error"]))
    return found


def check_simulator() -> Check:
    """That no hardware is meant, where the environment asks for simulated devices."""
    return Check("devices", OK, f"simulated, {loader.SIMULATOR}={os.environ[loader.SIMULATOR]}; no hardware is used")


def run_checks(load: bool = False) -> list[Check]:
    """All checks of this host; ``load`` adds the one that loads the vendor's libraries."""
    if loader.simulated():
        checks = [check_simulator()]
    else:
        checks = [
            check_devices(),
            check_visible_devices(),
            check_driver(),
            check_cann(),
            check_one_installation(),
            check_driver_fits(),
            check_acl(),
            check_library_path(),
        ]
    said = workers.together(check_readings, *([check_runtime] if load else []))
    return [*checks, *said[0], *said[1:]]


def exit_status(checks: Sequence[Check]) -> int:
    """Return the exit status that the checks ask for. Without a device nothing else counts."""
    found = {c.status for c in checks}
    return next((code for status, code in ((ABSENT, 3), (FAILURE, 2), (WARNING, 1)) if status in found), 0)


def version_info(file: Path) -> dict[str, str]:
    """Return the `key=value` lines of one of the vendor's version files, nothing when it cannot be read."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip().strip('"') for key, value in pairs}


def cann_version(root: Path) -> str | None:
    """Return the version of a CANN installation; where it is written differs between layouts."""
    for pattern in ("*-linux/ascend_toolkit_install.info", "runtime/version.info", "*-linux/version.info"):
        for file in sorted(root.glob(pattern)):
            info = version_info(file)
            version = info.get("version") or info.get("Version")
            if version:
                return version
    return None
