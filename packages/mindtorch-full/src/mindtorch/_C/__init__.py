"""`torch._C`: the few of torch's native names that other libraries read. There is no native module behind it.

A name that is not here raises the error that torch raises for a native function its build lacks.
"""

import faulthandler
import os
import sys
import warnings
from typing import Any

from mindtorch._C import _autograd, _fft, _functions, _linalg, _nn, _profiler, _special  # noqa: F401 (reached as attributes)
from mindtorch._C._autograd_fallback import _get_autograd_fallback_mode, _set_autograd_fallback_mode
from mindtorch._C._convolution import _ConvBackend, _select_conv_backend  # noqa: F401 (tests ask which way is taken)
from mindtorch._C._dispatch import (
    Argument,
    DispatchKey,
    DispatchKeySet,
    FunctionSchema,
    Tag,
    _after_autograd_keyset,
    _AutoDispatchBelowAutograd,
    _dispatch_call_boxed,
    _dispatch_find_schema_or_throw,
    _dispatch_get_all_op_names,
    _dispatch_get_registrations_for_dispatch_key,
    _dispatch_has_kernel,
    _dispatch_has_kernel_for_dispatch_key,
    _dispatch_isTensorSubclassLike,
    _dispatch_key_set,
    _dispatch_keys,
    _dispatch_tls_is_dispatch_key_excluded,
    _dispatch_tls_is_dispatch_key_included,
    _dispatch_tls_local_exclude_set,
    _dispatch_tls_local_include_set,
    _dispatch_tls_set_dispatch_key_excluded,
    _dispatch_tls_set_dispatch_key_included,
    _DispatchOperatorHandle,
    _ExcludeDispatchKeyGuard,
    _IncludeDispatchKeyGuard,
    parse_schema,
)
from mindtorch._C._dispatch import _DisablePythonDispatcher as _DisablePythonDispatcher
from mindtorch._C._dispatch import _EnablePythonDispatcher as _EnablePythonDispatcher
from mindtorch._C._engine import (
    _any_requires_grad,
    _current_autograd_node,
    _current_graph_task_execution_order,
    _current_graph_task_id,
    _ImperativeEngine,
    _increment_version,
    _InferenceMode,
    _is_fwd_grad_enabled,
    _is_grad_layout_enforcement_enabled,
    _is_multithreading_enabled,
    _is_view_replay_enabled,
    _set_fwd_grad_enabled,
    _set_grad_enabled,
    _set_grad_layout_enforcement_enabled,
    _set_override_stale_capture_stream,
    _set_view_replay_enabled,
    _set_warn_on_accumulate_grad_stream_mismatch,
    _warn_on_accumulate_grad_stream_mismatch,
    _will_engine_execute_node,
    is_grad_enabled,
    is_inference_mode_enabled,
)
from mindtorch._C._graphs import Block, Graph, Node, Value  # noqa: F401 (types that annotations name)
from mindtorch._C._inferred import InferredType as InferredType
from mindtorch._C._inferred import _jit_try_infer_type as _jit_try_infer_type
from mindtorch._C._infrastructure import (  # noqa: F401 - programs ask for them here
    _add_cached_tensor,
    _BlasBackend,
    _data_address,
    _DisableFuncTorch,
    _EnableTorchFunction,
    _get_cpu_capability,
    _get_cudnn_sdp_enabled,
    _get_flash_sdp_enabled,
    _get_graph_executor_optimize,
    _get_math_sdp_allow_fp16_bf16_reduction,
    _get_math_sdp_enabled,
    _get_mem_efficient_sdp_enabled,
    _get_obj_in_tls,
    _get_overrideable_sdp_enabled,
    _get_sdp_priority_order,
    _get_torch_function_state,
    _get_warnAlways,
    _has_cuda,
    _has_cudnn,
    _has_cusparselt,
    _has_eigen_sparse,
    _has_kleidiai,
    _has_magma,
    _has_mkldnn,
    _has_mkldnn_acl,
    _has_mps,
    _has_xpu,
    _is_cached_tensor,
    _is_cow_tensor,
    _is_key_in_tls,
    _jit_set_num_profiled_runs,
    _jit_set_profiling_executor,
    _LinalgBackend,
    _remove_cached_tensor,
    _set_cached_tensors_enabled,
    _set_conj,
    _set_math_sdp_allow_fp16_bf16_reduction,
    _set_neg,
    _set_sdp_priority_order,
    _set_sdp_use_cudnn,
    _set_sdp_use_flash,
    _set_sdp_use_math,
    _set_sdp_use_mem_efficient,
    _set_sdp_use_overrideable,
    _set_torch_function_state,
    _set_warnAlways,
    _stash_obj_in_tls,
    _storage_address,
    _storage_id,
    _storage_Use_Count,
    _TorchFunctionState,
    _WeakTensorRef,
    has_lapack,
    has_mkl,
    has_openmp,
    has_spectral,
)
from mindtorch._C._modes import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_dispatch_impl,
    _DisableTorchDispatch,
    _get_dispatch_stack_at,
    _get_function_stack_at,
    _has_torch_function,
    _is_torch_function_all_disabled,
    _is_torch_function_enabled,
    _is_torch_function_mode_enabled,
    _len_torch_dispatch_stack,
    _len_torch_function_stack,
    _pop_torch_dispatch_stack,
    _pop_torch_function_stack,
    _push_on_torch_dispatch_stack,
    _push_on_torch_function_stack,
    _TorchDispatchModeKey,
)
from mindtorch._C._schema_info import (  # noqa: F401 - what checks of schemas ask
    _is_alias_of,
    _overlaps,
    _SchemaArgType,
    _SchemaArgument,
    _SchemaInfo,
)
from mindtorch._C._script import (
    ScriptDict,
    ScriptFunction,
    ScriptList,
    ScriptMethod,
    ScriptModule,
    ScriptObject,
    TensorType,
    _jit_clear_class_registry,  # noqa: F401
    _jit_get_emit_hooks,  # noqa: F401 (tests of scripts keep them)
    _jit_set_emit_hooks,  # noqa: F401
)
from mindtorch._C._status import (  # noqa: F401 - other libraries ask them
    _are_functorch_transforms_active,
    _debug_only_are_vmap_fallback_warnings_enabled,
    _debug_only_display_vmap_fallback_warnings,
    _get_cpu_allow_fp16_reduced_precision_reduction,
    _get_cudnn_enabled,
    _get_default_device,
    _get_mkldnn_enabled,
    _get_tracing_state,
    _infer_size,
    _jit_can_fuse_on_cpu,
    _jit_can_fuse_on_gpu,
    _jit_override_can_fuse_on_cpu,
    _jit_override_can_fuse_on_gpu,
    _jit_set_nvfuser_enabled,
    _jit_set_nvfuser_guard_mode,
    _jit_set_profiling_mode,
    _jit_set_texpr_fuser_enabled,
    _set_cpu_allow_fp16_reduced_precision_reduction,
    _set_cudnn_enabled,
    _set_mkldnn_enabled,
)
from mindtorch._C._variable_functions import _VariableFunctions, _VariableFunctionsClass  # noqa: F401 (the class is a name in torch's pickles)
from mindtorch._naming import adopt, torch_name
from mindtorch.random import Generator  # noqa: F401 (its name in torch)
from mindtorch.serialization._record_writer import PyTorchFileWriter
from mindtorch.serialization._records import PyTorchFileReader
from mindtorch.tensor.metaclass import _TensorMeta
from mindtorch.utils.backend_registration import _get_privateuse1_backend_name
from mindtorch_autograd.function import BackwardCFunction as _FunctionBase
from mindtorch_dispatch.errors import LinAlgError as _LinAlgError
from mindtorch_dispatch.override.overrides import disabled_torch_function as _disabled_torch_function_impl
from mindtorch_storage.device import device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.layout import layout, memory_format
from mindtorch_storage.lazy_import import load
from mindtorch_storage.size import Size
from mindtorch_storage.storage import StorageBase
from mindtorch_storage.tensor_base import TensorBase

