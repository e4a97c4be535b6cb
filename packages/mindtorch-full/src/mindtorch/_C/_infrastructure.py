"""What libraries and test infrastructure ask `torch._C` about the build, the thread and the tensors that are alive."""

from __future__ import annotations

import enum
import gc
import threading
import weakref
from typing import Any

from mindtorch.backends.cpu import get_cpu_capability
from mindtorch.backends.cuda import _BlasBackend, _LinalgBackend, _sdp
from mindtorch.functions.checks import is_warn_always_enabled, set_warn_always
from mindtorch_dispatch.state import ALL_OVERRIDE, NONE_OVERRIDE, ONLY_MODES_OVERRIDE, state
from mindtorch_storage.deferred import settle
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.storage.copy_on_write import shared_bytes
from mindtorch_storage.tensor_base import MATH_BITS, TensorBase, conceal, has_math_bits, math_bits, shared_array

__all__ = [
    "_BlasBackend",
    "_DisableFuncTorch",
    "_EnableTorchFunction",
    "_LinalgBackend",
    "_TorchFunctionState",
    "_WeakTensorRef",
    "_add_cached_tensor",
    "_data_address",
    "_get_cpu_capability",
    "_get_cudnn_sdp_enabled",
    "_get_flash_sdp_enabled",
    "_get_graph_executor_optimize",
    "_get_math_sdp_allow_fp16_bf16_reduction",
    "_get_math_sdp_enabled",
    "_get_mem_efficient_sdp_enabled",
    "_get_obj_in_tls",
    "_get_overrideable_sdp_enabled",
    "_get_sdp_priority_order",
    "_get_torch_function_state",
    "_get_warnAlways",
    "_has_cuda",
    "_has_cudnn",
    "_has_cusparselt",
    "_has_eigen_sparse",
    "_has_kleidiai",
    "_has_magma",
    "_has_mkldnn",
    "_has_mkldnn_acl",
    "_has_mps",
    "_has_xpu",
    "_is_cached_tensor",
    "_is_cow_tensor",
    "_is_key_in_tls",
    "_jit_set_num_profiled_runs",
    "_jit_set_profiling_executor",
    "_remove_cached_tensor",
    "_set_cached_tensors_enabled",
    "_set_conj",
    "_set_math_sdp_allow_fp16_bf16_reduction",
    "_set_neg",
    "_set_sdp_priority_order",
    "_set_sdp_use_cudnn",
    "_set_sdp_use_flash",
    "_set_sdp_use_math",
    "_set_sdp_use_mem_efficient",
    "_set_sdp_use_overrideable",
    "_set_torch_function_state",
    "_set_warnAlways",
    "_stash_obj_in_tls",
    "_storage_Use_Count",
    "_storage_address",
    "_storage_id",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
]

_get_math_sdp_allow_fp16_bf16_reduction = _sdp.fp16_bf16_reduction_math_sdp_allowed
_set_math_sdp_allow_fp16_bf16_reduction = _sdp.allow_fp16_bf16_reduction_math_sdp
_get_cudnn_sdp_enabled, _set_sdp_use_cudnn = _sdp.cudnn_sdp_enabled, _sdp.enable_cudnn_sdp
_get_flash_sdp_enabled, _set_sdp_use_flash = _sdp.flash_sdp_enabled, _sdp.enable_flash_sdp
_get_math_sdp_enabled, _set_sdp_use_math = _sdp.math_sdp_enabled, _sdp.enable_math_sdp
_get_mem_efficient_sdp_enabled = _sdp.mem_efficient_sdp_enabled
_set_sdp_use_mem_efficient = _sdp.enable_mem_efficient_sdp
_get_overrideable_sdp_enabled, _set_sdp_use_overrideable = _sdp.overrideable_sdp_enabled, _sdp.enable_overrideable_sdp
_get_sdp_priority_order, _set_sdp_priority_order = _sdp.sdp_priority_order, _sdp.set_sdp_priority_order
_get_warnAlways, _set_warnAlways = is_warn_always_enabled, set_warn_always
has_lapack = has_mkl = has_openmp = has_spectral = True
_has_cuda = _has_cudnn = _has_cusparselt = _has_eigen_sparse = _has_kleidiai = _has_magma = _has_mps = _has_xpu = False
_has_mkldnn = _has_mkldnn_acl = False
_get_cpu_capability = get_cpu_capability


class _TorchFunctionState(enum.Enum):
    """Who may override functions: everybody, modes alone, nobody."""

    ENABLED = ALL_OVERRIDE
    SUBCLASSES_DISABLED = ONLY_MODES_OVERRIDE
    ALL_DISABLED = NONE_OVERRIDE


def _get_torch_function_state() -> _TorchFunctionState:
    return _TorchFunctionState(state.mode.function_override)


def _set_conj(tensor: TensorBase, value: bool) -> None:
    """Set whether a tensor shows the conjugates of what its storage holds."""
    _set_bits(tensor, value, math_bits(tensor).neg)


def _set_neg(tensor: TensorBase, value: bool) -> None:
    """Set whether a tensor shows the negatives of what its storage holds."""
    _set_bits(tensor, math_bits(tensor).conj, value)


def _set_bits(tensor: TensorBase, conj: bool, neg: bool) -> None:
    have = math_bits(tensor)
    if (have.conj, have.neg) == (conj, neg):
        return
    if conj and not tensor._sig.spec.dtype.is_complex:
        raise RuntimeError("a tensor that is not complex has no conjugates to show")
    if not (conj or neg):
        tensor._array = shared_array(tensor)
        tensor._pipe = None
    elif has_math_bits(tensor):
        tensor._pipe = MATH_BITS[conj, neg]
    else:
        if tensor._storage is None:
            tensor._materialized_storage()  # it is made of the array, which goes
        conceal(tensor, MATH_BITS[conj, neg])


