"""Where the names of `torch` live that are imported when they are first asked for."""

SUBMODULES = frozenset(
    "autograd nn optim utils random serialization storage linalg fft special distributions amp backends cuda xpu mps cpu "
    "accelerator version compiler _dynamo distributed jit fx testing library ops overrides types profiler hub _C _utils "
    "_tensor functional func multiprocessing onnx export sparse masked return_types quantization futures _subclasses "
    "_logging _refs _prims _decomp _vendor _utils_internal torch_version "
    "_vmap_internals mtia npu _ops _inductor package signal monitor quasirandom _tensor_str _jit_internal "
    "nested numa ao _library _prims_common _custom_ops __future__ __config__ "
    "_vmap_internals _functorch torch_npu _VF _guards _sources _higher_order_ops".split()
)
"""Submodules; those without a file are absent and say so."""

HOMES: dict[str, str] = {
    name: home
    for home, names in {
        "random": "Generator default_generator manual_seed seed initial_seed get_rng_state set_rng_state",
        "_device_modules": "_register_device_module",
        "serialization": "save load",
        "serialization._records": "PyTorchFileReader",
        "serialization._record_writer": "PyTorchFileWriter",
        "functions.interop": "from_numpy frombuffer asarray as_tensor from_dlpack from_file",
        "utils.dlpack": "to_dlpack",
        "functions.checks": "_check _check_with _check_index _check_value _check_type _check_not_implemented "
        "_check_tensor_all _check_tensor_all_with _check_is_size is_floating_point is_complex is_nonzero is_neg is_conj "
        "is_same_size is_distributed is_inference is_signed _assert typename "
        "_has_compatible_shallow_copy_type "
        "is_deterministic_algorithms_warn_only_enabled "
        "are_deterministic_algorithms_enabled use_deterministic_algorithms get_deterministic_debug_mode "
        "set_deterministic_debug_mode get_float32_matmul_precision set_float32_matmul_precision is_warn_always_enabled "
        "set_warn_always set_flush_denormal get_num_threads set_num_threads get_num_interop_threads "
        "set_num_interop_threads is_vulkan_available set_default_tensor_type",
        "functions.symbolic": "_sym_cos _sym_cosh _sym_sin _sym_sinh _sym_tan _sym_tanh _sym_asin _sym_acos _sym_atan "
        "sym_int sym_float sym_max sym_min sym_not sym_ite sym_sum",
        "autograd.anomaly_mode": "is_anomaly_enabled is_anomaly_check_nan_enabled set_anomaly_enabled",
        "functions.sparse": "sparse_coo_tensor _validate_sparse_coo_tensor_args",
        "nested._internal.strided": "_nested_tensor_from_mask _nested_tensor_from_mask_left_aligned",
        "functions.sparse_compressed": "sparse_compressed_tensor sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor "
        "sparse_bsc_tensor",
        "functions.scaled": "_scaled_mm _scaled_mm_v2 _scaled_grouped_mm",
        "functions.removed": "eig lstsq matrix_rank solve symeig",
        "functions.devices": "_running_with_deploy get_device_module get_device detach_ sym_sqrt _sym_sqrt "
        "has_lapack has_mkl has_openmp has_spectral",
        "_lowrank": "svd_lowrank pca_lowrank",
        "_lobpcg": "lobpcg",
        "_streams": "Event Stream",
        "_higher_order_ops": "cond",
        "amp.grad_scaler": "GradScaler",
        "_errors": "AcceleratorError OutOfMemoryError",
        "compiler": "compile",
        "_pipeline": "pipeline",
        "amp": "autocast",
        "amp.state": "is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype "
        "is_autocast_cache_enabled set_autocast_cache_enabled autocast_increment_nesting autocast_decrement_nesting "
        "clear_autocast_cache is_autocast_cpu_enabled set_autocast_cpu_enabled get_autocast_cpu_dtype "
        "get_autocast_gpu_dtype set_autocast_cpu_dtype set_autocast_gpu_dtype",
        "_compile": "_disable_dynamo",
        "_constants": "inf nan pi e newaxis",
        "func": "vmap",
        "functions.assertions": "_assert_async _assert_tensor_metadata _debug_has_internal_overlap _is_all_true "
        "_nnpack_available _shape_as_tensor",
        "futures": "Future",
        "functions.old_names": "_cast_Byte _cast_Char _cast_Double _cast_Float _cast_Half _cast_Int _cast_Long _cast_Short dsmm "
        "hsmm spmm Storage _storage_classes _tensor_classes",
        "jit": "fork wait",
        "_higher_order_ops.while_loop": "while_loop",
        "_C._types": "AnyType AwaitType BoolType ComplexType DeviceObjType DictType FloatType FutureType IntType ListType "
        "NoneType NumberType OptionalType PyObjectType RRefType StreamObjType StringType SymBoolType SymIntType TensorType "
        "TupleType Type UnionType",
        "_C": "Tag DispatchKey DispatchKeySet FunctionSchema Argument ScriptMethod ScriptModule ScriptObject StorageBase",
        "types": "SymInt SymFloat SymBool",
    }.items()
    for name in names.split()
}
"""Name to the submodule that defines it."""

NOT_EXPORTED = frozenset(
    "BFloat16Storage BFloat16Tensor ComplexDoubleStorage ComplexFloatStorage HalfStorage HalfTensor QInt32Storage "
    "QInt8Storage QUInt2x4Storage QUInt4x2Storage QUInt8Storage Storage StorageBase broadcast_shapes channels_last "
    "channels_last_3d contiguous_format eig from_dlpack jagged legacy_contiguous_format lstsq lu matrix_rank "
    "pca_lowrank per_channel_affine per_channel_affine_float_qparams per_channel_symmetric per_tensor_affine "
    "per_tensor_symmetric pipeline preserve_format segment_reduce set_default_dtype set_grad_enabled solve "
    "sparse_bsc sparse_bsr sparse_coo sparse_csc sparse_csr strided svd_lowrank symeig to_dlpack unique "
    "while_loop".split()
)
"""Names that `from torch import *` does not bring along."""
