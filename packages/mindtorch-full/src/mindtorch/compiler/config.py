"""`torch.compiler.config`: settings of a tracer. They are kept and change nothing, as nothing is traced."""

from typing import Any

from mindtorch.utils._config_module import install

accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = False
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_key_tag = ""
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
dynamic_shapes = True
dynamic_sources = ""
dynamic_values = ""
enable_cpp_symbolic_shape_guards = False
fail_on_recompile_limit_hit = False
force_cudagraph_gc = False
force_disable_caches = False
job_id: str | None = None
log_file_name: str | None = None
pgo_extra_read_key: str | None = None
pgo_extra_write_key: str | None = None
recompile_limit = 8
reorderable_logging_functions: set[Any] = set()
skip_tensor_guards_with_matching_dict_tags = True
unbacked_sources = ""
verbose = False
wrap_top_frame = False

install(__name__)
