"""`torch.fx.passes`: programs that read and change graphs."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
