"""Elements by index; joining and moving."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

_PUT = Operator("IndexPutImpl", outputs=("selfRef",))
_FLIP = Operator("Flip")
REDUCE = {None: 0, "add": 1, "multiply": 2}


def _wide(index: DeviceArray) -> Any:
    """Return an index in a dtype that the operators take."""
    return index if index.dtype.name in ("int64", "int32") else index.astype("int64")


def _scatter(
    out: DeviceArray,
    self: DeviceArray,
    dim: int,
    index: DeviceArray,
    src: DeviceArray | float,
    reduce: str | None,
    include_self: bool,
) -> None:
    index = _wide(index)
    operator = "aclnnScatter" if hasattr(src, "storage") else "aclnnScatterValue"
    if index.size:
        launch(operator, [self, dim, index, src, REDUCE[reduce], out])
    elif out is not self and out.size:
        launch("aclnnInplaceCopy", [out, self])


def _put(
    out: DeviceArray,
    self: DeviceArray,
    indices: Sequence[DeviceArray | None] | Sequence[DeviceArray],
    values: DeviceArray,
    accumulate: bool,
) -> None:
    if out.size and out is not self:
        launch("aclnnInplaceCopy", [out, self])
    _PUT((out,), (indices, values, accumulate, True))


def _flip(out: DeviceArray, self: DeviceArray, dims: Sequence[int]) -> None:
    """The operator moves no double: its bits are moved as a whole number's."""
    if out.size:
        if self.dtype == np.float64:
            whole = np.dtype(np.int64)
            self, out = (DeviceArray(one.storage, one.shape, whole, one.steps, one.offset) for one in (self, out))
        _FLIP((out,), (self, dims))


written("index_put", "IndexPutImpl", _put)
aclnn("gather", "Gather", adapt=lambda x, dim, index, *options: (x, dim, _wide(index)))
aclnn("scatter_add", "ScatterAdd", adapt=lambda x, dim, index, src, *options: (x, dim, _wide(index), src))
written(("scatter.src", "scatter.value", "scatter.reduce", "scatter.value_reduce"), "Scatter", _scatter)
aclnn("index_select", "IndexSelect")
aclnn("_index_integer", "Index")
aclnn("index_add", "IndexAdd")
aclnn("take", "Take")
aclnn("cat", "Cat")
written("flip", "Flip", _flip)
aclnn("repeat", "Repeat")
aclnn("tril", "Tril")
aclnn("triu", "Triu")
aclnn("constant_pad_nd", "ConstantPadNd")
aclnn("roll", "Roll")
aclnn("index_fill.int_Scalar", "IndexFill", adapt=lambda x, dim, index, value, *rest: (x, dim, index, value))
