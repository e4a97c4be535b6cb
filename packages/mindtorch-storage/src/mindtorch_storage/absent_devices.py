"""What torch says of device types that nothing in the process serves, where it starts a device before it asks for memory."""

from __future__ import annotations

_MTIA = (
    "Torch not compiled with MTIA enabled. Ensure you have `import mtia.host_runtime.torch_mtia.dynamic_library` in your "
    "python src file and include `//mtia/host_runtime/torch_mtia:torch_mtia` as your target dependency!"
)


def start_error(device_type: str) -> Exception | None:
    """Return torch's error for starting a device that is not there; None for types that have nothing to start."""
    if device_type in ("cuda", "xpu"):
        return AssertionError(f"Torch not compiled with {device_type.upper()} enabled")
    if device_type == "mtia":
        return AssertionError(_MTIA)
    if device_type in ("hpu", "privateuseone"):
        return ModuleNotFoundError(f"No module named 'torch.{device_type}'")
    return None
