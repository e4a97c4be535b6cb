"""The error of a full device and its text."""

from __future__ import annotations


class OutOfMemoryError(RuntimeError):
    """The device has no memory for a request."""

    __module__ = "torch"


_class: list[type[RuntimeError]] = [OutOfMemoryError]


def set_error_class(cls: type[RuntimeError]) -> None:
    """Let what is raised from now on be a `cls`, too, so that a tensor library's own class catches it."""
    _class[0] = type("OutOfMemoryError", (OutOfMemoryError, cls), {"__module__": "torch"})


def format_size(size: int) -> str:
    """Return a number of bytes as torch writes it in this error."""
    if size <= 1024:
        return f"{size} bytes"
    for unit, factor in (("KiB", 2**10), ("MiB", 2**20)):
        if size <= factor * 1024:
            return f"{size / factor:.2f} {unit}"
    return f"{size / 2**30:.2f} GiB"


def out_of_memory(
    device: int, segment: int, total: int, free: int, allowed: int | None, allocated: int, reserved: int, private: int
) -> RuntimeError:
    """Return the error, composed as torch composes it."""
    parts = [
        f"NPU out of memory. Tried to allocate {format_size(segment)}. NPU {device} has a total capacity of "
        f"{format_size(total)} of which {format_size(free)} is free. ",
        f"Including non-PyTorch memory, this process has {format_size(max(total - free, reserved))} memory in use. ",
        f"{format_size(allowed)} allowed; " if allowed is not None else "",
        f"Of the allocated memory {format_size(allocated)} is allocated by PyTorch, ",
        f"with {format_size(private)} allocated in private pools (e.g., NPU Graphs), " if private else "",
        f"and {format_size(reserved - allocated)} is reserved by PyTorch but unallocated. ",
        "If reserved but unallocated memory is large try setting PYTORCH_NPU_ALLOC_CONF=max_split_size_mb:<size> to "
        "avoid fragmentation.",
    ]
    return _class[0]("".join(parts))


def too_large() -> RuntimeError:
    """Return the error of a request of 2**60 bytes or more."""
    return _class[0]("NPU out of memory. Tried to allocate more than 1EB memory.")


def rejected(device: int, segment: int, reserved: int, total: int) -> RuntimeError:
    """Return the error of a request that is refused before the device is asked."""
    return _class[0](
        f"NPU out of memory. Tried to allocate {format_size(segment)}: preemptively rejected on NPU {device}, which has a "
        f"total capacity of {format_size(total)}; {format_size(reserved)} is reserved."
    )
