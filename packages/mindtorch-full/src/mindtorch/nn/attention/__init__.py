"""Choice between implementations of scaled dot-product attention."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from importlib.util import find_spec
from typing import Protocol

from mindtorch._naming import adopt
from mindtorch.backends.cuda import _sdp

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
_LOG = logging.getLogger(__name__)


class SDPBackend(Enum):
    """Names of the implementations.

    >>> torch.nn.attention.SDPBackend.MATH
    <SDPBackend.MATH: 0>
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return self.value

    __index__ = __int__


_backend_names = {
    "cudnn": "CUDNN_ATTENTION",
    "flash": "FLASH_ATTENTION",
    "mem_efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
    "overrideable": "OVERRIDEABLE",
}
_SWITCHES = {
    SDPBackend[name]: (getattr(_sdp, f"{switch}_sdp_enabled"), getattr(_sdp, f"enable_{switch}_sdp"))
    for switch, name in _backend_names.items()
}


@contextmanager
def sdpa_kernel(backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[dict]:
    """Let attention take only ``backends`` in the block; with ``set_priority`` devices that have several ask them in order.

    The setting is the process's. A call that none of them takes raises RuntimeError; on the CPU there are FLASH_ATTENTION,
    for four dimensions without dropout, and MATH for the rest.

    >>> from torch.nn.attention import SDPBackend, sdpa_kernel
    >>> q = torch.ones(1, 1, 2, 4)
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(q, q, q).shape
    torch.Size([1, 1, 2, 4])
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    chosen = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    previous = _cur_sdpa_kernel_backends(with_priority=set_priority)
    try:
        _sdpa_kernel(chosen, set_priority)
        yield {}
    finally:
        _sdpa_kernel(previous, set_priority)


def _sdpa_kernel(backends: Sequence[SDPBackend], set_priority: bool = False) -> None:
    for backend, (_, enable) in _SWITCHES.items():
        enable(backend in backends)
    if set_priority:
        wanted = [int(backend) for backend in backends]
        _sdp.set_sdp_priority_order([*wanted, *(one for one in _sdp.sdp_priority_order() if one not in wanted)])


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Return the implementations allowed now, by priority where that is asked for."""
    allowed = [backend for backend, (is_enabled, _) in _SWITCHES.items() if is_enabled()]
    order = _sdp.sdp_priority_order()
    return sorted(allowed, key=lambda backend: order.index(int(backend))) if with_priority else allowed


class _FlashHandle(Protocol):
    """What a registered function may return: it takes back what the function put in place."""

    def remove(self) -> None:
        """Take it back."""


def _needs(package: str) -> Callable[[], _FlashHandle | None]:
    def register() -> _FlashHandle | None:
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        raise RuntimeError(f"The kernels of {package} need CUDA, which is not available")

    return register


_FLASH_IMPLS: dict[str, Callable[[], _FlashHandle | None]] = {
    "FA3": _needs("flash_attn_interface"),
    "FA4": _needs("flash_attn"),
}
_active: list[tuple[str, _FlashHandle]] = []
"""The implementation in place, if its function returned a handle."""


def register_flash_attention_impl(impl: str, *, register_fn: Callable[[], _FlashHandle | None]) -> None:
    """Let ``activate_flash_attention_impl(impl)`` call ``register_fn``, which puts kernels in place and may return a handle.

    >>> torch.nn.attention.register_flash_attention_impl("mine", register_fn=lambda: print("registered"))
    >>> torch.nn.attention.activate_flash_attention_impl("mine")
    registered
    """
    _FLASH_IMPLS[impl] = register_fn


def list_flash_attention_impls() -> list[str]:
    """Return the names of the known flash attention implementations.

    >>> torch.nn.attention.register_flash_attention_impl("mine", register_fn=lambda: None)
    >>> torch.nn.attention.list_flash_attention_impls()
    ['FA3', 'FA4', 'mine']
    """
    return sorted(_FLASH_IMPLS)


def current_flash_attention_impl() -> str | None:
    """Return the name of the implementation in place, None for the default one.

    >>> print(torch.nn.attention.current_flash_attention_impl())
    None
    """
    return _active[-1][0] if _active else None


def activate_flash_attention_impl(impl: str) -> None:
    """Call the function that was registered for ``impl``, in place of the implementation before.

    ValueError for a name that is not known. The two that come with torch import packages of kernels for CUDA.

    >>> torch.nn.attention.activate_flash_attention_impl("FA3")
    Traceback (most recent call last):
        ...
    ModuleNotFoundError: No module named 'flash_attn_interface'
    """
    restore_flash_attention_impl(_raise_warn=False)
    register = _FLASH_IMPLS.get(impl)
    if register is None:
        raise ValueError(
            f"Unknown flash attention impl '{impl}'. Available implementations: {list_flash_attention_impls()}"
        )
    handle = register()
    if handle is not None:
        _active.append((impl, handle))


def restore_flash_attention_impl(_raise_warn: bool = True) -> None:
    """Return to the default implementation; where that is in place already, a warning is logged.

    >>> class Handle:
    ...     def remove(self):
    ...         print("removed")
    >>> torch.nn.attention.register_flash_attention_impl("mine", register_fn=Handle)
    >>> torch.nn.attention.activate_flash_attention_impl("mine")
    >>> torch.nn.attention.restore_flash_attention_impl()
    removed
    """
    if _active:
        _active.pop()[1].remove()
    elif _raise_warn:
        _LOG.warning("Trying to restore default FA2 impl when no custom impl was activated")


adopt(globals())