def _set_torch_function_state(chosen: _TorchFunctionState) -> None:
    state.mode = state.mode.replace(function_override=chosen.value)


class _EnableTorchFunction:
    """In the block, or from now on until the object is gone, functions may be overridden."""

    def __init__(self) -> None:
        self._before = state.mode.function_override
        self._set(ALL_OVERRIDE)

    @staticmethod
    def _set(override: int) -> None:
        state.mode = state.mode.replace(function_override=override)

    def __enter__(self) -> None:
        self._set(ALL_OVERRIDE)

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        self._set(self._before)


class _DisableFuncTorch:
    """A block outside of all transforms. They take hold of tensors, not of the thread, so there is nothing to leave."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        return None


class _WeakTensorRef:
    """A reference that does not keep a tensor alive."""

    def __init__(self, tensor: TensorBase) -> None:
        self._reference = weakref.ref(tensor)

    def expired(self) -> bool:
        """Return whether the tensor is gone."""
        return self._reference() is None


class _OfThread(threading.local):
    """Objects that a thread keeps by name."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}


_of_thread = _OfThread()


def _stash_obj_in_tls(key: str, value: Any) -> None:
    _of_thread.kept[key] = value


def _get_obj_in_tls(key: str) -> Any:
    if key not in _of_thread.kept:
        raise RuntimeError(f"Getting {key} from ThreadLocalPythonObjects, but it was not set")
    return _of_thread.kept[key]


def _is_key_in_tls(key: str) -> bool:
    return key in _of_thread.kept


_cached_ids: dict[int, Any] = {}
_caching = {"enabled": False}


def _set_cached_tensors_enabled(enabled: bool) -> None:
    _caching["enabled"] = enabled


def _add_cached_tensor(tensor: TensorBase) -> None:
    """Mark a tensor as the cache's own, whose gradient is not to be taken over by another."""
    if not _is_cached_tensor(tensor):
        key = id(tensor)
        _cached_ids[key] = weakref.ref(tensor, lambda _: _cached_ids.pop(key, None))


def _remove_cached_tensor(tensor: TensorBase) -> None:
    _cached_ids.pop(id(tensor), None)


def _is_cached_tensor(tensor: TensorBase) -> bool:
    return _caching["enabled"] and id(tensor) in _cached_ids


_executor = {"profiling": True, "optimize": True, "runs": 1}


def _switch(name: str, value: Any) -> Any:
    before = _executor[name]
    if value is not None:
        _executor[name] = value
    return before


def _jit_set_profiling_executor(profiling: bool) -> bool:
    """Keep the switch of compiled code, of which there is none, and return what it was."""
    return bool(_switch("profiling", profiling))


def _get_graph_executor_optimize(optimize: bool | None = None) -> bool:
    """Return the switch of compiled code, of which there is none; given a value, set it."""
    return bool(_switch("optimize", optimize))


def _jit_set_num_profiled_runs(runs: int) -> int:
    """Keep the number, which nothing reads, and return what it was."""
    return int(_switch("runs", runs))


def _storage_of(name: str, returned: str, tensor: object) -> UntypedStorage:
    if not isinstance(tensor, TensorBase):
        raise TypeError(
            f"{name}(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch.Tensor) -> {returned}\n\nInvoked with: {tensor!r}"
        )
    storage: UntypedStorage = tensor.untyped_storage()  # type: ignore[attr-defined]  # of the class above it
    return storage


def _is_cow_tensor(tensor: object) -> bool:
    """Return whether the storage of a tensor shares its bytes with lazy clones, or did until those were written.

    >>> torch._C._is_cow_tensor(torch.ones(2)._lazy_clone())
    True
    """
    return shared_bytes(_storage_of("_is_cow_tensor", "bool", tensor)) is not None


def _data_address(tensor: object) -> int:
    """Return where the storage of a tensor has its bytes, those that lazy clones share included.

    >>> x = torch.ones(2)
    >>> torch._C._data_address(x._lazy_clone()) == torch._C._data_address(x)
    True
    """
    storage = _storage_of("_data_address", "int", tensor)
    settle()
    return storage._allocation.pointer()


def _storage_id(tensor: object) -> int:
    """Return a number that tensors over one storage have in common, and others do not.

    >>> x = torch.ones(3)
    >>> torch._C._storage_id(x[1:]) == torch._C._storage_id(x)
    True
    """
    return _storage_of("_storage_id", "int", tensor)._cdata


def _storage_address(tensor: object) -> int:
    """Return the identity of the storage under a tensor.

    >>> x = torch.ones(2)
    >>> torch._C._storage_address(x[1:]) == torch._C._storage_address(x)
    True
    """
    return _storage_of("_storage_address", "int", tensor)._cdata


def _storage_Use_Count(address: int) -> int:
    """Return how many tensors stand on the storage whose `_cdata` this is, and one for the storage as an object of Python.

    RuntimeError where no such storage is alive.
    """
    found = next((one for one in gc.get_objects() if id(one) == address and isinstance(one, UntypedStorage)), None)
    if found is None:
        raise RuntimeError(f"_storage_Use_Count: no storage is alive at {address}")
    return 1 + sum(isinstance(owner, TensorBase) for owner in gc.get_referrers(found))
