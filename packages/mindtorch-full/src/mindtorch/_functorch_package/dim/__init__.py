"""`functorch.dim`: the error of sizes that do not fit a pattern. Dimensions as objects are not offered."""

from mindtorch.func._rearrange import DimensionBindError as DimensionBindError

__all__ = ["DimensionBindError"]
