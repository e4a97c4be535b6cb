"""`torch.fx.passes.dialect`: passes for graphs of one set of operators."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
