"""`torch.fx.passes.utils`: parts of passes."""

from mindtorch._naming import adopt

from .common import HolderModule as HolderModule
from .common import compare_graphs as compare_graphs
from .common import lift_subgraph_as_module as lift_subgraph_as_module

__all__: list[str] = []

adopt(globals())
