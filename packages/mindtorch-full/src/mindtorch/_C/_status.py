"""Questions and switches of torch's native code that libraries ask; with eager execution their answers are fixed."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tracing_state import tracing
from mindtorch.functions.factory import get_default_device
from mindtorch_dispatch.state import state
from mindtorch_storage.lazy_import import LazyModule, load
from mindtorch_storage.size import Size
from mindtorch_storage.strides import broadcast_pair
from mindtorch_storage.tensor_base import TensorBase

_fallback = LazyModule("mindtorch_dispatch.batching.fallback", "only programs that use `vmap` need it")
_batching = LazyModule("mindtorch_dispatch.batching", "only programs that use `vmap` need it")

__all__: list[str] = []

_switches = {
    "fp16_reduction_cpu": False,
    "_jit_can_fuse_on_cpu": False,
    "_jit_can_fuse_on_gpu": False,
    "_jit_set_nvfuser_guard_mode": False,
    "_jit_set_profiling_mode": False,
}


def _get_tracing_state() -> Any:
    """Return the state of the tracer of this thread, None where nothing is traced."""
    return tracing()


def _is_tracing() -> bool:
    """Return whether this code is being traced."""
    return tracing() is not None


def _are_functorch_transforms_active() -> bool:
    """Return whether a transform of `torch.func` is open in this thread."""
    return bool(state.transforms) or _batching.depth() > 0


def _debug_only_are_vmap_fallback_warnings_enabled() -> bool:
    """Return whether every op of a batch that is computed example by example gives a warning."""
    return bool(_fallback.warnings_shown().always)


def _debug_only_display_vmap_fallback_warnings(enabled: bool) -> None:
    """Say whether every op of a batch that is computed example by example gives a warning, and not only its first."""
    _fallback.warnings_shown().always = enabled


def _infer_size(a: Size, b: Size) -> Size:
    """Return the shape that two shapes broadcast to."""
    for place, one in enumerate((a, b), 1):
        if not isinstance(one, Size):
            raise RuntimeError(f"expected a torch.Size as argument {place}")
    return Size(broadcast_pair(a, b))


def _get_cpu_allow_fp16_reduced_precision_reduction() -> bool:
    """Return whether sums of products of float16 may be taken in float16 on the CPU; they never are."""
    return _switches["fp16_reduction_cpu"]


def _set_cpu_allow_fp16_reduced_precision_reduction(allowed: bool) -> None:
    """Say whether sums of products of float16 may be taken in float16 on the CPU."""
    if not isinstance(allowed, bool):
        raise RuntimeError(f"set_allow_fp16_reduction_cpu expects a bool, but got {type(allowed).__name__}")
    _switches["fp16_reduction_cpu"] = allowed


def _get_mkldnn_enabled() -> bool:
    """Return whether oneDNN may be used where there is one."""
    return bool(load("mindtorch.backends.mkldnn").enabled)


def _set_mkldnn_enabled(enabled: bool) -> None:
    """Say whether oneDNN may be used where there is one."""
    load("mindtorch.backends.mkldnn")._FLAGS["enabled"].put(enabled)


def _get_default_device() -> str:
    """Return the default device's spelling."""
    return str(get_default_device())


def _get_cudnn_enabled() -> bool:
    """Return whether cuDNN may be used where there is one."""
    return bool(load("mindtorch.backends.cudnn").enabled)


def _set_cudnn_enabled(enabled: bool) -> None:
    """Say whether cuDNN may be used where there is one; RuntimeError for what is no bool."""
    load("mindtorch.backends.cudnn")._FLAGS["enabled"].put(enabled)


def _is_alias_of(data: TensorBase, other: TensorBase) -> bool:
    """Return whether two tensors have one storage."""
    return data.untyped_storage()._cdata == other.untyped_storage()._cdata  # type: ignore[attr-defined]


def _jit_can_fuse_on_cpu() -> bool:
    """Return whether compiled code may be fused on the CPU."""
    return _switches["_jit_can_fuse_on_cpu"]


def _jit_can_fuse_on_gpu() -> bool:
    """Return whether compiled code may be fused on a GPU."""
    return _switches["_jit_can_fuse_on_gpu"]


def _jit_override_can_fuse_on_cpu(override: bool) -> None:
    """Allow or forbid it; kept, as nothing is compiled."""
    _switches["_jit_can_fuse_on_cpu"] = override


def _jit_override_can_fuse_on_gpu(override: bool) -> None:
    """Allow or forbid it; kept, as nothing is compiled."""
    _switches["_jit_can_fuse_on_gpu"] = override


def _swap(name: str, value: bool) -> bool:
    before, _switches[name] = _switches[name], value
    return before


def _jit_set_profiling_mode(profiling_flag: bool) -> bool:
    """Set whether the executor of compiled code profiles, and return what was set."""
    return _swap("_jit_set_profiling_mode", profiling_flag)


def _jit_set_nvfuser_guard_mode(profiling_flag: bool) -> bool:
    """Set whether the fuser for NVIDIA guards, and return what was set."""
    return _swap("_jit_set_nvfuser_guard_mode", profiling_flag)


def _jit_set_texpr_fuser_enabled(value: Any) -> None:
    """Choose a fuser of compiled code; there is none to choose."""


def _jit_set_nvfuser_enabled(value: bool) -> None:
    """Choose the fuser for NVIDIA, which torch has no more."""


adopt(globals())
