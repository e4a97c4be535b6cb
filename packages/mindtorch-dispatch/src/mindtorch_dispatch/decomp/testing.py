"""What operators for tests compute: copies, mostly."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as boolean

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor


def copied(self: Tensor, *options: object) -> Any:
    """A copy of `self`."""
    return aten.clone(self)


def flat(self: Tensor) -> Any:
    """A view of all elements in one dimension."""
    return aten.view(self, [-1])


def checked(self: Tensor) -> Any:
    """A copy of `self`, all of whose elements hold."""
    check(self.dtype is boolean, lambda: "self.scalar_type() == at::kBool INTERNAL ASSERT FAILED")
    check(bool(aten.all(self)), lambda: "Test message for TORCH_CHECK_TENSOR_ALL")
    return aten.clone(self)
