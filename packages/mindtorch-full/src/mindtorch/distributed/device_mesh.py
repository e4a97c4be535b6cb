"""`torch.distributed.device_mesh`: the type of arrangements of devices can be named; none is made."""

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["DeviceMesh", "init_device_mesh"]

_INSTEAD = "torch.distributed is not available, so there are no processes to arrange"


class DeviceMesh:
    """An arrangement of processes' devices. Nothing is one, and making one raises."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:  # type: ignore[misc]
        raise NotImplementedError(_INSTEAD)


def init_device_mesh(*args: Any, **kwargs: Any) -> NoReturn:
    """Arrange the devices; raises."""
    raise NotImplementedError(_INSTEAD)


adopt(globals())
