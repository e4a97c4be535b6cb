"""Splitting of a batch over devices, of which one process here has one."""

from collections.abc import Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch._utils import _get_available_device_type
from mindtorch.nn.modules.module import Module

__all__ = ["DataParallel", "data_parallel"]

_ONE_DEVICE = "DataParallel over several devices is not available: a process uses one device"


class DataParallel(Module):
    """Calls ``module`` on the whole batch, which is what torch does where there is no GPU.

    More than one device raises RuntimeError.

    >>> torch.nn.DataParallel(torch.nn.Linear(2, 1))(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """

    def __init__(
        self,
        module: Module,
        device_ids: Sequence[Any] | None = None,
        output_device: Any = None,
        dim: int = 0,
    ) -> None:
        super().__init__()
        if device_ids is not None and len(device_ids) > 1:
            raise RuntimeError(_ONE_DEVICE)
        self.module = module
        self.device_ids: list[Any] = list(device_ids or [])
        if self.device_ids:  # torch keeps neither where there is no device
            self.output_device = output_device
            self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Return what the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Tensor:
    """Return ``module(*inputs, **module_kwargs)``; more than one device raises RuntimeError, and so does none.

    >>> torch.nn.parallel.data_parallel(torch.nn.ReLU(), torch.tensor([-1.0, 1.0]))
    Traceback (most recent call last):
        ...
    RuntimeError: device type could not be determined
    """
    if _get_available_device_type() is None:
        raise RuntimeError("device type could not be determined")
    if device_ids is not None and len(device_ids) > 1:
        raise RuntimeError(_ONE_DEVICE)
    if not isinstance(inputs, tuple):
        inputs = (inputs,) if inputs is not None else ()
    return module(*inputs, **(module_kwargs or {}))


adopt(globals())
