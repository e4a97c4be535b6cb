"""When numbers are quantized: as they come, once for all, in weights alone, or while training."""

import enum

from mindtorch._naming import adopt

__all__ = ["QuantType"]


class QuantType(enum.IntEnum):
    """The kinds of quantization."""

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


adopt(globals())
