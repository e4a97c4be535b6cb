"""`torch.fx.passes.fake_tensor_prop`: noting a fake tensor for each value of a graph."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter
from mindtorch.fx.node import Node, map_aggregate

__all__ = ["FakeTensorProp"]


@compatibility(is_backward_compatible=False)
class FakeTensorProp(Interpreter):
    """Runs a graph on fake tensors, which have no data, and writes each node's value into its `meta["val"]`.

    Args:
        module: the program.
        mode: makes the fake tensors; a new one without it.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.fake_tensor_prop import FakeTensorProp
    >>> made = FakeTensorProp(graph).propagate(torch.ones(2, 3))
    >>> made.shape, type(made).__name__
    (torch.Size([2, 3]), 'FakeTensor')
    """

    def __init__(self, module: GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def run_node(self, n: Node) -> Any:
        """Return what a node gives, and note it."""
        result = super().run_node(n)
        meta = map_aggregate(result, self._noted)
        if meta is not None:
            n.meta["val"] = meta
        return result

    def _noted(self, value: Any) -> Any:
        """Return what is kept of a value: an alias of a tensor, so that a later change of its shape does not show."""
        if isinstance(value, torch.Tensor):
            fake = value if self._mode.is_our_fake(value) else self._mode.from_tensor(value)
            return fake.detach()
        return value if isinstance(value, int | float | torch.SymInt | torch.SymFloat | torch.SymBool) else None

    def propagate(self, *args: Any) -> Any:
        """Run the graph on fake tensors like these arguments, and return its result."""
        fakes = [self._mode.from_tensor(one) if isinstance(one, torch.Tensor) else one for one in args]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Run the graph on these arguments, whose tensors are fake, and return its result."""
        with self._mode:
            return super().run(*args)


adopt(globals())
