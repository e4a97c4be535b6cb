"""`torch.nn.utils._expanded_weights`: weights whose gradients are kept per example of a batch."""

from mindtorch._naming import adopt

from .expanded_weights_impl import ExpandedWeight as ExpandedWeight

__all__ = ["ExpandedWeight"]

adopt(globals())
