"""`torch.cpu.amp.autocast`: the old name of `torch.amp.autocast("cpu")`, which warns."""

import warnings

from mindtorch import amp
from mindtorch._naming import adopt
from mindtorch_storage.dtype import bfloat16
from mindtorch_storage.dtype import dtype as DType

__all__ = ["autocast"]


class autocast(amp.autocast):
    """`torch.amp.autocast("cpu", ...)`.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> with torch.cpu.amp.autocast():
    ...     print((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)
    torch.bfloat16
    """

    def __init__(self, enabled: bool = True, dtype: DType = bfloat16, cache_enabled: bool = True) -> None:
        warnings.warn(
            "`torch.cpu.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cpu', args...)` instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


adopt(globals())
