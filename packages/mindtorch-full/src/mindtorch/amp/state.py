"""Whether autocast is on, per device type and thread, and which ops it treats how.

The values are part of the dispatcher's thread state, so plans made with and without autocast never mix. The surface
re-exports these functions as `torch.is_autocast_enabled` and so on.
"""

from __future__ import annotations

import functools
import threading
import tomllib
import warnings
from importlib.resources import files
from typing import Any, NamedTuple

import mindtorch_storage.dtype as dtypes
from mindtorch_dispatch.state import state
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype

__all__ = [
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "clear_autocast_cache",
    "get_autocast_cpu_dtype",
    "get_autocast_dtype",
    "get_autocast_gpu_dtype",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_cpu_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_cpu_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]


class Policy(NamedTuple):
    """The default dtype of a device type, the dtypes its autocast supports, and what happens to which op."""

    dtype: Any
    supported: tuple[Any, ...]
    casts: dict[str, str]


class Active(NamedTuple):
    """The value in the dispatcher's state while autocast is on: device types that are on, their dtypes, the cache."""

    enabled: tuple[tuple[str, Any], ...]
    cache: bool


@functools.cache
def policies() -> dict[str, Policy]:
    """The table of `data/autocast.toml`."""
    table = tomllib.loads(files("mindtorch.data").joinpath("autocast.toml").read_text(encoding="utf-8"))
    found = {}
    for device_type, entry in table.items():
        casts = {op: kind for kind in ("lower", "float32", "promote") for op in entry.get(kind, ())}
        supported = tuple(getattr(dtypes, name) for name in entry["supported"])
        found[device_type] = Policy(getattr(dtypes, entry["dtype"]), supported, casts)
    return found


class _Local(threading.local):
    """This thread's settings; what is on is mirrored in the dispatcher's state."""

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.dtypes: dict[str, Any] = {}
        self.cache_enabled = True
        self.nesting = 0
        self.casts: dict[int, Any] = {}


_local = _Local()


def _known(device_type: str) -> str:
    """The name of a device type; torch's error for names that are none."""
    return Device(device_type).type


def _policy(device_type: str) -> Policy:
    policy = policies().get(_known(device_type))
    if policy is None:
        raise RuntimeError("unsupported scalarType")
    return policy


def is_autocast_available(device_type: str) -> bool:
    """Whether autocast exists for a device type.

    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    return _known(device_type) in policies()


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether autocast is on for a device type (for the accelerator when none is named).

    >>> with torch.autocast("cpu"):
    ...     torch.is_autocast_enabled("cpu")
    True
    >>> torch.is_autocast_enabled("cpu")
    False
    """
    if device_type is None:
        return any(on for name, on in _local.enabled.items() if name != "cpu")
    return _local.enabled.get(_known(device_type), False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast on or off for a device type in this thread.

    >>> torch.set_autocast_enabled("cpu", True)
    >>> torch.is_autocast_enabled("cpu")
    True
    >>> torch.set_autocast_enabled("cpu", False)
    """
    if enabled is None:
        device_type, enabled = "cuda", device_type
    _local.enabled[_known(device_type)] = bool(enabled)
    _publish()


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype autocast computes in.

    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    policy = _policy(device_type)
    return _local.dtypes.get(_known(device_type), policy.dtype)


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Choose the dtype autocast computes in.

    >>> torch.set_autocast_dtype("cpu", torch.bfloat16)
    >>> torch.get_autocast_dtype("cpu")
    torch.bfloat16
    """
    _policy(device_type)
    _local.dtypes[_known(device_type)] = dtype
    _publish()


def is_autocast_cache_enabled() -> bool:
    """Whether casts of parameters are kept until the outermost region ends.

    >>> torch.is_autocast_cache_enabled()
    True
    """
    return _local.cache_enabled


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Keep casts of parameters until the outermost region ends, or make them anew each time.

    >>> torch.set_autocast_cache_enabled(False)
    >>> torch.is_autocast_cache_enabled()
    False
    >>> torch.set_autocast_cache_enabled(True)
    """
    _local.cache_enabled = bool(enabled)
    _publish()


def autocast_increment_nesting() -> int:
    """Enter a region; returns how many are open.

    >>> torch.autocast_increment_nesting()
    1
    >>> torch.autocast_decrement_nesting()
    0
    """
    _local.nesting += 1
    return _local.nesting


def autocast_decrement_nesting() -> int:
    """Leave a region; returns how many are still open.

    >>> torch.autocast_increment_nesting()
    1
    >>> torch.autocast_decrement_nesting()
    0
    """
    _local.nesting -= 1
    return _local.nesting


def clear_autocast_cache() -> None:
    """Forget the casts that were kept.

    >>> torch.clear_autocast_cache()
    """
    _local.casts.clear()


def cast_cache() -> dict[int, Any]:
    """The kept casts of this thread, by the identity of the tensor."""
    return _local.casts


def is_autocast_cpu_enabled() -> bool:
    """The older spelling for the CPU.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.is_autocast_cpu_enabled()
    False
    """
    _warn_older("is_autocast_cpu_enabled()", "is_autocast_enabled('cpu')")
    return is_autocast_enabled("cpu")


def set_autocast_cpu_enabled(enabled: bool) -> None:
    """The older spelling for the CPU.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.set_autocast_cpu_enabled(False)
    >>> torch.is_autocast_cpu_enabled()
    False
    """
    _warn_older("set_autocast_cpu_enabled(enabled)", "set_autocast_enabled('cpu', enabled)")
    set_autocast_enabled("cpu", enabled)


def set_autocast_cpu_dtype(dtype: Any) -> None:
    """The older spelling for the CPU.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.set_autocast_cpu_dtype(torch.bfloat16)
    >>> torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _check_dtype(dtype)
    _warn_older("set_autocast_cpu_dtype(dtype)", "set_autocast_dtype('cpu', dtype)")
    set_autocast_dtype("cpu", dtype)


def set_autocast_gpu_dtype(dtype: Any) -> None:
    """The older spelling for CUDA.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.set_autocast_gpu_dtype(torch.float16)
    >>> torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _check_dtype(dtype)
    _warn_older("set_autocast_gpu_dtype(dtype)", "set_autocast_dtype('cuda', dtype)")
    set_autocast_dtype("cuda", dtype)


def _check_dtype(dtype: Any) -> None:
    if not isinstance(dtype, Dtype):
        raise TypeError(f"dtype must be a torch.dtype (got {type(dtype).__name__})")


def get_autocast_cpu_dtype() -> Any:
    """The older spelling for the CPU.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.get_autocast_cpu_dtype()
    torch.bfloat16
    """
    _warn_older("get_autocast_cpu_dtype()", "get_autocast_dtype('cpu')")
    return get_autocast_dtype("cpu")


def get_autocast_gpu_dtype() -> Any:
    """The older spelling for CUDA.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.get_autocast_gpu_dtype()
    torch.float16
    """
    _warn_older("get_autocast_gpu_dtype()", "get_autocast_dtype('cuda')")
    return get_autocast_dtype("cuda")


def _warn_older(old: str, new: str) -> None:
    warnings.warn(f"torch.{old} is deprecated. Please use torch.{new} instead.", DeprecationWarning, stacklevel=3)


def _publish() -> None:
    """Tell the dispatcher what is on in this thread."""
    on = tuple((name, get_autocast_dtype(name)) for name, flag in sorted(_local.enabled.items()) if flag)
    value = Active(on, _local.cache_enabled) if on else None
    if state.mode.autocast != value:
        state.mode = state.mode.replace(autocast=value)
