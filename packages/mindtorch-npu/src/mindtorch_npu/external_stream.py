"""Streams that other libraries made."""

from __future__ import annotations

import os
from typing import Any

from mindtorch_npu.stream import Stream
from mindtorch_npu.typing import DeviceLike


class ExternalStream(Stream):
    """A stream that another library made and will destroy. That library knows when it is done: `query` and `synchronize`
    raise RuntimeError.

    >>> given = torch.npu.Stream()
    >>> torch.npu.ExternalStream(given.npu_stream).npu_stream == given.npu_stream
    True
    """

    def __init__(self, stream_ptr: int, device: object = None, **kwargs: Any) -> None:
        super().__init__(device, npu_stream=stream_ptr, **kwargs)

    @property
    def npu_stream(self) -> int:
        """ACL's handle. RuntimeError where every stream has a queue of its own."""
        if os.environ.get("PER_STREAM_QUEUE") == "1":
            raise RuntimeError(
                "External NPU stream is not supported in NPUStream::stream() with per-stream task queue."
            )
        return self._handle

    def query(self) -> bool:
        """Raise RuntimeError."""
        raise RuntimeError(
            "Cannot query external NPU stream status. The caller must track stream completion externally."
        )

    def synchronize(self) -> None:
        """Raise RuntimeError."""
        raise RuntimeError(
            "External NPU stream is not supported in NPUStream::synchronize. The caller is responsible for "
            "synchronization of external streams."
        )


def get_stream_from_external(data_ptr: int, device: DeviceLike | None = None) -> Stream:
    """Return the stream of a handle that another library made.

    >>> given = torch.npu.Stream()
    >>> torch.npu.get_stream_from_external(given.npu_stream).npu_stream == given.npu_stream
    True
    """
    return ExternalStream(data_ptr, device)
