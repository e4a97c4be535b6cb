"""`torch._inductor.config`: settings of a code generator. They are kept and change nothing, as no code is generated."""

from mindtorch.utils._config_module import install

coordinate_descent_tuning = False
debug = False
epilogue_fusion = True
fallback_random = False
force_disable_caches = False
fx_graph_cache = True
max_autotune = False
max_autotune_gemm = False
size_asserts = True

install(__name__)
