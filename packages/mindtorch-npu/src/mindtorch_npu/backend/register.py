"""Rows of the operator table on the device: a line says which of the vendor's operators computes a row.

    aclnn("mul.Tensor", "Mul", scalar="Muls")

A row's kernel is called with what the meta rule answers: outputs, then operands in schema order. They are passed to the
operator's C parameters in order; outputs go where the C signature writes. Where the orders differ, `adapt` returns the
operator's inputs in order. Parameters with one meaning everywhere (`cubeMathType`, data types) need no mention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.table import register_kernel
from mindtorch_npu import switches
from mindtorch_npu.aclnn import signatures
from mindtorch_npu.backend.arrays import DeviceArray, from_host, new_array
from mindtorch_npu.backend.binding import kind_of, launch, operator_of
from mindtorch_npu.backend.dtypes import code_of
from mindtorch_npu.backend.planned import planned

INPUT, DTYPE = -1, -2

rows: dict[str, str] = {}
"""Row to the operator that computes it."""


class Operator:
    """One of the vendor's operators and how its C parameters are filled."""

    def __init__(self, name: str, outputs: Sequence[str] | None = None, fixed: dict[str, Any] | None = None) -> None:
        self.name = "aclnn" + name
        self.params = [(kind_of(text), text, label) for text, label in signatures()[self.name]["params"][:-2]]
        if outputs is None:
            written = [label for kind, text, label in self.params if kind == "aclTensor*" and "const" not in text]
            outputs = written or [label for kind, _, label in self.params if kind == "aclTensor*"][-1:]
            if name.startswith("Inplace"):
                outputs = [self.params[0][2]]
        self.outputs = list(outputs)
        self.fixed = fixed or {}

    def sources(self) -> tuple[Any, ...]:
        """Return where the arguments come from as the native call path takes it: see `launch/form.cpp` there."""
        found: list[Any] = []
        for kind, _, label in self.params:
            if label in self.outputs:
                found.append(self.outputs.index(label))
            elif label in self.fixed:
                found.append((self.fixed[label],))
            elif label == "cubeMathType":
                found.append((switches.cube_math, "conv" if "Conv" in self.name else "matmul"))
            else:
                found.append(DTYPE if kind == "aclDataType" else INPUT)
        return tuple(found)

    def __call__(self, outs: Sequence[Any], inputs: Sequence[Any]) -> None:
        """Launch with outputs and inputs, each in order."""
        given, made = iter(inputs), iter(outs)
        arguments: list[Any] = []
        like = next(out for out in outs if out is not None)
        for kind, _, label in self.params:
            if label in self.outputs:
                arguments.append(next(made, None))
            elif label in self.fixed:
                arguments.append(self.fixed[label])
            elif label == "cubeMathType":
                arguments.append(switches.cube_math["conv" if "Conv" in self.name else "matmul"])
            elif kind == "aclDataType":
                arguments.append(code_of(like.dtype))
            else:
                arguments.append(_operand(kind, next(given), like))
        launch(self.name, arguments)


class Kernel:
    """A row's kernel: one of the vendor's operators, which the native call path launches itself where it was planned."""

    def __init__(
        self, operator: Operator, with_number: Operator | None, adapt: Callable[..., Sequence[Any]] | None
    ) -> None:
        self.operator = operator
        self.with_number = with_number
        self.adapt = adapt
        self._forms: list[Any] = []

    @property
    def __mindtorch_kernel__(self) -> Any:
        """The form for C, of a kernel whose operands are the operator's in order."""
        if self.adapt is not None or native_path.form is None or planned.native is None:
            raise AttributeError("__mindtorch_kernel__")
        if not self._forms:
            forms = [
                native_path.form(planned.native, one.name, one.name, one.sources(), _native_operator)
                for one in (self.operator, self.with_number)
                if one is not None
            ]
            self._forms.append(forms[0].capsule(*forms[1:]))
        return self._forms[0]

    def __call__(self, out: Any, *values: Any) -> None:
        """Launch, unless nothing is to be computed."""
        chosen = self.operator
        if self.with_number is not None and len(values) > 1 and not isinstance(values[1], (DeviceArray, np.ndarray)):
            chosen = self.with_number
        inputs = values if self.adapt is None else self.adapt(*values)
        outs = out if isinstance(out, tuple) else (out,)
        if any(one is not None and one.size for one in outs):
            chosen(outs, inputs)


def _native_operator(name: str) -> Any:
    """Return what launches an operator again, None where there is nothing, or where every launch waits."""
    return None if switches.blocking else operator_of(name).native


def _operand(kind: str, value: Any, like: Any) -> Any:
    """Return an operand as the operator's parameter takes it: numbers and host scalars become tensors where needed."""
    if kind == "aclTensor*" and value is not None and not isinstance(value, DeviceArray):
        return _on_device(value, like)
    if kind == "aclScalar*" and isinstance(value, DeviceArray):
        return value.item()
    if kind == "aclTensorList*" and value is not None:
        return [_on_device(item, like) if not isinstance(item, DeviceArray) else item for item in value]
    return value


def _on_device(value: Any, like: Any) -> DeviceArray:
    if value is None:  # a dimension without index
        return new_array((0,), np.dtype(np.int64), like.device)
    if not isinstance(value, np.ndarray):
        kind = like.dtype if isinstance(value, float) and like.dtype.kind not in "iub" else None
        value = np.asarray(value, np.float32 if isinstance(value, float) and kind is None else kind)
    return from_host(value, like.device)


def aclnn(
    row: str | Sequence[str],
    name: str,
    *,
    scalar: str | None = None,
    adapt: Callable[..., Sequence[Any]] | None = None,
    outputs: Sequence[str] | None = None,
    fixed: dict[str, Any] | None = None,
) -> None:
    """Let operator `aclnn<name>` compute rows.

    Args:
        row: the row, or several.
        name: the operator, without `aclnn`.
        scalar: the operator for a second operand that is a number.
        adapt: makes the operator's inputs of the row's operands.
        outputs: the parameters that are written, where the C types do not tell.
        fixed: values of parameters that are always the same.
    """
    operator = Operator(name, outputs, fixed)
    run = Kernel(operator, Operator(scalar) if scalar else None, adapt)
    _register((row,) if isinstance(row, str) else row, run, operator.name)


def written(
    row: str | Sequence[str], name: str, fn: Callable[..., Any], takes: Callable[..., bool] | None = None
) -> None:
    """Let `fn(out, *operands)` compute rows by launching operators, `aclnn<name>` first of all.

    Of rows that are composed where there is no kernel, `takes` says by a call's values whether there is one for them.
    """
    _register((row,) if isinstance(row, str) else row, fn, "aclnn" + name, takes)


def _register(
    names: Sequence[str], fn: Callable[..., Any], operator: str, takes: Callable[..., bool] | None = None
) -> None:
    register_kernel("npu", names, fn, upcast=False, takes=takes)
    rows.update(dict.fromkeys(names, operator))
