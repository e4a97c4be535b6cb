"""`torch.<device type>` for devices of other distributions."""

import sys
from types import ModuleType

import mindtorch
from mindtorch_storage.device import device as Device


def _register_device_module(device_type: str, module: ModuleType) -> None:
    """Make `module` `torch.<device type>`; RuntimeError where there is one already, or no such device type."""
    name = Device(device_type).type
    if hasattr(mindtorch, name):
        raise RuntimeError(
            f"The runtime module of '{name}' has already been registered with '{getattr(mindtorch, name)}'"
        )
    setattr(mindtorch, name, module)
    sys.modules[f"mindtorch.{name}"] = module
