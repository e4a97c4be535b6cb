"""`torch.fx.passes.infra`: what passes over graphs are made of."""

from mindtorch._naming import adopt

from . import pass_manager as pass_manager

__all__: list[str] = []

adopt(globals())
