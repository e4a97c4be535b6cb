"""What compositions of linear algebra share: status numbers turned into torch's errors."""

from __future__ import annotations

from ..call import aten
from ..meta.matrices import status_error
from ..typing import Tensor


def check_status(info: Tensor, name: str, is_matrix: bool) -> None:
    """Raise torch's error for the first status that is not 0; tensors without bytes have none."""
    if info.device.type == "meta":
        return
    if info._wraps:  # each example of a batch has its own
        aten._linalg_check_errors(info, name, is_matrix=is_matrix)
        return
    statuses = info.reshape(-1).tolist()
    if not any(statuses):
        return
    for number, status in enumerate(statuses):
        if status:
            raise status_error(name, status, "" if is_matrix else f": (Batch element {number})")


def check_errors(info: Tensor, api_name: str, is_matrix: bool) -> None:
    """`_linalg_check_errors`."""
    check_status(info, api_name, is_matrix)
