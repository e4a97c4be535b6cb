"""Operators on Ascend devices: the part of this distribution that knows tensors (extra `backend`).

Found through the entry point `npu` of the group `mindtorch.backends`. There is no device memory and no kernel yet.
Nothing is registered, so an operator on an `npu` tensor raises the call path's error for a missing kernel, which names
operator, device and dtype; and no such tensor comes to be, because :func:`allocate` refuses.
"""

from typing import NoReturn

from mindtorch_npu.runtime import unavailable_reason


def allocate(device: object, nbytes: int) -> NoReturn:
    """Refuse to make the memory of a device tensor.

    Raises:
        NotImplementedError: always; the text also says when this host could not hold such a tensor anyway.
    """
    reason = unavailable_reason()
    raise NotImplementedError(
        f"cannot allocate {nbytes} bytes on {device}: this version of mindtorch-npu finds, checks and initialises "
        "Ascend devices but does not hold tensors on them; use device 'cpu'"
        + (f". On this host: {reason}" if reason else "")
    )


__all__ = ["allocate"]
