"""`torch.fx._lazy_graph_module`: graph modules, which here are compiled at once."""

from mindtorch._naming import adopt
from mindtorch.fx.graph_module import GraphModule, _make_graph_module  # noqa: F401 (its home in torch)


def _get_graph_module_cls() -> type[GraphModule]:
    """Return the class of new graph modules."""
    return GraphModule


adopt(globals())
