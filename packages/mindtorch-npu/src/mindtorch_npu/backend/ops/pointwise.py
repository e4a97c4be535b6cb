"""Elementwise arithmetic, comparisons and functions."""

from __future__ import annotations

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, aclnn, written

TRUNC, FLOOR = 1, 2

for _row, _name in {
    "exp": "Exp", "exp2": "Exp2", "expm1": "Expm1", "log": "Log", "log2": "Log2", "log10": "Log10", "log1p": "Log1p",
    "sqrt": "Sqrt", "rsqrt": "Rsqrt", "reciprocal": "Reciprocal", "sin": "Sin", "cos": "Cos", "tan": "Tan",
    "asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh",
    "acosh": "Acosh", "atanh": "Atanh", "erf": "Erf", "erfc": "Erfc", "erfinv": "Erfinv", "sigmoid": "Sigmoid",
    "lgamma": "Lgamma", "digamma": "Digamma", "abs": "Abs", "neg": "Neg", "sign": "Sign", "signbit": "Signbit",
    "floor": "Floor", "ceil": "Ceil", "round": "Round", "trunc": "Trunc", "frac": "Frac", "isfinite": "IsFinite",
    "isposinf": "IsPosInf", "isneginf": "IsNegInf", "bitwise_not": "BitwiseNot",
    "logical_not": "LogicalNot", "sinc": "Sinc", "round.decimals": "RoundDecimals",
}.items():  # fmt: skip
    aclnn(_row, _name)


def _both(row: str, name: str, scalar: str | None) -> None:
    aclnn((f"{row}.Tensor", f"{row}.Scalar"), name, scalar=scalar)


def _with_numbers(row: str, tensors: str, scalars: str, *, first: str | None = None) -> None:
    """Rows whose second operand, or first, may be a number."""
    both, second = Operator(tensors), Operator(scalars)
    number_first = Operator(first) if first else None

    def run(out: DeviceArray, self: DeviceArray | int, other: DeviceArray, *rest: object) -> None:
        if not out.size:
            return
        if not isinstance(other, (DeviceArray, np.ndarray)):
            second((out,), (self, other, *rest))
        elif number_first is not None and not isinstance(self, (DeviceArray, np.ndarray)):
            number_first((out,), (self, other, *rest))
        else:
            both((out,), (self, other, *rest))

    written(row, tensors, run)


_both("add", "Add", "Adds")
_both("sub", "Sub", "Subs")
_both("rsub", "Rsub", "Rsubs")
_both("mul", "Mul", "Muls")
_both("div", "Div", "Divs")
aclnn("floor_divide", "FloorDivide", scalar="FloorDivides")
for _kind, _mode in (("trunc", TRUNC), ("floor", FLOOR)):
    for _overload in ("Tensor", "Scalar"):
        aclnn(f"_div_{_kind}.{_overload}", "DivMod", adapt=lambda x, y, mode=_mode: (x, y, mode))
for _overload in ("Scalar", "Scalar_Tensor"):
    _with_numbers(
        f"remainder.{_overload}", "RemainderTensorTensor", "RemainderTensorScalar", first="RemainderScalarTensor"
    )


def _remainder(out: DeviceArray, self: DeviceArray, other: DeviceArray) -> None:
    """Of two tensors; int64, which the operator lacks, by way of the quotient."""
    arrays = isinstance(self, DeviceArray) and isinstance(other, DeviceArray)
    if arrays and out.dtype == np.int64:
        x, y = (one if one.dtype == out.dtype else one.astype(out.dtype) for one in (self, other))
        on.copied(out, on.sub(x, on.mul(on.both("FloorDivide", x, y), y)))
    elif out.size:
        name = "Remainder" + (
            "TensorTensor" if arrays else "TensorScalar" if isinstance(self, DeviceArray) else "ScalarTensor"
        )
        Operator(name)((out,), (self, other))


written("remainder.Tensor", "RemainderTensorTensor", _remainder)
for _overload in ("Tensor", "Scalar"):
    _with_numbers(f"fmod.{_overload}", "FmodTensor", "FmodScalar")
for _overload in ("Tensor_Tensor", "Tensor_Scalar", "Scalar"):
    _with_numbers(f"pow.{_overload}", "PowTensorTensor", "PowTensorScalar", first="PowScalarTensor")
