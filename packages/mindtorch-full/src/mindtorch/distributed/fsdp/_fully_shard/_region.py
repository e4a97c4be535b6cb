"""Memory for whole parameters whose pages can be given back while tensors still name it."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

import numpy as np

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor

_ALIGNMENT = 64
_DISCARDS = hasattr(mmap, "MADV_DONTNEED") and hasattr(mmap, "MAP_PRIVATE")


class Region:
    """Arrays behind one another.

    A whole parameter is freed after forward and filled again for backward, while the graph's tensors keep its address. On
    the host the pages go back to the system and the address stays, so no tensor need be told. A device's storage is
    resized instead, as is the host's where the system cannot do that.
    """

    def __init__(self, numels: Sequence[int], dtypes: Sequence[torch.dtype], device: torch.device) -> None:
        self._numels, self._dtypes, self._starts = list(numels), list(dtypes), [0]
        for numel, dtype in zip(numels, dtypes, strict=True):
            size = numel * dtype.itemsize
            self._starts.append(self._starts[-1] + -(-size // _ALIGNMENT) * _ALIGNMENT)
        self._nbytes = max(self._starts[-1], 1)
        self._map: mmap.mmap | None = None
        if device.type == "cpu" and _DISCARDS:
            self._map = mmap.mmap(-1, self._nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._bytes = torch.empty(self._nbytes, dtype=torch.uint8, device=device)

    def array(self, index: int) -> Tensor:
        """Return one of the arrays, flat, with a version counter of its own."""
        size = self._numels[index] * self._dtypes[index].itemsize
        if self._map is not None:
            whole = torch.from_numpy(np.frombuffer(self._map, np.uint8))
        else:
            whole = torch.empty(0, dtype=torch.uint8, device=self._bytes.device)
            whole.set_(self._bytes.untyped_storage(), 0, (self._nbytes,), (1,))
        return whole.narrow(0, self._starts[index], size).view(self._dtypes[index])

    def hold(self) -> None:
        """Have memory for the arrays."""
        if self._map is None and self._bytes.untyped_storage().nbytes() == 0:
            self._bytes.untyped_storage().resize_(self._nbytes)

    def discard(self) -> None:
        """Give the memory back; the arrays' elements are lost."""
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)
        else:
            self._bytes.untyped_storage().resize_(0)
