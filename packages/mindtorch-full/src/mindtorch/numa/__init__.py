"""`torch.numa`: how worker processes would be bound to processors."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
