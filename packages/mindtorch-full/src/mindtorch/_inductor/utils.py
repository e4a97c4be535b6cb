"""`torch._inductor.utils`: which devices count as graphics processors."""

from mindtorch._naming import adopt

__all__ = ["GPU_TYPES", "is_gpu"]

GPU_TYPES = ["cuda", "mps", "xpu", "mtia"]


def is_gpu(device: str | None) -> bool:
    """Return whether a type of device is one of `GPU_TYPES`."""
    return device in GPU_TYPES


adopt(globals())
