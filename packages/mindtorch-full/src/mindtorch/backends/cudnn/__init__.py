"""`torch.backends.cudnn`: cuDNN is not there; its settings are kept."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from mindtorch._naming import adopt
from mindtorch.backends._flags import BoolFlag, flag, flags_set, give_class
from mindtorch.backends._precision import (
    FP32Precision,
    cudnn_allow_tf32,
    get,
    precision_flag,
    put,
    set_cudnn_allow_tf32,
)
from mindtorch_storage.dtype import float16, float32, float64

__all__ = ["flags", "is_acceptable", "is_available", "set_flags", "version"]

CUDNN_TENSOR_DTYPES = {float16, float32, float64}

conv = FP32Precision("cuda", "conv")
rnn = FP32Precision("cuda", "rnn")

_enabled = BoolFlag(True, "set_enabled_cudnn")
_benchmark = BoolFlag(False, "set_benchmark_cudnn")
_deterministic = BoolFlag(False, "set_deterministic_cudnn")


class _DepthwiseKernel:
    """Which kernels depthwise convolutions use."""

    def __init__(self) -> None:
        self._mode = "auto"

    def get(self) -> str:
        """Return the setting."""
        return self._mode

    def put(self, value: Any) -> None:
        """Check and keep the setting."""
        if not isinstance(value, str):
            raise RuntimeError(f"set_cudnn_depthwise_kernel expects a string, but got {type(value).__name__}")
        if value not in ("auto", "cudnn", "native"):
            raise RuntimeError(f"Unknown cuDNN depthwise kernel mode: {value}. Expected one of: auto, cudnn, native")
        self._mode = value


_depthwise = _DepthwiseKernel()


class CudnnModule(ModuleType):
    """The type of this module; its properties are the settings."""

    enabled = _enabled.property()
    benchmark = _benchmark.property()
    deterministic = _deterministic.property()
    benchmark_limit: int | None = None  # without cuDNN torch does not look at it either
    depthwise_kernel = flag(_depthwise.get, _depthwise.put)
    allow_tf32 = flag(cudnn_allow_tf32, set_cudnn_allow_tf32)
    fp32_precision = precision_flag("cuda")


def version() -> int | None:
    """Return the version of cuDNN: None, it is not there.

    >>> print(torch.backends.cudnn.version())
    None
    """
    return None


def is_available() -> bool:
    """Return whether cuDNN is there: False.

    >>> torch.backends.cudnn.is_available()
    False
    """
    return False


def is_acceptable(tensor: Any) -> bool:
    """Return whether cuDNN could work on ``tensor``: False, a tensor lives elsewhere.

    >>> torch.backends.cudnn.is_acceptable(torch.ones(1))
    False
    """
    return tensor.device.type == "cuda"


def set_flags(
    _enabled: bool | None = None,
    _benchmark: bool | None = None,
    _benchmark_limit: int | None = None,
    _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
    _fp32_precision: str = "none",
    _depthwise_kernel: str | None = None,
) -> tuple[Any, ...]:
    """Set those settings that are not None and return what all of them were.

    >>> before = torch.backends.cudnn.set_flags(_benchmark=True)
    >>> torch.backends.cudnn.benchmark
    True
    >>> _ = torch.backends.cudnn.set_flags(*before)
    """
    before: tuple[Any, ...] = (
        _FLAGS["enabled"].get(),
        _FLAGS["benchmark"].get(),
        None,
        _FLAGS["deterministic"].get(),
        cudnn_allow_tf32(),
        get("cuda", "all"),
        _depthwise.get(),
    )
    for name, value in (("enabled", _enabled), ("benchmark", _benchmark), ("deterministic", _deterministic)):
        if value is not None:
            _FLAGS[name].put(value)
    if _allow_tf32 is not None:
        set_cudnn_allow_tf32(_allow_tf32)
    if _fp32_precision is not None:
        put("cuda", "all", _fp32_precision)
    if _depthwise_kernel is not None:
        _depthwise.put(_depthwise_kernel)
    return before


_FLAGS = {"enabled": _enabled, "benchmark": _benchmark, "deterministic": _deterministic}


@contextmanager
def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
    depthwise_kernel: str = "auto",
) -> Iterator[None]:
    """Context manager that sets the settings.

    >>> with torch.backends.cudnn.flags(enabled=False):
    ...     print(torch.backends.cudnn.enabled)
    False
    """
    with flags_set(
        set_flags, enabled, benchmark, benchmark_limit, deterministic, allow_tf32, fp32_precision, depthwise_kernel
    ):
        yield


adopt(globals())
give_class(__name__, CudnnModule)
