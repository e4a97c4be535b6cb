"""`torch.fx.passes.backends`: passes that prepare graphs for a device."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
