"""What is different between two outcomes of a call, and whether that is a finding."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch_testing.fuzz.sides import Outcome

SEVERE = ("crash", "hang", "memory", "value", "missed error", "extra error", "type", "alias", "gradient")
KINDS = (*SEVERE, "error type", "error text", "dtype", "shape", "stride", "input", "setup")

NUMPY = {
    "torch.float32": np.float32, "torch.float64": np.float64, "torch.float16": np.float16,
    "torch.bfloat16": ml_dtypes.bfloat16, "torch.float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "torch.float8_e5m2": ml_dtypes.float8_e5m2, "torch.complex64": np.complex64, "torch.complex128": np.complex128,
}  # fmt: skip
TOLERANCES = {
    "torch.float32": (2e-5, 1e-6, 4e-6), "torch.float64": (1e-7, 1e-8, 1e-10), "torch.float16": (6e-3, 1e-4, 4e-3),
    "torch.bfloat16": (4e-2, 1e-3, 3e-2), "torch.complex64": (2e-5, 1e-6, 4e-6), "torch.complex128": (1e-7, 1e-8, 1e-10),
    "torch.complex32": (6e-3, 1e-4, 4e-3), "torch.float8_e4m3fn": (0.13, 0.02, 0.1), "torch.float8_e5m2": (0.26, 0.02, 0.2),
}  # fmt: skip
"""Relative tolerance, absolute one, and the share of the largest magnitude in the result that may be lost."""

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_PLACE = re.compile(r'at "?[^ "]*/[\w./+-]+\.(cpp|h|cu|cc)"?(:\d+|, line \d+)?')
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


@dataclass(frozen=True)
class Finding:
    """One difference: its kind, what torch gave and what we gave, and where in the result."""

    kind: str
    ours: str
    theirs: str
    where: str = ""
    loose: bool = False

    @property
    def signature(self) -> str:
        """What stays the same between findings of one cause."""
        return "|".join((self.kind, re.sub(r"\d+", "N", self.where), blurred(self.ours), blurred(self.theirs)))


_DTYPE = re.compile(
    r"torch\.\w+|\b(c10::\S+|Half|BFloat16|Float|Double|Long|Int|Short|Char|Byte|Bool|UInt\w+|Complex\w+)\b"
    r"|\b(u?int|float|bfloat|complex|half|bool|double|long)(N|\d+)?(_\w+)?\b"
)


def blurred(text: str) -> str:
    """Leave out of a text what differs from call to call."""
    text = _NUMBER.sub("N", text)
    text = re.sub(r"\[[N, ]*\]|\([N, ]*\)", "[N]", text)
    text = _DTYPE.sub("T", text)
    return text[:160]


def cleaned(text: str) -> str:
    """Return an error's text without addresses and places in source files."""
    return _PLACE.sub("at PLACE", _ADDRESS.sub("0x…", text)).split("\nException raised from")[0].rstrip()


def compare(theirs: Outcome, ours: Outcome) -> Finding | None:
    """Return the first difference that matters most, None where there is none."""
    if ours.death:
        return Finding(ours.death.split()[0], ours.death, short(theirs.seen))
    if ours.grown > theirs.grown + 1024:
        return Finding("memory", f"{ours.grown:.0f} MB", f"{theirs.grown:.0f} MB")
    if ours.seconds > 20 and ours.seconds > 20 * theirs.seconds:
        return Finding("hang", f"{ours.seconds:.0f} s", f"{theirs.seconds:.2f} s")
    if ours.payload == theirs.payload:
        return None
    one, other = theirs.seen, ours.seen
    if "setup" in (one[0], other[0]):
        same = one[:2] == other[:2] and cleaned(str(one[2:])) == cleaned(str(other[2:]))
        return None if same else Finding("setup", short(other), short(one))
    if one[0] == "error" or other[0] == "error":
        return errors(one, other)
    if one[0] != other[0]:
        return Finding("type", short(other), short(one))
    return values(one, other)


