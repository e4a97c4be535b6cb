"""What need not be installed: the native call path, imported at the start, and backends beside the CPU's, found among the
installed distributions and imported when a program first names their device."""

import importlib
import importlib.util
from importlib.metadata import entry_points

from mindtorch_storage.device import find_accelerator
from mindtorch_storage.lazy_import import load
from mindtorch_storage.storage import set_backend_loader

GROUP = "mindtorch.backends"
KNOWN = {"npu": "mindtorch_npu.backend"}
"""Backends of this project, which a checkout has without being installed."""

RUNTIME = "mindtorch_runtime"


def load_runtime() -> None:
    """Import the native call path, where it is installed. It serves functions of operators that are made afterwards."""
    if importlib.util.find_spec(RUNTIME) is not None:
        load(f"{RUNTIME}.native")


def load_backend(device_type: str) -> None:
    """Import the backend of a device type and torch's module of it; nothing happens when there is none."""
    for point in entry_points(group=GROUP, name=device_type):
        point.load()
        _join(device_type)
        return
    module = KNOWN.get(device_type)
    if module is not None and importlib.util.find_spec(module.partition(".")[0]) is not None:
        load(module)
        _join(device_type)


def is_installed(device_type: str) -> bool:
    """Return whether there is a backend of a device type. Imports none."""
    module = KNOWN.get(device_type, "")
    known = bool(module) and importlib.util.find_spec(module.partition(".")[0]) is not None
    return known or bool(entry_points(group=GROUP, name=device_type))


def _join(device_type: str) -> None:
    """Import `torch.<device type>`, which gives the backend torch's own error classes."""
    name = f"{__package__}.{device_type}"
    if importlib.util.find_spec(name) is not None:
        load(name)


def _present() -> str | None:
    """Return the type of the devices that are there beside the CPU."""
    if importlib.util.find_spec("mindtorch_npu") is None:
        return None
    return "npu" if load("mindtorch_npu.runtime").is_available() else None


find_accelerator(_present)
set_backend_loader(load_backend)
