"""Submodules that torch has bound once the package around them is imported, and that wait here until they are named.

`torch._dynamo.utils` is there after `import torch`, as torch's own code imports it. Programs count on it.
"""

from __future__ import annotations

from typing import Any

from mindtorch_storage.lazy_import import load

BOUND = {
    "torch": "_compile _custom_op _dispatch _export _linalg_utils _lobpcg _lowrank",
    "torch._dynamo": "_trace_wrapped_higher_order_op backends decorators exc trace_rules utils",
    "torch._functorch": "eager_transforms utils",
    "torch._higher_order_ops": "inline_asm_elementwise invoke_subgraph map",
    "torch._library": "custom_ops",
    "torch._logging": "_internal",
    "torch._prims_common": "wrappers",
    "torch.compiler": "config",
    "torch.distributed.checkpoint": "_extension logger logging_handlers",
    "torch.distributed.fsdp": "_common_utils _init_utils _runtime_utils",
    "torch.distributed.tensor": "_redistribute _utils device_mesh parallel",
    "torch.distributed.tensor.parallel": "api loss style",
    "torch.fx": "_lazy_graph_module tensor_type",
    "torch.fx.experimental": "const_fold",
    "torch.fx.passes": "graph_drawer graph_manipulation infra operator_support param_fetch reinplace split_module split_utils "
    "tools_common",
    "torch.fx.passes.infra": "pass_base pass_manager",
    "torch.multiprocessing": "_atfork",
    "torch.nn.parallel": "_functions scatter_gather",
    "torch.onnx": "operators",
    "torch.quantization": "stubs",
    "torch.utils": "_dtype_abbrs",
}
"""By package, as torch 2.13.0 has them."""


def names(package: str) -> list[str]:
    """Return the submodules of a package that wait."""
    return BOUND.get(package, "").split()


def submodule(package: str, name: str) -> Any:
    """Import and return a submodule that waits, None for every other name."""
    return load(f"mindtorch{package.removeprefix('torch')}.{name}") if name in names(package) else None
