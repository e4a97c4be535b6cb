"""The translations of version 9 of the format: none, as nothing is exported; libraries name this module in their own."""

from mindtorch._naming import adopt

__all__: list[str] = []

adopt(globals())
