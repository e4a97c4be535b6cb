"""Which dtypes torch's CPU kernels lack. A call in such a dtype raises NotImplementedError naming the kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mindtorch_storage.dtype import dtype as Dtype

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


def require(holds: bool, dtype: Dtype, kernel: str) -> None:
    """Raise torch's error for a kernel that has `dtype` only where `holds`."""
    if not holds:
        raise lacking(dtype, kernel)


def require_floating(dtype: Dtype, kernel: str) -> None:
    """Raise torch's error for a kernel that has floating point dtypes alone."""
    if not dtype.is_floating_point:
        raise lacking(dtype, kernel)


def refuse(dtype: Dtype, kernel: str, without: Iterable[str]) -> None:
    """Raise torch's error when `dtype` is among the names in `without`."""
    if dtype.name in without:
        raise lacking(dtype, kernel)


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
