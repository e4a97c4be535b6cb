"""The error of asking an accelerator for something where there is none."""

from typing import Any, NoReturn

from mindtorch_storage.device import device as Device


def refuse(device: Any = None) -> NoReturn:
    """Raise that there is no accelerator; a device that is named must be one."""
    given = Device(device) if isinstance(device, str) else device
    if isinstance(given, Device):
        raise RuntimeError("Accelerator expected")
    raise RuntimeError("Cannot access accelerator device when none is available.")
