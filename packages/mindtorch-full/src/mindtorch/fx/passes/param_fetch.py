"""`torch.fx.passes.param_fetch`: what a backend needs to know of a module that a node calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule

__all__ = ["default_matching", "extract_attrs_for_lowering", "lift_lowering_attrs_to_nodes"]


@compatibility(is_backward_compatible=False)
def default_matching(name: str, target_version: int) -> str:
    """Return the name itself: an attribute is called the same in every version of its module.

    >>> torch.fx.passes.param_fetch.default_matching("weight", 1)
    'weight'
    """
    return name


_CONV = ["weight", "bias", "kernel_size", "stride", "padding", "dilation", "groups", "padding_mode"]
_POOL = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]

module_fetch_book: dict[type, tuple[int, list[str], Callable[[str, int], str]]] = {
    nn.Linear: (1, ["weight", "bias"], default_matching),
    nn.Conv2d: (1, _CONV, default_matching),
    nn.BatchNorm2d: (2, ["weight", "bias", "running_mean", "running_var", "eps"], default_matching),
    nn.AdaptiveAvgPool2d: (1, [], default_matching),
    nn.MaxPool2d: (1, _POOL, default_matching),
    nn.ReLU: (1, ["inplace"], default_matching),
}
"""For each class the newest version it is known in, its attributes, and how to find them in a version."""


@compatibility(is_backward_compatible=False)
def extract_attrs_for_lowering(mod: nn.Module) -> dict[str, Any]:
    """Return a module's type, as `name`, and its attributes that the table lists.

    Raises:
        RuntimeError: the table has no row for it, or one for an older version.

    >>> sorted(torch.fx.passes.param_fetch.extract_attrs_for_lowering(torch.nn.Linear(2, 1)))
    ['bias', 'name', 'weight']
    """
    if type(mod) not in module_fetch_book:
        raise RuntimeError(
            f"{torch.typename(mod)} is not in the module_fetch_book yet, please add it to the module_fetch_book, open an "
            "issue and @842974287 or report a bug to AIACC team directly."
        )
    version, names, matching = module_fetch_book[type(mod)]
    if version < mod._version:
        raise RuntimeError(
            f"Fetcher version {version} try to fetch {torch.typename(mod)} version {mod._version}, please upgrade the "
            "module_fetch_book, open an issue and @842974287 or report a bug to AIACC team directly."
        )
    return {"name": torch.typename(mod), **{name: getattr(mod, matching(name, mod._version)) for name in names}}


@compatibility(is_backward_compatible=False)
def lift_lowering_attrs_to_nodes(fx_module: GraphModule) -> None:
    """Write what `extract_attrs_for_lowering` gives into the attribute `attrs_for_lowering` of nodes that call modules."""
    modules = dict(fx_module.named_modules())
    for node in fx_module.graph.nodes:
        if node.op != "call_module":
            continue
        called = modules[node.target]
        if isinstance(called, GraphModule):
            lift_lowering_attrs_to_nodes(called)
        else:
            node.attrs_for_lowering = extract_attrs_for_lowering(called)


adopt(globals())
