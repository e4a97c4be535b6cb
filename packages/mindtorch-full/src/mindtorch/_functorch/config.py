"""`torch._functorch.config`: settings of a compiler of whole programs. They are kept and change nothing: none compiles."""

from mindtorch.utils._config_module import install

activation_memory_budget = 1.0
check_custom_op_aliasing = True
cse = True
debug_assert = False
debug_partitioner = False
donated_buffer = True
enable_autograd_cache = True
error_on_custom_op_aliasing = False
fake_tensor_allow_meta = True
fake_tensor_allow_unsafe_data_ptr_access = True
fake_tensor_crossref = False
fake_tensor_propagate_real_tensors = False
functionalize_rng_ops = False
generate_fake_kernels_from_real_mismatches = False
max_dist_from_bw = 1000
recompute_views = False
static_weight_shapes = True
strict_autograd_cache = False
treat_parameters_as_free_to_save = True
unlift_effect_tokens = False
view_replay_for_aliased_outputs = True

install(__name__)
