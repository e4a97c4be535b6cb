"""`torch.fx.passes.utils`: what passes share."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