def errors(one: Any, other: Any) -> Finding | None:
    """Compare two outcomes of which one is an error at least."""
    if other[0] != "error":
        return Finding("missed error", short(other), short(one))
    if one[0] != "error":
        return Finding("extra error", short(other), short(one))
    if one[1] != other[1]:
        return Finding("error type", short(other), short(one))
    if cleaned(one[2]) != cleaned(other[2]):
        return Finding("error text", short(other), short(one))
    return None


def values(one: Any, other: Any) -> Finding | None:
    """Compare two results, the arguments as they were left, and the gradients."""
    found = difference(one[1], other[1], "")
    if found is None:
        found = inputs(one[2], other[2])
    if found is None and one[3] != other[3]:
        found = gradients(one[3], other[3])
    if found is not None and found.loose and coarse(one[2]) in TOLERANCES:
        # What was computed in a narrow dtype is not more exact in a wide output.
        a, b = (np.array([complex(text.split(" at ")[0])]) for text in (found.theirs, found.ours))
        if near(a, b, *TOLERANCES[coarse(one[2])]):
            return None
    return found


def coarse(arguments: Any) -> str:
    """Return the narrowest float dtype among the arguments; that of float32 where integers are computed with."""
    names = {described[1] for _, described in arguments if described[0] == "T"}
    floats = [name if name in TOLERANCES else "torch.float32" for name in names]
    return max(floats or ["torch.float32"], key=lambda name: TOLERANCES[name][0])


def inputs(one: Any, other: Any) -> Finding | None:
    """Compare the arguments after the call."""
    for (name, before), (_, after) in zip(one, other, strict=False):
        found = difference(before, after, name)
        if found and found.kind in ("value", "shape", "dtype"):
            return Finding("input", f"{found.kind}: {found.ours}", found.theirs, name)
    return None


def gradients(one: Any, other: Any) -> Finding | None:
    """Compare the gradients of the arguments, or the errors of going back."""
    if not one or not other:
        return Finding("gradient", short(other), short(one))
    if "error" in (one[0], other[0]):
        if one[0] == other[0] and one[1] == other[1] and cleaned(one[2]) == cleaned(other[2]):
            return None
        return Finding("gradient", short(other), short(one))
    for (name, left), (_, right) in zip(one, other, strict=False):
        found = difference(left, right, f"{name}.grad")
        if found and found.kind != "stride":
            return Finding("gradient", f"{found.kind}: {found.ours}", found.theirs, f"{name}.grad")
    return None


def short(seen: Any) -> str:
    """Describe an outcome in a line."""
    if not isinstance(seen, tuple) or not seen:
        return repr(seen)[:200]
    if seen[0] in ("error", "setup", "unreadable"):
        return f"{seen[1]}: {cleaned(seen[2])}"[:400]
    if seen[0] == "value":
        return short(seen[1])
    if seen[0] == "T":
        return f"tensor {seen[1]} {seen[2]}"
    return str(seen)[:200]


def difference(one: Any, other: Any, where: str) -> Finding | None:
    """Compare two descriptions."""
    if one == other:
        return None
    if not (isinstance(one, tuple) and isinstance(other, tuple)) or one[0] != other[0]:
        return Finding("type", short(other), short(one), where)
    if one[0] == "T":
        return tensors(one, other, where)
    if one[0] == "L":
        if one[1:3] != other[1:3]:
            return Finding("type", f"{other[1]} of {other[2]}", f"{one[1]} of {one[2]}", where)
        for index, (left, right) in enumerate(zip(one[3], other[3], strict=False)):
            found = difference(left, right, f"{where}[{index}]")
            if found:
                return found
        return None
    if one[0] == "P":
        if one[1:4] != other[1:4]:
            return Finding("type", str(other[1:4]), str(one[1:4]), where)
        pairs = zip(one[4], other[4], strict=False)
        return next((d for left, right in pairs if (d := difference(left, right, where))), None)
    if one[0] == "S" and one[1] == other[1]:
        close = one[1] in ("float", "complex") and near(np.array([one[2]]), np.array([other[2]]), 1e-5, 1e-6, 0.0)
        masked = one[1] == "str" and cleaned(one[2]) == cleaned(other[2])
        return None if close or masked else Finding("value", repr(other[2])[:200], repr(one[2])[:200], where)
    if len(one) > 1 and isinstance(one[1], str) and not isinstance(one[0], str):
        return None
    return Finding("type", str(other)[:200], str(one)[:200], where)


