"""What programs tell the cache of the device's memory."""

from __future__ import annotations

from mindtorch.npu import Stream
from mindtorch.tensor.tensor import Tensor
from mindtorch_npu import tracing
from mindtorch_npu.allocator import allocator_of

__all__ = ["erase_stream"]


def erase_stream(tensor: Tensor, stream: Stream) -> None:
    """Take back what `tensor.record_stream(stream)` said: the memory need not wait for the stream.

    The program must have waited for the stream's work itself, with an event.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"tensor should be torch.Tensor, could not be {type(tensor)}")
    if not isinstance(stream, Stream):
        raise TypeError(f"stream should be torch_npu.npu.Stream, could not be {type(stream)}")
    if tensor.device.type != "npu":
        raise RuntimeError(f"erase_stream: the tensor is on {tensor.device}, not on an Ascend device")
    address = tensor.untyped_storage().data_ptr()
    allocator_of(tensor.get_device()).erase_stream(address, stream.npu_stream)
    tracing.tell("erase_stream", address, stream.npu_stream)
