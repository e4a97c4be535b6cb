"""`torch.utils._foreach_utils`: tensors in groups of one device and dtype, and who has kernels for lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils.backend_registration import _get_privateuse1_backend_name

__all__: list[str] = []

_foreach_supported_types = [Tensor]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """Return the devices whose optimizers take the foreach path unasked."""
    return ["cuda", "xpu", "mtia", _get_privateuse1_backend_name()]


def _get_fused_kernels_supported_devices() -> list[str]:
    """Return the devices for which optimizers have a fused step."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", _get_privateuse1_backend_name()]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]]:
    """Return parallel lists split by the device and dtype of the first list's tensors, with their places if asked."""
    groups: dict[tuple[Any, Any], tuple[list[list[Any]], list[int]]] = {}
    for place, first in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((first.device, first.dtype), ([[] for _ in tensorlistlist], []))
        for kept, given in zip(lists, tensorlistlist, strict=True):
            if given:
                kept.append(given[place])
        if with_indices:
            places.append(place)
    return groups


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    return _device_has_foreach_support(device) and all(
        tensor is None or type(tensor) in _foreach_supported_types for tensor in tensors
    )


adopt(globals())
