"""`torch._inductor.config`: settings of a code generator. They are kept and change nothing, as no code is generated."""

from mindtorch.utils._config_module import install

coordinate_descent_check_all_directions = False
coordinate_descent_tuning = False
cpp_wrapper = False
debug = False
emulate_precision_casts = False
epilogue_fusion = True
fallback_random = False
force_disable_caches = False
force_fuse_int_mm_with_mul = False
freezing = False
fx_graph_cache = True
layout_optimization = True
max_autotune = False
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
max_autotune_gemm_search_space = "DEFAULT"
post_grad_custom_post_pass = None
post_grad_custom_pre_pass = None
pre_grad_custom_pass = None
shape_padding = True
size_asserts = True


class cpp:
    """What concerns generated C++."""

    enable_concat_linear = False
    threads = -1


class eager_numerics:
    """What generated code computes as eager code does."""

    division_rounding = False


class trace:
    """What is written down while code is generated."""

    enabled = False


class triton:
    """What concerns generated Triton kernels."""

    cudagraphs = False
    unique_kernel_names = True


install(__name__)
