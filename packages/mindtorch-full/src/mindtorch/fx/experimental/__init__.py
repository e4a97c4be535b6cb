"""`torch.fx.experimental`: passes and tracers that may change."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
