"""Which dtypes torch's CPU kernels lack. A call in such a dtype raises NotImplementedError naming the kernel.

The meta device has no kernels, so that none lacks a dtype there: results are described for every dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..typing import Tensor
from .rule import MetaRule, Outputs

WIDE_UNSIGNED = frozenset({"uint16", "uint32", "uint64"})
"""Dtypes that only moving and comparing kernels have."""
COMPLEX = frozenset({"complex32", "complex64", "complex128"})
BOOL_NAMES = frozenset({"bool"})
INTEGERS = frozenset({"uint8", "int8", "int16", "int32", "int64"}) | WIDE_UNSIGNED
HALVES = frozenset({"float16", "bfloat16"})
FLOATS = frozenset({"float32", "float64"}) | HALVES


def lacking(dtype: Dtype, kernel: str) -> NotImplementedError:
    """Return torch's error for a kernel that lacks `dtype`."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{dtype.scalar_name}'")


def require(holds: bool, operand: Spec | Tensor, kernel: str) -> None:
    """Raise torch's error for a kernel that has the operand's dtype only where `holds`."""
    if not holds and operand.device.type != "meta":
        raise lacking(operand.dtype, kernel)


def require_floating(operand: Spec | Tensor, kernel: str) -> None:
    """Raise torch's error for a kernel that has floating point dtypes alone."""
    require(operand.dtype.is_floating_point, operand, kernel)


def refuse(operand: Spec | Tensor, kernel: str, without: Collection[str]) -> None:
    """Raise torch's error when the operand's dtype is among the names in `without`."""
    require(operand.dtype.name not in without, operand, kernel)


def refuse_on_meta(operand: Spec, kernel: str, without: Collection[str]) -> None:
    """Raise what a few of torch's meta functions raise when the operand's dtype is among the names in `without`."""
    if operand.device.type == "meta" and operand.dtype.name in without:
        raise RuntimeError(f"\"{kernel}\" not implemented for '{operand.dtype}'")


def limited(rule: MetaRule, kernel: str | Callable[..., str], *without: Iterable[str]) -> MetaRule:
    """Return `rule` for a kernel that lacks the dtypes in `without`, and the wider unsigned ones.

    `kernel` is the name in the message, or a function of the call's values that gives it.
    """
    names = WIDE_UNSIGNED.union(*without)
    unchecked = rule.fn

    def with_check(*values: object) -> Outputs:
        answer = unchecked(*values)
        compute = answer.cast if isinstance(answer.cast, Dtype) else answer.specs.dtype
        found: Outputs = answer
        if compute.name in names and found.refused is None:
            found.refused = lacking(compute, kernel if isinstance(kernel, str) else kernel(*values))
        return found

    return rule.with_function(with_check)