__all__ = [
    "Argument",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "FunctionSchema",
    "PyTorchFileReader",
    "PyTorchFileWriter",
    "ScriptDict",
    "ScriptFunction",
    "ScriptList",
    "ScriptMethod",
    "ScriptModule",
    "ScriptObject",
    "Size",
    "StorageBase",
    "Tag",
    "TensorBase",
    "TensorType",
    "_AutoDispatchBelowAutograd",
    "_DisableFuncTorch",
    "_DisableTorchDispatch",
    "_DispatchOperatorHandle",
    "_EnableTorchFunction",
    "_ExcludeDispatchKeyGuard",
    "_FunctionBase",
    "_ImperativeEngine",
    "_IncludeDispatchKeyGuard",
    "_InferenceMode",
    "_LinAlgError",
    "_TensorMeta",
    "_TorchDispatchModeKey",
    "_TorchFunctionState",
    "_VariableFunctions",
    "_WeakTensorRef",
    "_add_cached_tensor",
    "_after_autograd_keyset",
    "_any_requires_grad",
    "_autograd",
    "_current_autograd_node",
    "_current_graph_task_execution_order",
    "_current_graph_task_id",
    "_data_address",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_dispatch_call_boxed",
    "_dispatch_find_schema_or_throw",
    "_dispatch_get_all_op_names",
    "_dispatch_get_registrations_for_dispatch_key",
    "_dispatch_has_kernel",
    "_dispatch_has_kernel_for_dispatch_key",
    "_dispatch_isTensorSubclassLike",
    "_dispatch_key_set",
    "_dispatch_keys",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_dispatch_tls_local_exclude_set",
    "_dispatch_tls_local_include_set",
    "_dispatch_tls_set_dispatch_key_excluded",
    "_dispatch_tls_set_dispatch_key_included",
    "_functions",
    "_get_accelerator",
    "_get_autograd_fallback_mode",
    "_get_cpu_capability",
    "_get_dispatch_stack_at",
    "_get_function_stack_at",
    "_get_graph_executor_optimize",
    "_get_obj_in_tls",
    "_get_privateuse1_backend_name",
    "_get_torch_function_state",
    "_has_torch_function",
    "_increment_version",
    "_is_cached_tensor",
    "_is_cow_tensor",
    "_is_fwd_grad_enabled",
    "_is_grad_layout_enforcement_enabled",
    "_is_key_in_tls",
    "_is_multithreading_enabled",
    "_is_torch_function_all_disabled",
    "_is_torch_function_enabled",
    "_is_torch_function_mode_enabled",
    "_is_view_replay_enabled",
    "_jit_set_num_profiled_runs",
    "_jit_set_profiling_executor",
    "_len_torch_dispatch_stack",
    "_len_torch_function_stack",
    "_log_api_usage_once",
    "_nn",
    "_pop_torch_dispatch_stack",
    "_pop_torch_function_stack",
    "_push_on_torch_dispatch_stack",
    "_push_on_torch_function_stack",
    "_remove_cached_tensor",
    "_set_autograd_fallback_mode",
    "_set_cached_tensors_enabled",
    "_set_conj",
    "_set_fwd_grad_enabled",
    "_set_grad_enabled",
    "_set_grad_layout_enforcement_enabled",
    "_set_neg",
    "_set_override_stale_capture_stream",
    "_set_torch_function_state",
    "_set_view_replay_enabled",
    "_set_warn_on_accumulate_grad_stream_mismatch",
    "_stash_obj_in_tls",
    "_storage_Use_Count",
    "_storage_address",
    "_warn",
    "_warn_deprecation",
    "_warn_on_accumulate_grad_stream_mismatch",
    "_will_engine_execute_node",
    "device",
    "dtype",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "has_spectral",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "layout",
    "memory_format",
    "parse_schema",
]


