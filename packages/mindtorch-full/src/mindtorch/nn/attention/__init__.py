"""Choice between implementations of scaled dot-product attention."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum

from mindtorch._naming import adopt

__all__ = [
    "WARN_FOR_UNFUSED_KERNELS",
    "SDPBackend",
    "activate_flash_attention_impl",
    "current_flash_attention_impl",
    "list_flash_attention_impls",
    "register_flash_attention_impl",
    "restore_flash_attention_impl",
    "sdpa_kernel",
]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(Enum):
    """Names of implementations; all of them give the same result, and each device has one."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


class _Chosen(threading.local):
    """The implementations this thread allows, in order of preference."""

    backends: tuple[SDPBackend, ...] = (
        SDPBackend.FLASH_ATTENTION,
        SDPBackend.EFFICIENT_ATTENTION,
        SDPBackend.MATH,
        SDPBackend.CUDNN_ATTENTION,
    )


_chosen = _Chosen()


@contextmanager
def sdpa_kernel(backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict]:
    """Allow only ``backends`` in the block; with ``set_priority`` their order is a preference.

    Every device has one implementation here, so the choice changes no result; code can read it back.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    if isinstance(backends, SDPBackend):
        backends = [backends]
    previous = _chosen.backends
    _chosen.backends = tuple(dict.fromkeys(backends))
    try:
        yield {}
    finally:
        _chosen.backends = previous


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Return the implementations allowed now."""
    return list(_chosen.backends)


_FLASH_IMPLS: dict[str, object] = {"FA3": None, "FA4": None}


def register_flash_attention_impl(impl: str, *, register_fn: object) -> None:
    """Make ``impl`` known; nothing activates one on the devices there are."""
    _FLASH_IMPLS[impl] = register_fn


def list_flash_attention_impls() -> list[str]:
    """Return the names of the known CUDA flash attention implementations."""
    return sorted(_FLASH_IMPLS)


def current_flash_attention_impl() -> str | None:
    """Return the active CUDA flash attention implementation: none."""
    return None


def activate_flash_attention_impl(impl: str) -> None:
    """Raise: flash attention implementations are CUDA kernels, which there are none of."""
    if impl not in _FLASH_IMPLS:
        raise ValueError(
            f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}"
        )
    raise RuntimeError(f"Flash attention impl '{impl}' needs CUDA, which is not available")


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Return to the default implementation, which is always the active one."""


adopt(globals())
