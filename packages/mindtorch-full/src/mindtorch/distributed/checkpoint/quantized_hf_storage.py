"""`torch.distributed.checkpoint.quantized_hf_storage`: not offered."""

from mindtorch._naming import adopt
from mindtorch.distributed._not_offered import classes

globals().update(classes(__name__, "QuantizedHuggingFaceStorageReader"))

__all__ = ["QuantizedHuggingFaceStorageReader"]  # noqa: F822 - made above

adopt(globals())
