"""`torch.fx.experimental`: nothing of it is offered; its submodules raise `ModuleNotFoundError`."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
