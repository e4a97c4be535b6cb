"""`torch.fx.passes.dialect.common`: passes for any set of functional operators."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
