"""Devices that the legacy constructors refuse, in torch's words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase


def check_legacy_device(device: Any, args: Sequence[Any] = ()) -> None:
    """Refuse another device than the host, since the legacy types are the host's, and any beside a tensor."""
    _refuse_beside_tensor(
        device,
        args,
        "constructor of the form torch.Tensor(tensor, device=device)",
        "torch.tensor(...) or torch.as_tensor(...)",
    )
    _refuse_other(device, "cpu")


def check_new_device(device: Any, args: Sequence[Any], own: str) -> None:
    """Refuse another device than the type `own` of the tensor that `new` is asked of, and any beside a tensor."""
    _refuse_beside_tensor(device, args, "new of the form tensor.new(tensor, device=device)", "torch.as_tensor(...)")
    _refuse_other(device, own)


def _refuse_beside_tensor(device: Any, args: Sequence[Any], form: str, instead: str) -> None:
    if device is not None and len(args) == 1 and isinstance(args[0], TensorBase):
        raise RuntimeError(f"Legacy tensor {form} is not supported.  Use {instead} instead.")


def _refuse_other(device: Any, expected: str) -> None:
    wanted = Device(device or expected).type
    if wanted != expected:
        raise RuntimeError(f"legacy constructor expects device type: {expected} but device type: {wanted} was passed")
