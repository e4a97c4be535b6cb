"""Products with weights of 8 and of 4 bits, which are packed by rows and scaled by rows or by groups of columns.

Weights of 4 bits are packed as torch packs them on processors with vectors of 512 bits: blocks of 64 rows, or what is left
of them, each by columns; a byte has rows `i` and `i + 32` of a whole block, and rows `2 i` and `2 i + 1` of a smaller one.
"""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bfloat16, float16, float32, int8, int32, uint8

from ..call import aten
from ..meta.checks import check, wrap_dim
from ..typing import Tensor

_BLOCK = 64
_GROUPS = (32, 64, 128, 256)
_INT8, _INT4 = "_weight_int8pack_mm_cpu", "_weight_int4pack_mm_cpu"


def _check_products(name: str, self: Any, weight: Any, scales: Any) -> None:
    check(
        self.dtype in (float32, float16, bfloat16),
        lambda: f"{name} : expect A to be either 32-bit or 16-bit float tensor.",
    )
    wrap_dim(1, self.dim())
    wrap_dim(1, weight.dim())
    shown = {float32: "Float", float16: "Half", bfloat16: "BFloat16"}
    if scales.dtype is not self.dtype:
        found = shown.get(scales.dtype, scales.dtype.scalar_name)
        raise RuntimeError(f"expected scalar type {shown[self.dtype]} but found {found}")


def _product(self: Tensor, weight: Any, scales: Any = None) -> Any:
    """Return `self @ weight.T * scales`, computed in single precision and rounded once."""
    product = aten.matmul(self.to(float32), aten.t(weight))
    return (product if scales is None else aten.mul(product, scales.to(float32))).to(self.dtype)


def int8_product(self: Tensor, mat2: Tensor, scales: Tensor) -> Any:
    """`self @ mat2.T`, where each row of `mat2` has a scale."""
    rows = mat2.shape[0]
    if self.dtype in (float32, float16, bfloat16) and self.dim() == 2:
        check(self.stride(1) == 1, lambda: f"{_INT8} : A must be contiguous on the last dimension.")
        check(mat2.dtype is int8, lambda: f"{_INT8} : expect B to be int8 tensor.")
        check(mat2.is_contiguous(), lambda: f"{_INT8} : expect B to be contiguous.")
        if mat2.dim() == 2:
            check(mat2.shape[1] == self.shape[1], lambda: f"{_INT8} : expect B.size(1) == {self.shape[1]}")
            size = f"{_INT8} : expect scales to be 1d tensor with size {rows}"
            check(scales.dim() == 1 and scales.shape[0] == rows, lambda: size)
    _check_products(_INT8, self, mat2, scales)
    return _product(self, mat2.to(float32), scales)


def int4_packed(self: Tensor, innerKTiles: int) -> Any:
    """The numbers from 0 to 15 of a matrix, two in a byte."""
    name = "_convert_weight_to_int4pack_cpu"
    check(self.dtype is int32, lambda: f"{name} : expect weight to be kInt.")
    check(self.dim() == 2, lambda: f"{name} : expect weight to be 2D tensor.")
    rows, columns = self.shape
    check(rows % 16 == 0, lambda: f"{name} : expect N to be dividable by 16")
    check(columns % 2 == 0, lambda: "_convert_weight_to_int4pack: expect K to be dividable by 2")
    packed = []
    for low, high in (_halves(block) for block in aten.split(self, _BLOCK)):
        both = aten.bitwise_or(low, aten.bitwise_left_shift(high, 4))
        packed.append(aten.reshape(aten.t(both), [-1]))
    return aten.reshape(aten.cat(packed).to(uint8), [rows, columns // 2])


def _halves(block: Any) -> tuple[Any, Any]:
    """Return the rows of a block that are the lower and the higher halves of its bytes."""
    if block.shape[0] == _BLOCK:
        return block[: _BLOCK // 2], block[_BLOCK // 2 :]
    return block[::2], block[1::2]


def _unpacked(packed: Tensor) -> Any:
    """Return the numbers of packed weights, by rows."""
    rows, columns = packed.shape[0], packed.shape[1] * 2
    blocks = []
    for block in aten.split(packed, _BLOCK):
        count = block.shape[0]
        halves = aten.t(aten.reshape(block, [columns, count // 2]))
        pair = [aten.bitwise_and(halves, 15), aten.bitwise_right_shift(halves, 4)]
        blocks.append(aten.cat(pair) if count == _BLOCK else aten.reshape(aten.stack(pair, 1), [count, columns]))
    return aten.reshape(aten.cat(blocks), [rows, columns])


def int4_product(self: Tensor, mat2: Tensor, qGroupSize: int, qScaleAndZeros: Tensor) -> Any:
    """`self @ mat2.T` of weights that `_convert_weight_to_int4pack_for_cpu` packed.

    A group of `qGroupSize` columns of a row stands for `(number - 8) * scale + zero`.
    """
    if self.dtype in (float32, float16, bfloat16) and self.dim() == 2:
        rows, columns = mat2.shape[0], self.shape[1]
        check(self.is_contiguous(), lambda: f"{_INT4} : expect A to be contiguous.")
        check(mat2.dtype is uint8, lambda: f"{_INT4} : expect B to be uint8 tensor.")
        check(mat2.is_contiguous(), lambda: f"{_INT4} : expect B to be contiguous.")
        if mat2.dim() == 2:
            check(mat2.shape[1] == columns // 2, lambda: f"{_INT4} : expect B.size(1) to be K/2, got {mat2.shape[1]}")
            fits = qGroupSize in _GROUPS
            check(fits, lambda: f"{_INT4}: expect qGroupSize to be 32, 64, 128 or 256, got {qGroupSize}")
            shape = tuple(qScaleAndZeros.shape)
            size = f"{_INT4}: expect qScaleAndZeros to be 3d tensor with sizes [:, {rows}, 2]"
            check(len(shape) == 3 and shape[1:] == (rows, 2), lambda: size)
    _check_products(_INT4, self, mat2, qScaleAndZeros)
    scale, zero = (aten.t(part.to(float32)) for part in aten.unbind(qScaleAndZeros, 2))
    numbers = aten.sub(_unpacked(mat2).to(float32), 8.0)
    groups = aten.reshape(numbers, [mat2.shape[0], -1, qGroupSize])
    weight = aten.add(aten.mul(groups, aten.unsqueeze(scale, 2)), aten.unsqueeze(zero, 2))
    return _product(self, aten.reshape(weight, list(numbers.shape)))
