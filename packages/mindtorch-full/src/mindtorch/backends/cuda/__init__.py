"""`torch.backends.cuda`: CUDA is not built in; its settings are kept."""

import enum
from typing import Any, NoReturn

from mindtorch._absent import no_binding
from mindtorch._naming import adopt, torch_name
from mindtorch.backends._flags import BoolFlag
from mindtorch.backends._precision import get, matmul_allow_tf32, put, set_matmul_allow_tf32
from mindtorch.backends.cuda._sdp import (
    SDPAParams,
    allow_fp16_bf16_reduction_math_sdp,
    can_use_cudnn_attention,
    can_use_efficient_attention,
    can_use_flash_attention,
    cudnn_sdp_enabled,
    enable_cudnn_sdp,
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    fp16_bf16_reduction_math_sdp_allowed,
    is_ck_sdpa_available,
    is_flash_attention_available,
    math_sdp_enabled,
    mem_efficient_sdp_enabled,
    sdp_kernel,
)
from mindtorch_storage.device import device as Device

__all__ = [
    "SDPAParams",
    "allow_fp16_bf16_reduction_math_sdp",
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cuBLASModule",
    "cuFFTPlanCache",
    "cuFFTPlanCacheManager",
    "cublas_workspace_size",
    "cudnn_sdp_enabled",
    "cufft_plan_cache",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "fp16_bf16_reduction_math_sdp_allowed",
    "is_built",
    "is_ck_sdpa_available",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]


def is_built() -> bool:
    """Return whether CUDA is built in: False.

    >>> torch.backends.cuda.is_built()
    False
    """
    return False


class cuFFTPlanCache:
    """The plans of fast Fourier transforms on one device; without CUDA they cannot be asked for."""

    def __init__(self, device_index: int) -> None:
        self.device_index = device_index

    @property
    def size(self) -> int:
        """The number of plans."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    @property
    def max_size(self) -> int:
        """The most plans to keep."""
        raise AssertionError("Torch not compiled with CUDA enabled")

    def clear(self) -> None:
        """Drop all plans."""
        raise AssertionError("Torch not compiled with CUDA enabled")


class cuFFTPlanCacheManager(cuFFTPlanCache):
    """The plans of all devices, by device; as a cache itself, those of the current device.

    >>> torch.backends.cuda.cuFFTPlanCacheManager()[0]
    Traceback (most recent call last):
        ...
    RuntimeError: cufft_plan_cache: expected 0 <= device index < 0, but got device with index 0
    """

    def __init__(self) -> None:
        super().__init__(-1)

    def __getitem__(self, device: Any) -> NoReturn:
        index = Device(device).index if isinstance(device, str) else getattr(device, "index", device)
        raise RuntimeError(f"cufft_plan_cache: expected 0 <= device index < 0, but got device with index {index}")


class cuBLASModule:
    """Settings of matrix products on CUDA.

    >>> torch.backends.cuda.cuBLASModule().no_such_setting
    Traceback (most recent call last):
        ...
    AttributeError: Unknown attribute no_such_setting
    """

    _REDUCTIONS = {
        "allow_fp16_reduced_precision_reduction": BoolFlag(True, "set_allow_fp16_reduction_cublas"),
        "allow_bf16_reduced_precision_reduction": BoolFlag(True, "set_allow_bf16_reduction_cublas"),
        "allow_fp16_accumulation": BoolFlag(False, "set_allow_fp16_accumulation_cublas"),
    }

    def __getattr__(self, name: str) -> Any:
        if name == "allow_tf32":
            return matmul_allow_tf32()
        if name == "fp32_precision":
            return get("cuda", "matmul")
        if name in self._REDUCTIONS:
            return self._REDUCTIONS[name].get()
        raise AttributeError("Unknown attribute " + name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "allow_tf32":
            set_matmul_allow_tf32(value)
        elif name == "fp32_precision":
            put("cuda", "matmul", value)
        elif name in self._REDUCTIONS:
            self._REDUCTIONS[name].put(value)
        else:
            raise AttributeError("Unknown attribute " + name)


class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = range(3)


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = range(4)


_LINALG = {"default": _LinalgBackend.Default, "cusolver": _LinalgBackend.Cusolver, "magma": _LinalgBackend.Magma}
_BLAS = {
    "default": _BlasBackend.Default,
    "cublas": _BlasBackend.Cublas,
    "hipblas": _BlasBackend.Cublas,
    "cublaslt": _BlasBackend.Cublaslt,
    "hipblaslt": _BlasBackend.Cublaslt,
    "ck": _BlasBackend.Ck,
}
for _enum in (_LinalgBackend, _BlasBackend):
    _enum.__module__ = torch_name("mindtorch._C")


def preferred_linalg_library(backend: Any = None) -> _LinalgBackend:
    """Return the library preferred for linear algebra on CUDA. Choosing another raises, none is built in.

    >>> torch.backends.cuda.preferred_linalg_library().name
    'Default'
    """
    chosen = _chosen(backend, _LINALG)
    if chosen not in (None, _LinalgBackend.Default):
        name = "MAGMA" if chosen is _LinalgBackend.Magma else "cuSOLVER"
        raise RuntimeError(f"Cannot set preferred backend to {name} if PyTorch has not been compiled with {name}.")
    return _LinalgBackend.Default


def preferred_blas_library(backend: Any = None) -> _BlasBackend:
    """Return the library preferred for matrix products on CUDA. Choosing another than the default raises.

    >>> torch.backends.cuda.preferred_blas_library().name
    'Cublas'
    """
    chosen = _chosen(backend, _BLAS)
    if chosen not in (None, _BlasBackend.Default, _BlasBackend.Cublas):
        raise RuntimeError(f"Cannot set preferred backend to {chosen.name} if PyTorch has not been compiled with it.")
    return _BlasBackend.Cublas


def _chosen(backend: Any, known: dict[str, Any]) -> Any:
    if backend is None or isinstance(backend, tuple(map(type, known.values()))):
        return backend
    if not isinstance(backend, str):
        raise RuntimeError("Unknown input value type.")
    if backend not in known:
        raise RuntimeError(f"Unknown input value. Choose from: {', '.join(known)}.")
    return known[backend]


def cublas_workspace_size(size: int | None = None) -> int:
    """Return or set the workspace of matrix products; raises, there is no CUDA.

    >>> torch.backends.cuda.cublas_workspace_size()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_getCublasWorkspaceSize'
    """
    no_binding("_cuda_getCublasWorkspaceSize" if size is None else "_cuda_setCublasWorkspaceSize")


matmul = cuBLASModule()
cufft_plan_cache = cuFFTPlanCacheManager()

adopt(globals())
