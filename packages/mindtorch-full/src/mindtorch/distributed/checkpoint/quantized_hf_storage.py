"""`torch.distributed.checkpoint.quantized_hf_storage`: not offered."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
from mindtorch.distributed.checkpoint.metadata import Metadata

__all__ = ["QuantizedHuggingFaceStorageReader"]


class QuantizedHuggingFaceStorageReader(HuggingFaceStorageReader):
    """Not offered: it would dequantize blocks of tensors while they are read.

    >>> from torch.distributed.checkpoint import HuggingFaceStorageReader, QuantizedHuggingFaceStorageReader
    >>> issubclass(QuantizedHuggingFaceStorageReader, HuggingFaceStorageReader)
    True
    """

    def __init__(
        self, path: str, thread_count: int = 1, target_dtype: torch.dtype = torch.float32, block_size: int = 128
    ) -> None:
        raise NotImplementedError(
            "torch.distributed.checkpoint.quantized_hf_storage.QuantizedHuggingFaceStorageReader is not offered"
        )

    def read_metadata(self) -> Metadata:
        """Return what the files have."""
        return super().read_metadata()


adopt(globals())
