"""`torch._dynamo.config`: settings of a tracer. They are kept, and change `torch._numpy` alone: nothing is traced."""

from mindtorch.utils._config_module import install

accumulated_recompile_limit = 256
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
error_on_recompile = False
fake_tensor_cache_crosscheck_enabled = False
fake_tensor_cache_enabled = True
inline_inbuilt_nn_modules = True
issue_3_13_0_warning = True
log_compilation_metrics = True
numpy_default_complex = "complex128"
numpy_default_float = "float64"
numpy_default_int = "int64"
optimize_ddp = True
recompile_limit = 8
skip_fwd_side_effects_in_bwd_under_checkpoint = False
suppress_errors = False
trace_numpy = True
use_numpy_random_stream = False
verbose = False

install(__name__)
