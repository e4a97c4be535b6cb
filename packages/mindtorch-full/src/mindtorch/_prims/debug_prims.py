"""`torch._prims.debug_prims`: an operator that gives tensors of a content store, or random ones outside of a reader's block."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import mindtorch as torch
from mindtorch import library
from mindtorch._dynamo.testing import rand_strided
from mindtorch._naming import adopt
from mindtorch.utils._content_store import ContentStoreReader

__all__ = ["load_tensor_reader"]

_readers: list[ContentStoreReader] = []


@contextlib.contextmanager
def load_tensor_reader(loc: str) -> Iterator[None]:
    """Have `torch.ops.debugprims.load_tensor` read from this content store within the block; no two results share memory."""
    if _readers:
        raise AssertionError("LOAD_TENSOR_READER is already set")
    _readers.append(ContentStoreReader(loc, cache=False))
    try:
        yield
    finally:
        _readers.clear()


def _load_tensor(
    name: str, size: Sequence[int], stride: Sequence[int], *, dtype: torch.dtype, device: torch.device
) -> torch.Tensor:
    if not _readers:
        return rand_strided(size, stride, dtype, device)
    made: torch.Tensor = _readers[0].read_tensor(name, device=device)
    for found, wanted in ((list(made.shape), list(size)), (list(made.stride()), list(stride)), (made.device, device)):
        if found != wanted:
            raise AssertionError(f"{found} != {wanted}")
    return made.to(dtype)


library.define(
    "debugprims::load_tensor", "(str name, int[] size, int[] stride, *, ScalarType dtype, Device device) -> Tensor"
)
library.impl("debugprims::load_tensor", "CompositeImplicitAutograd", _load_tensor)

adopt(globals())