def tensors(one: Any, other: Any, where: str) -> Finding | None:
    """Compare two tensors."""
    names = ("dtype", "shape", "stride", "stride", "type", "type", "alias", "alias", "alias")
    differing = [(name, a, b) for name, a, b in zip(names, one[1:10], other[1:10], strict=True) if a != b]
    first = next((d for d in differing if d[0] in ("dtype", "shape")), None)
    if first is None:
        found = elements(one, other)
        if found:
            return Finding("value", found[1], found[0], where, one[1] in TOLERANCES)
        first = differing[0] if differing else None
    if first is None or (first[0] == "stride" and equivalent(one, other) and len(differing) == 1):
        return None
    return Finding(first[0], str(first[2]), str(first[1]), where)


def equivalent(one: Any, other: Any) -> bool:
    """Whether strides differ only where they mean nothing: at sizes of one, or without elements."""
    if math.prod(one[2]) == 0:
        return False
    pairs = zip(one[2], one[3], other[3], strict=True)
    return one[4] == other[4] and all(size == 1 or a == b for size, a, b in pairs)


def elements(one: Any, other: Any) -> tuple[str, str] | None:
    """Compare the elements; return the first that differ, theirs and ours."""
    dtype, left, right = one[1], one[10], other[10]
    if left == right or left is None or right is None:
        return None
    if isinstance(left, str) or isinstance(right, str):
        return str(left), str(right)
    if dtype == "torch.complex32":
        a, b = (np.frombuffer(data, np.float16).astype(np.float32).view(np.complex64) for data in (left, right))
    elif dtype in NUMPY:
        a, b = (np.frombuffer(data, NUMPY[dtype]) for data in (left, right))
    else:
        name = dtype.removeprefix("torch.")
        if not hasattr(np, name) or name == "bool":
            name = "uint8"
        a, b = (np.frombuffer(data, name) for data in (left, right))
        wrong = np.flatnonzero(a != b)
        return (str(a[wrong[0]]), str(b[wrong[0]])) if len(wrong) else None
    wide = np.complex128 if "complex" in dtype else np.float64
    with np.errstate(all="ignore"):
        a, b = a.astype(wide), b.astype(wide)
    if near(a, b, *TOLERANCES[dtype]):
        return None
    index = int(np.flatnonzero(~close(a, b, *TOLERANCES[dtype]))[0])
    return f"{a[index]} at {index}", f"{b[index]} at {index}"


def close(a: Any, b: Any, rtol: float, atol: float, share: float) -> Any:
    """Tell for each element whether it is close enough, nan to nan and infinity to infinity."""
    if a.dtype.kind == "c":
        return close(a.real, b.real, rtol, atol, share) & close(a.imag, b.imag, rtol, atol, share)
    with np.errstate(all="ignore"):
        finite = np.abs(a[np.isfinite(a)])
        largest = finite.max() if finite.size else 0.0
        near_enough = np.abs(a - b) <= atol + rtol * np.abs(a) + share * largest
    return near_enough | (a == b) | (np.isnan(a) & np.isnan(b))


def near(a: Any, b: Any, rtol: float, atol: float, share: float) -> bool:
    """Tell whether all elements are close enough."""
    return bool(close(a, b, rtol, atol, share).all())
