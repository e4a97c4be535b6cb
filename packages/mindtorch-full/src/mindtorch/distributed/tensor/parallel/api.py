"""Spreading the modules of a model by a plan."""

from __future__ import annotations

import warnings
from fnmatch import fnmatch
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.device_mesh import _mesh_resources
from mindtorch.distributed.tensor.parallel.style import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Any, device_mesh: Any = None, parallelize_plan: Any = None, *, src_data_rank: int | None = 0
) -> Any:
    """Apply a style to a module, or styles to its modules by name; names may have `*`."""
    mesh = device_mesh or _mesh_resources.get_current_mesh()
    if mesh.ndim != 1:
        raise ValueError(f"Tensor Parallel only accepts a 1D DeviceMesh, but found {mesh.ndim}D!")
    if parallelize_plan is None:
        warnings.warn(
            "No parallelize_plan is provided and auto-parallel is not supported at the moment, so this parallelize_module "
            "call will do nothing.",
            stacklevel=2,
        )
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for parallelize_plan, "
            f"{type(parallelize_plan)} found!"
        )
    for path, style in parallelize_plan.items():
        if path == "":
            parallelize_module(module, mesh, style, src_data_rank=src_data_rank)
            continue
        first, _, rest = path.partition(".")
        found = [child for name, child in module.named_children() if fnmatch(name, first)]
        if not found:
            warnings.warn(
                f"Parallelize plan key '{path}' could not be resolved: no submodule matching token '{first}' in module "
                f"{module}, skipping this plan entry.",
                stacklevel=2,
            )
        for child in found:
            parallelize_module(child, mesh, {rest: style} if rest else style, src_data_rank=src_data_rank)
    return module


adopt(globals())