for _row, _name in {"eq": "Eq", "ne": "Ne", "gt": "Gt", "ge": "Ge", "lt": "Lt", "le": "Le"}.items():
    for _overload in ("Tensor", "Scalar"):
        _with_numbers(f"{_row}.{_overload}", f"{_name}Tensor", f"{_name}Scalar")
for _row in ("and", "or", "xor"):
    for _overload in ("Tensor", "Scalar", "Scalar_Tensor"):
        _with_numbers(f"bitwise_{_row}.{_overload}", f"Bitwise{_row.title()}Tensor", f"Bitwise{_row.title()}Scalar")
    aclnn(f"logical_{_row}", f"Logical{_row.title()}")
written("isnan", "NeTensor", lambda out, self: launch("aclnnNeTensor", [self, self, out]))


def _sgn(out: DeviceArray, self: DeviceArray) -> None:
    """The sign; of a complex number, which the operator lacks, the number over its length."""
    if self.dtype.kind != "c":
        on.into(out, "Sign", self)
        return
    if not out.size:
        return
    parts = [on.component(self, imaginary) for imaginary in (False, True)]
    length = on.each("Sqrt", on.add(*(on.mul(part, part) for part in parts)))
    safe = on.where(on.compare("Eq", length, 0), on.filled(length, 1.0), length)
    for imaginary, part in enumerate(parts):
        on.copied(on.component(out, bool(imaginary)), on.div(part, safe))


written("sgn", "Sign", _sgn)
aclnn("isinf", "IsInf")
aclnn("maximum", "Maximum")
aclnn("minimum", "Minimum")
aclnn("atan2", "Atan2")
aclnn("logaddexp", "LogAddExp")
aclnn("logaddexp2", "LogAddExp2")
aclnn("heaviside", "Heaviside")
aclnn("gcd", "Gcd")
aclnn("xlogy.Tensor", "XLogYTensor")
aclnn("addcmul", "Addcmul")
aclnn("addcdiv", "Addcdiv")
aclnn("lerp.Tensor", "Lerp")
aclnn("lerp.Scalar", "Lerps")
aclnn(("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar"), "SWhere")
aclnn("clamp", "Clamp")
aclnn(("clamp_min",), "ClampMin")
aclnn(("clamp_max",), "ClampMax")
aclnn("clamp_min.Tensor", "ClampMinTensor")
aclnn("clamp_max.Tensor", "ClampMaxTensor")


def _clamp_tensor(out: DeviceArray, self: DeviceArray, low: DeviceArray, high: DeviceArray) -> None:
    bounds = [None if bound is None else bound for bound in (low, high)]
    if bounds[0] is None:
        Operator("ClampMaxTensor")((out,), (self, high))
    elif bounds[1] is None:
        Operator("ClampMinTensor")((out,), (self, low))
    else:
        Operator("ClampTensor")((out,), (self, low, high))


written("clamp.Tensor", "ClampTensor", _clamp_tensor)


def _masked_fill(out: DeviceArray, self: DeviceArray, mask: DeviceArray, value: float) -> None:
    if out is not self:
        launch("aclnnInplaceCopy", [out, self])
    if isinstance(value, DeviceArray):
        launch("aclnnInplaceMaskedFillTensor", [out, mask, value])
    else:
        launch("aclnnInplaceMaskedFillScalar", [out, mask, value])


written(("masked_fill.Scalar", "masked_fill.Tensor"), "InplaceMaskedFillScalar", _masked_fill)


def _nan_to_num(out: DeviceArray, self: DeviceArray, nan: float | None, high: float | None, low: float | None) -> None:
    limits = np.finfo(self.dtype if self.dtype.name in ("float16", "float32", "float64") else np.float32)
    high = float(limits.max) if high is None else high
    launch("aclnnNanToNum", [self, nan or 0.0, high, float(limits.min) if low is None else low, out])


written("nan_to_num", "NanToNum", _nan_to_num)
aclnn("bitwise_left_shift.Tensor", "LeftShift")
aclnn("bitwise_left_shift.Tensor_Scalar", "LeftShifts")
aclnn("bitwise_right_shift.Tensor", "RightShift")
aclnn(("xlogy.Scalar_Other", "xlogy.Scalar_Self"), "XLogYTensor")
aclnn("complex", "Complex")
aclnn("polar", "Polar")