def _get_accelerator(check: Any = None) -> device:
    """Return the device type to compute on: the CPU, as there is no accelerator."""
    return device("cpu")


def _get_deterministic_fill_uninitialized_memory() -> bool:
    """Return whether new memory is filled while deterministic algorithms are asked for."""
    filled: bool = load("mindtorch.utils.deterministic").fill_uninitialized_memory
    return filled


def _set_deterministic_fill_uninitialized_memory(mode: bool) -> None:
    """Let new memory be filled while deterministic algorithms are asked for, or not."""
    load("mindtorch.utils.deterministic").fill_uninitialized_memory = mode


def _set_print_stack_traces_on_fatal_signal(enable: bool) -> None:
    """Write the stacks of all threads when a signal ends the process, or do not."""
    if enable:
        faulthandler.enable(all_threads=True)
    else:
        faulthandler.disable()


_OF_GROUPS = {
    "_DistBackendError": "DistBackendError",
    "_DistError": "DistError",
    "_DistNetworkError": "DistNetworkError",
    "_DistQueueEmptyError": "QueueEmptyError",
    "_DistStoreError": "DistStoreError",
}


def __getattr__(name: str) -> Any:
    if name in ("_functorch", "_cpu", "_distributed_c10d", "_distributed_rpc"):
        return load(f"mindtorch._C.{name}")
    types = load("mindtorch._C._types")
    if name in types.__all__:
        return getattr(types, name)
    if name == "Future":
        return load("mindtorch.futures").Future
    if name in _OF_GROUPS:
        return getattr(load("mindtorch.distributed"), _OF_GROUPS[name])
    raise AttributeError(f"module {torch_name(__name__)!r} has no attribute {name!r}")


def _warn() -> None:
    """Give the warning with which PyTorch tests warnings."""
    warnings.warn("Test message for TORCH_WARN", UserWarning, stacklevel=2)


def _warn_deprecation() -> None:
    """Give the warning of a deprecation with which PyTorch tests warnings."""
    warnings.warn("Test message for TORCH_WARN_DEPRECATION", DeprecationWarning, stacklevel=2)


_logged: set[str] = set()


def _log_api_usage_once(event: str) -> None:
    """Name the event on stderr the first time, where `PYTORCH_API_USAGE_STDERR` asks for it; nothing is sent anywhere."""
    if event not in _logged:
        _logged.add(event)
        if os.environ.get("PYTORCH_API_USAGE_STDERR"):
            sys.stderr.write(f"PYTORCH_API_USAGE {event}\n")


adopt(globals())
