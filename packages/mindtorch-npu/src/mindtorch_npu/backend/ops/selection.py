"""Rows that put elements somewhere, order them, count them, or look them up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

REDUCE = {"sum": 1, "add": 1, "prod": 2, "multiply": 2, "amax": 3, "amin": 4, "mean": 5}
_REDUCE, _COPY = Operator("ScatterReduce"), Operator("IndexCopy", outputs=("outRef",))
_ONE_HOT, _RENORM = Operator("OneHot"), Operator("EmbeddingRenorm", outputs=("selfRef",))


def _kept(out: DeviceArray, self: DeviceArray) -> None:
    if out is not self:
        on.copied(out, self)


def _scatter_reduce(
    out: DeviceArray, self: DeviceArray, dim: int, index: DeviceArray, src: DeviceArray, reduce: str, include_self: bool
) -> None:
    if not index.size:
        _kept(out, self)
        return
    _REDUCE((out,), (self, dim, index, src, REDUCE[reduce], include_self))


def _over(x: DeviceArray, index: DeviceArray, dim: int, source: DeviceArray) -> DeviceArray:
    """Return the index of rows as an index of every element of `source`."""
    if not x.ndim:
        return on.reshaped(index, source.shape)
    shape = [index.size if axis == dim else 1 for axis in range(x.ndim)]
    return on.expanded(on.reshaped(index, shape), source.shape)


def _index_reduce(
    out: DeviceArray,
    self: DeviceArray,
    dim: int,
    index: DeviceArray,
    source: DeviceArray,
    reduce: str,
    include_self: bool,
) -> None:
    if not index.size:
        _kept(out, self)
        return
    _REDUCE((out,), (self, dim, _over(self, index, dim, source), source, REDUCE[reduce], include_self))


def _index_copy(
    out: DeviceArray, self: DeviceArray, dim: int, index: DeviceArray, source: DeviceArray, alpha: object
) -> None:
    if index.size and out.size:
        _COPY((out,), (self, dim, index, source))
    else:
        _kept(out, self)


def _put(out: DeviceArray, self: DeviceArray, index: DeviceArray, source: DeviceArray, accumulate: bool) -> None:
    _kept(out, self)
    if index.size:
        launch("aclnnInplacePut", [out, index, source, accumulate])


def _masked_scatter(out: DeviceArray, self: DeviceArray, mask: DeviceArray, source: DeviceArray) -> None:
    _kept(out, self)
    if source.size and out.size:
        launch("aclnnInplaceMaskedScatter", [out, mask, source])


def _search(
    out: DeviceArray,
    sequence: Any,
    values: Any,
    side: object,
    narrow: object = False,
    right: Any = False,
    sorter: object = None,
) -> None:
    if not isinstance(values, DeviceArray):
        values = on.filled(sequence, values, ())
    if sequence.dtype != values.dtype:
        values = values.astype(sequence.dtype)
    on.into(out, "SearchSorted", sequence, values, out.dtype == np.int32, side == "right", sorter)


def _isin(out: Any, elements: Any, test: Any, assume_unique: bool, invert: bool) -> None:
    if not out.size:
        return
    given = [
        x if isinstance(x, DeviceArray) else on.filled(out, x, (), (elements if x is test else test).dtype)
        for x in (elements, test)
    ]
    elements, test = given
    if not test.size:
        launch("aclnnInplaceFillScalar", [out, invert])
        return
    same = on.compare("Eq", on.reshaped(elements, (*elements.shape, 1)), on.reshaped(test, (test.size,)))
    found = on.apply("Any", out.shape, on.BOOL, same, [same.ndim - 1], False)
    on.copied(out, on.each("LogicalNot", found) if invert else found)


def _distinct(self: DeviceArray, ordered: bool, inverse: bool, counts: bool) -> tuple[Any, Any, Any]:
    return _unique("aclnnUnique2", self, inverse, counts, (ordered, inverse, counts))


def _runs(self: DeviceArray, inverse: bool, counts: bool) -> tuple[Any, Any, Any]:
    return _unique("aclnnUniqueConsecutive", self, inverse, counts, (inverse, counts, 1000))


def _unique(
    name: str, self: DeviceArray, inverse: bool, counts: bool, options: tuple[Any, ...]
) -> tuple[Any, Any, Any]:
    room = new_array((self.size,), self.dtype, self.device)
    back, numbers = (new_array(shape, on.INT64, self.device) for shape in (self.shape, (self.size,)))
    none = new_array((0,), on.INT64, self.device)
    if not self.size:
        return room, back if inverse else none, numbers if counts else none
    (found,) = launch(name, [self, *options, room, back, numbers], shape_of=1 + len(options))
    return on.cut(room, 0, 0, found), back if inverse else none, on.cut(numbers, 0, 0, found) if counts else none


def _distinct_rows(self: DeviceArray, consecutive: bool) -> tuple[Any, Any, Any]:
    none = new_array((0,), on.INT64, self.device)
    if not self.size:
        return self, none, none
    room = new_array(self.shape, self.dtype, self.device)
    back, numbers = (new_array(self.shape[:1], on.INT64, self.device) for _ in range(2))
    name = "aclnnUniqueConsecutive" if consecutive else "aclnnUniqueDim"
    found, *_ = launch(name, [self, True, True, 0, room, back, numbers], shape_of=4)
    return on.cut(room, 0, 0, found), back, on.cut(numbers, 0, 0, found)


def _bincount(self: DeviceArray, weights: Any, minlength: int) -> DeviceArray:
    count = minlength
    if self.size:
        count = max(minlength, int(on.apply("Max", (), self.dtype, self).item()) + 1)
    floats = np.float64 if weights is not None and weights.dtype != np.float32 else np.float32
    made = new_array((count,), np.dtype(np.int64 if weights is None else floats), self.device)
    if made.size:
        launch("aclnnBincount", [self, weights, minlength, made])
    return made


def _one_hot(self: DeviceArray, classes: int) -> DeviceArray:
    if classes < 0:
        classes = int(on.apply("Max", (), self.dtype, self).item()) + 1
    if not self.ndim:
        return on.reshaped(_one_hot(on.reshaped(self, (1,)), classes), (classes,))
    made = new_array((*self.shape, classes), self.dtype, self.device)
    if made.size:
        ends = [on.filled(self, value, (1,)) for value in (1, 0)]
        launch("aclnnOneHot", [self, classes, *ends, -1, made])
    return made


def _count_nonzero(out: DeviceArray, self: DeviceArray, dims: Sequence[int] | None = None) -> None:
    kept = on.compare("Ne", self, 0)
    axes = list(range(self.ndim)) if not dims else list(dims)
    if self.size:
        on.into(out, "ReduceSum", kept, axes, False)
    elif out.size:
        launch("aclnnInplaceZero", [out])


def _tiled(lead: int, blocks: int, factor: int, spatial: tuple[int, int]) -> tuple[Any, Any]:
    """Return the shapes of blocks of `factor` by `factor` as channels and as pixels."""
    height, width = spatial
    return (lead, blocks, factor, factor, height, width), (lead, blocks, height, factor, width, factor)


def _pixel_shuffle(out: DeviceArray, self: DeviceArray, factor: int) -> None:
    lead = math.prod(self.shape[:-3])
    shape, _ = _tiled(lead, self.shape[-3] // factor**2, factor, self.shape[-2:])
    on.copied(out, on.reshaped(on.permuted(on.reshaped(self, shape), (0, 1, 4, 2, 5, 3)), out.shape))


def _pixel_unshuffle(out: DeviceArray, self: DeviceArray, factor: int) -> None:
    lead = math.prod(self.shape[:-3])
    _, shape = _tiled(lead, self.shape[-3], factor, out.shape[-2:])
    on.copied(out, on.reshaped(on.permuted(on.reshaped(self, shape), (0, 1, 3, 5, 2, 4)), out.shape))


def _channel_shuffle(out: DeviceArray, self: DeviceArray, groups: int) -> None:
    batch, channels = self.shape[:2]
    parts = on.reshaped(self, (batch, groups, channels // groups, math.prod(self.shape[2:])))
    on.copied(out, on.reshaped(on.permuted(parts, (0, 2, 1, 3)), out.shape))


def _block_diag(out: DeviceArray, tensors: Any) -> None:
    if out.size:
        launch("aclnnInplaceZero", [out])
    row = column = 0
    for one in tensors:
        rows, columns = one.shape if one.ndim == 2 else (1, one.size)
        if one.size:
            place = on.cut(on.cut(out, 0, row, row + rows), 1, column, column + columns)
            on.copied(place, on.reshaped(one, (rows, columns)))
        row, column = row + rows, column + columns


def _triangle(name: str) -> Any:
    def run(out: DeviceArray, rows: int, columns: int, offset: int) -> None:
        if not out.size:
            return
        whole = on.filled(out, 1, (rows, columns), np.int32)
        kept = on.each(name, whole, offset)
        room = new_array((2, rows * columns), on.INT64, out.device)
        launch("aclnnNonzeroV2", [kept, room])
        on.copied(out, on.reshaped(on.cut(on.reshaped(room, (room.size,)), 0, 0, out.size), out.shape))

    return run


def _as_strided_backward(
    out: DeviceArray,
    grad: DeviceArray,
    input_sizes: Sequence[int],
    input_strides: object,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int,
) -> None:
    """Add gradients up in an image of the storage; elements of the input that share one get its share."""

    def numbers(shape: Any, steps: Any, start: int) -> Any:
        total: Any = np.full((), start)
        for n, step in zip(shape, steps, strict=True):
            total = total[..., None] + np.arange(n) * step
        return total.reshape(-1)

    theirs, ours = numbers(size, stride, storage_offset), numbers(input_sizes, input_strides, 0)
    if not ours.size:
        return
    low = int(min(ours.min(), theirs.min() if theirs.size else 0))
    ours, theirs = ours - low, theirs - low
    extent = int(max(ours.max(), theirs.max() if theirs.size else 0)) + 1
    image = on.filled(grad, 0, (extent,))
    if theirs.size:
        launch("aclnnInplacePut", [image, on.constant(theirs, grad), on.reshaped(grad, (grad.size,)), True])
    found = on.apply("Take", (ours.size,), grad.dtype, image, on.constant(ours, grad))
    shares = np.bincount(ours, minlength=extent)[ours]
    if shares.max() > 1:
        found = on.div(found, on.constant(shares.astype(np.float32), grad).astype(grad.dtype))
    on.copied(out, on.reshaped(found, out.shape))


written("scatter_reduce.two", "ScatterReduce", _scatter_reduce)
written("index_reduce", "ScatterReduce", _index_reduce)
written("index_copy", "IndexCopy", _index_copy)
written("put", "InplacePut", _put)
written("masked_scatter", "InplaceMaskedScatter", _masked_scatter)
written(("searchsorted.Tensor", "searchsorted.Scalar"), "SearchSorted", _search)
written(
    "bucketize.Tensor",
    "SearchSorted",
    lambda out, self, bounds, side: _search(out, bounds, self, side),
)
written(("isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor"), "EqTensor", _isin)
aclnn("kthvalue", "Kthvalue", adapt=lambda x, k, dims, keep: (x, k, dims[0] if dims else 0, keep))
aclnn("nanmedian", "NanMedian")
aclnn("nanmedian.dim", "NanMedianDim", adapt=lambda x, dims, keep: (x, dims[0] if dims else 0, keep))
written("_unique2", "Unique2", _distinct)
written("_unique_rows", "UniqueDim", _distinct_rows)
written("_unique_runs", "UniqueConsecutive", _runs)
written("bincount", "Bincount", _bincount)
aclnn("histc", "Histc")
written("one_hot", "OneHot", _one_hot)
aclnn("renorm", "Renorm")
written(
    "embedding_renorm_",
    "EmbeddingRenorm",
    lambda out, self, indices, most, order: _RENORM((out,), (indices, most, order)) if indices.size else None,
)
written(("count_nonzero", "count_nonzero.dim_IntList"), "ReduceSum", _count_nonzero)


def _unfold_backward(out: DeviceArray, grad: DeviceArray, sizes: object, dim: int, size: int, step: int) -> None:
    """The operator has no complex numbers: their parts are added up one by one."""
    if out.dtype.kind == "c":
        for imaginary in (False, True):
            part = on.component(grad, imaginary).packed()
            made = on.apply("UnfoldGrad", out.shape, part.dtype, part, sizes, dim, size, step)
            on.copied(on.component(out, imaginary), made)
    else:
        on.into(out, "UnfoldGrad", grad, sizes, dim, size, step)


written("unfold_backward", "UnfoldGrad", _unfold_backward)
written("pixel_shuffle", "InplaceCopy", _pixel_shuffle)
written("pixel_unshuffle", "InplaceCopy", _pixel_unshuffle)
written(("channel_shuffle", "native_channel_shuffle"), "InplaceCopy", _channel_shuffle)
written("block_diag", "InplaceCopy", _block_diag)
written("tril_indices", "Tril", _triangle("Tril"))
written("triu_indices", "Triu", _triangle("Triu"))
written("as_strided_backward", "InplacePut", _as_strided_backward)
