"""When numbers are quantized: as they come, once for all, in weights alone, or while training."""

import enum

from mindtorch._naming import adopt

__all__ = ["QuantType"]


class QuantType(enum.IntEnum):
    """The kinds of quantization.

    >>> import torch.ao.quantization as quantization
    >>> [one.name for one in quantization.QuantType]
    ['DYNAMIC', 'STATIC', 'QAT', 'WEIGHT_ONLY']
    """

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


adopt(globals())
