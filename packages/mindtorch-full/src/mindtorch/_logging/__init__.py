"""`torch._logging`: levels of torch's loggers.

The loggers of what exists here obey; those of compilers, tracers and graphs accept a level and have nothing to say.
"""

import logging
from typing import Any

from mindtorch._naming import adopt

__all__ = ["set_logs"]

_LEVELS = (50, 40, 30, 20, 10, 0)

_LOGS = frozenset(
    """
    all dynamo aot autograd dynamic inductor distributed c10d ddp fsdp dtensor onnx export
    """.split()
)
"""Loggers, which take a level."""

_ARTIFACTS = frozenset(
    """
    bytecode aot_graphs aot_joint_graph ddp_graphs graph graph_code graph_code_verbose graph_breaks
    side_effects graph_sizes guards recompiles recompiles_verbose trace_source trace_call trace_bytecode
    output_code kernel_code schedule perf_hints pre_grad_graphs post_grad_graphs ir_pre_fusion
    ir_post_fusion onnx_diagnostics fusion overlap cudagraphs sym_node compiled_autograd
    compiled_autograd_verbose cudagraph_static_inputs benchmarking autotuning incremental
    graph_region_expansion inductor_metrics hierarchical_compile compute_dependencies caching
    """.split()
)
"""Outputs of a compiler, which are on or off. None is ever produced."""


def set_logs(**kwargs: Any) -> None:
    """Set the levels of loggers; what is not named is set back to its default.

    Raises:
        TypeError: there is no such logger or output.
        ValueError: the level of a logger is none, or an output is neither True nor False.
    """
    modules = kwargs.pop("modules", None) or {}
    for name, value in kwargs.items():
        if name in _LOGS:
            if value is not None and value not in _LEVELS:
                raise ValueError(
                    f"Unrecognized log level for log {name}: {value}, valid level values are: "
                    f"{','.join(map(str, _LEVELS))}"
                )
        elif name not in _ARTIFACTS:
            raise TypeError(f"set_logs() got an unexpected keyword argument {name!r}")
        elif not isinstance(value, bool):
            raise ValueError(f"Expected bool to enable artifact {name}, received {value}")
    for name in _LOGS:
        level = kwargs.get(name)
        logging.getLogger("torch" if name == "all" else f"torch.{name}").setLevel(level or logging.NOTSET)
    for name, level in modules.items():
        logging.getLogger(name).setLevel(level)


adopt(globals())
