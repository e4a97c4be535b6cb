"""Which implementations scaled dot-product attention may take, and in which order it asks them."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from mindtorch.backends._flags import BoolFlag
from mindtorch_dispatch.decomp import attention
from mindtorch_storage.lazy_import import LazyModule

attention_choice = LazyModule("mindtorch.nn.attention", "the modules of networks need not be there for settings")

# Here torch's C functions all give their errors the name of the last of them.
_flash, _mem_efficient, _math = (BoolFlag(True, "set_sdp_use_math") for _ in range(3))
_cudnn = BoolFlag(True, "set_sdp_use_cudnn", stray="%s")
_overrideable = BoolFlag(True, "set_sdp_use_overrideable")
_order = [1, 2, 0, 3, 4]
"""Numbers of `SDPBackend` as devices with several implementations ask them; the CPU's order is its own."""
_math_reduction = BoolFlag(False, "set_sdp_use_math")


def flash_sdp_enabled() -> bool:
    """Return whether attention may use the flash kernels.

    >>> torch.backends.cuda.flash_sdp_enabled()
    True
    """
    return _flash.get()


def enable_flash_sdp(enabled: bool) -> None:
    """Allow or forbid the flash kernels of attention.

    >>> torch.backends.cuda.enable_flash_sdp(False)
    >>> torch.backends.cuda.flash_sdp_enabled()
    False
    >>> torch.backends.cuda.enable_flash_sdp(True)
    """
    _flash.put(enabled)
    attention.choice.flash = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Return whether attention may use the memory-efficient kernels.

    >>> torch.backends.cuda.mem_efficient_sdp_enabled()
    True
    """
    return _mem_efficient.get()


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow or forbid the memory-efficient kernels of attention.

    >>> torch.backends.cuda.enable_mem_efficient_sdp(False)
    >>> torch.backends.cuda.mem_efficient_sdp_enabled()
    False
    >>> torch.backends.cuda.enable_mem_efficient_sdp(True)
    """
    _mem_efficient.put(enabled)


def math_sdp_enabled() -> bool:
    """Return whether attention may be composed of other operators.

    >>> torch.backends.cuda.math_sdp_enabled()
    True
    """
    return _math.get()


def enable_math_sdp(enabled: bool) -> None:
    """Allow or forbid attention composed of other operators.

    >>> torch.backends.cuda.enable_math_sdp(False)
    >>> torch.backends.cuda.math_sdp_enabled()
    False
    >>> torch.backends.cuda.enable_math_sdp(True)
    """
    _math.put(enabled)
    attention.choice.math = enabled


def cudnn_sdp_enabled() -> bool:
    """Return whether attention may use cuDNN.

    >>> torch.backends.cuda.cudnn_sdp_enabled()
    True
    """
    return _cudnn.get()


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow or forbid cuDNN for attention.

    >>> torch.backends.cuda.enable_cudnn_sdp(False)
    >>> torch.backends.cuda.cudnn_sdp_enabled()
    False
    >>> torch.backends.cuda.enable_cudnn_sdp(True)
    """
    _cudnn.put(enabled)


def overrideable_sdp_enabled() -> bool:
    """Return whether attention may use a kernel that a backend registered."""
    return _overrideable.get()


def enable_overrideable_sdp(enabled: bool) -> None:
    """Allow or forbid kernels that backends registered."""
    _overrideable.put(enabled)


def sdp_priority_order() -> list[int]:
    """Return the numbers of the implementations of attention, the preferred one first."""
    return list(_order)


def set_sdp_priority_order(order: list[int]) -> None:
    """Prefer the implementations of attention in this order; those after its end keep their places."""
    _order[: len(order)] = order


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Return whether composed attention may sum in half precision.

    >>> torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    False
    """
    return _math_reduction.get()


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Allow or forbid sums in half precision in composed attention.

    >>> torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    >>> torch.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    True
    >>> torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    """
    _math_reduction.put(enabled)


def is_flash_attention_available() -> bool:
    """Return whether the flash kernels are built in: False.

    >>> torch.backends.cuda.is_flash_attention_available()
    False
    """
    return False


def is_ck_sdpa_available() -> bool:
    """Return whether the kernels for AMD devices are built in: False.

    >>> torch.backends.cuda.is_ck_sdpa_available()
    False
    """
    return False


def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True
) -> AbstractContextManager[dict[Any, Any]]:
    """Context: attention may use these implementations. Deprecated for `torch.nn.attention.sdpa_kernel`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> with torch.backends.cuda.sdp_kernel(enable_flash=False):
    ...     print(torch.backends.cuda.flash_sdp_enabled(), torch.backends.cuda.math_sdp_enabled())
    False True
    """
    warnings.warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please "
        "see `torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature.",
        FutureWarning,
        stacklevel=2,
    )
    return _allowed(enable_flash, enable_mem_efficient, enable_math, enable_cudnn)


@contextmanager
def _allowed(flash: bool, mem_efficient: bool, math: bool, cudnn: bool) -> Iterator[dict[Any, Any]]:
    backend = attention_choice.SDPBackend
    wanted = {
        backend.FLASH_ATTENTION: flash,
        backend.EFFICIENT_ATTENTION: mem_efficient,
        backend.MATH: math,
        backend.CUDNN_ATTENTION: cudnn,
    }
    with attention_choice.sdpa_kernel([one for one, value in wanted.items() if value]) as chosen:
        yield chosen


class SDPAParams:
    """The arguments of a call of attention, for the questions which implementation takes them.

    >>> q = torch.ones(1, 1, 2, 4)
    >>> params = torch.backends.cuda.SDPAParams(q, q, q, None, 0.5, True, False)
    >>> params.dropout, params.is_causal
    (0.5, True)
    """

    def __init__(
        self, query: Any, key: Any, value: Any, attn_mask: Any, dropout: float, is_causal: bool, enable_gqa: bool
    ) -> None:
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


SDPAParams.__module__ = "torch._C"


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Return whether CUDA's flash kernels take a call: False, there is no CUDA.

    >>> from torch.backends.cuda import SDPAParams, can_use_flash_attention
    >>> q = torch.ones(1, 1, 2, 4)
    >>> can_use_flash_attention(SDPAParams(q, q, q, None, 0.0, False, False))
    False
    """
    return False


def can_use_efficient_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Return whether CUDA's memory-efficient kernels take a call: False, there is no CUDA.

    >>> from torch.backends.cuda import SDPAParams, can_use_efficient_attention
    >>> q = torch.ones(1, 1, 2, 4)
    >>> can_use_efficient_attention(SDPAParams(q, q, q, None, 0.0, False, False))
    False
    """
    return False


def can_use_cudnn_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Return whether cuDNN takes a call: False, there is none.

    >>> from torch.backends.cuda import SDPAParams, can_use_cudnn_attention
    >>> q = torch.ones(1, 1, 2, 4)
    >>> can_use_cudnn_attention(SDPAParams(q, q, q, None, 0.0, False, False))
    False
    """
    return False
