"""`torch.fx.passes.infra.pass_base`: the form of a pass over a graph module."""

from __future__ import annotations

import abc
from typing import NamedTuple

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph_module import GraphModule
from mindtorch.nn import Module

__all__ = ["PassBase", "PassResult"]


@compatibility(is_backward_compatible=False)
class PassResult(NamedTuple):
    """What a pass gives: the module, and whether it is another than before."""

    graph_module: Module
    modified: bool


@compatibility(is_backward_compatible=False)
class PassBase(abc.ABC):
    """A pass with checks before and after it; its instances are called with the module.

    >>> from torch.fx.passes.infra.pass_base import PassBase, PassResult
    >>> class Clean(PassBase):
    ...     def call(self, module):
    ...         return PassResult(module, module.graph.eliminate_dead_code())
    >>> def f(x):
    ...     x + 1
    ...     return x
    >>> Clean()(torch.fx.symbolic_trace(f)).modified
    True
    """

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        """Check the module, run the pass, check the module, and return what the pass gave."""
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abc.abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Do the pass's work."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027 (a pass may have no condition)
        """Raise if the module is not what the pass takes."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise if the module is not what the pass must leave."""


adopt(globals())
