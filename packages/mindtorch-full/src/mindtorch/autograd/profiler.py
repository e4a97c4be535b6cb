"""`torch.autograd.profiler`: labels for stretches of a program; measuring them is `torch.profiler`'s, which is not there."""

from __future__ import annotations

from typing import Any, NoReturn

from ..profiler.record import record_function

__all__ = ["emit_nvtx", "profile", "record_function"]


class profile:
    """torch's profiler; switched off it does nothing, switched on it says that it is missing."""

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        self.enabled = enabled
        if enabled:
            _missing("torch.autograd.profiler.profile")

    def __enter__(self) -> profile:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was measured."""


class emit_nvtx:
    """Marks for NVIDIA's tools, which a build without CUDA has not."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        if enabled:
            _missing("torch.autograd.profiler.emit_nvtx")

    def __enter__(self) -> emit_nvtx:
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was marked."""


def _missing(name: str) -> NoReturn:
    raise NotImplementedError(f"{name} is not supported yet; see the unsupported list in the documentation")
