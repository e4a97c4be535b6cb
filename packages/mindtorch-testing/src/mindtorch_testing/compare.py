"""Oracle comparison: the same call made on both sides must give the same value, or the same error."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from .convert import Converter, Unconvertible, is_namedtuple

TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex32: (1e-3, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.complex128: (1e-7, 1e-7),
}
"""Relative and absolute tolerance by dtype, the values that torch.testing.assert_close uses; exact for the rest."""

_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Difference:
    """One observable difference: its kind (structure, type, dtype, shape, stride, value, requires_grad) and text."""

    kind: str
    path: str
    text: str

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"{self.kind}{where}: {self.text}"


class Comparison:
    """Collects the differences between an oracle result and a target result."""

    def __init__(
        self,
        converter: Converter,
        tolerances: Mapping[torch.dtype, tuple[float, float]] = TOLERANCES,
        values: bool = True,
    ) -> None:
        self.converter = converter
        self.tolerances = tolerances
        self.values = values
        self.differences: list[Difference] = []

    def _note(self, kind: str, path: str, text: str) -> None:
        self.differences.append(Difference(kind, path, text))

    def compare(self, expected: Any, actual: Any, path: str = "") -> list[Difference]:
        """Compare nested results and return the differences found so far."""
        if isinstance(expected, torch.Tensor):
            self._tensors(expected, actual, path)
        elif self.converter.is_target_tensor(actual):
            self._note("type", path, f"{type(actual).__name__} where torch gives {type(expected).__name__}")
        elif isinstance(expected, torch.Size):
            if type(actual).__name__ != "Size" or tuple(actual) != tuple(expected):
                self._note("value", path, f"{actual!r} != {expected!r}")
        elif isinstance(expected, (tuple, list)):
            self._sequences(expected, actual, path)
        elif isinstance(expected, dict):
            self._dicts(expected, actual, path)
        else:
            self._scalars(expected, actual, path)
        return self.differences

    def _sequences(self, expected: Any, actual: Any, path: str) -> None:
        if not isinstance(actual, (tuple, list)) or type(actual).__name__ != type(expected).__name__:
            self._note("structure", path, f"{_kind(actual)} where torch gives {_kind(expected)}")
            return
        if len(actual) != len(expected):
            self._note("structure", path, f"{len(actual)} items where torch gives {len(expected)}")
            return
        names = _field_names(expected)
        if names != _field_names(actual):
            self._note("structure", path, f"fields {_field_names(actual)} != {names}")
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            self.compare(one, other, f"{path}[{names[index] if names else index}]")

    def _dicts(self, expected: dict[Any, Any], actual: Any, path: str) -> None:
        if not isinstance(actual, dict) or list(actual) != list(expected):
            self._note("structure", path, f"{_kind(actual)} where torch gives a dict with keys {list(expected)}")
            return
        for key, item in expected.items():
            self.compare(item, actual[key], f"{path}[{key!r}]")

    def _scalars(self, expected: Any, actual: Any, path: str) -> None:
        if type(expected).__name__ != type(actual).__name__:
            self._note("type", path, f"{_kind(actual)} where torch gives {_kind(expected)}")
        elif isinstance(expected, (float, complex)):
            rtol, atol = self._tolerance(torch.float64)
            same = torch.isclose(torch.tensor(expected), torch.tensor(actual), rtol, atol, equal_nan=True)
            if self.values and not bool(same):
                self._note("value", path, f"{actual!r} != {expected!r}")
        elif isinstance(expected, (bool, int, str, bytes, type(None))):
            if self.values and actual != expected:
                self._note("value", path, f"{actual!r} != {expected!r}")
        elif isinstance(expected, (torch.dtype, torch.device, torch.layout, torch.memory_format)) and str(
            expected
        ) != str(actual):
            self._note("value", path, f"{actual!r} != {expected!r}")

    def _tolerance(self, dtype: torch.dtype) -> tuple[float, float]:
        return self.tolerances.get(dtype, (0.125, 1e-5) if dtype.is_floating_point else (0.0, 0.0))

    def _tensors(self, expected: torch.Tensor, actual: Any, path: str) -> None:
        if not self.converter.is_target_tensor(actual):
            self._note("type", path, f"{_kind(actual)} where torch gives a Tensor")
            return
        for name in ("dtype", "device", "layout"):
            if str(getattr(actual, name)) != str(getattr(expected, name)):
                self._note("dtype", path, f"{name} {getattr(actual, name)} != {getattr(expected, name)}")
        if tuple(actual.shape) != tuple(expected.shape):
            self._note("shape", path, f"{tuple(actual.shape)} != {tuple(expected.shape)}")
        if bool(actual.requires_grad) != bool(expected.requires_grad):
            self._note("requires_grad", path, f"{actual.requires_grad} != {expected.requires_grad}")
        if any(d.path == path and d.kind in ("dtype", "shape") for d in self.differences):
            return
        if expected.layout is torch.strided and not expected.is_nested:
            if tuple(actual.stride()) != tuple(expected.stride()):
                shape = tuple(expected.shape)
                self._note("stride", path, f"{tuple(actual.stride())} != {tuple(expected.stride())} of shape {shape}")
            offset = int(actual.storage_offset())
            if offset != expected.storage_offset():
                self._note("stride", path, f"storage offset {offset} != {expected.storage_offset()}")
        if self.values and expected.device.type != "meta":
            self._elements(expected, actual, path)

    def _elements(self, expected: torch.Tensor, actual: Any, path: str) -> None:
        plain = expected.detach().resolve_conj().resolve_neg()
        try:
            ours = self.converter.to_oracle(actual)
        except Unconvertible as error:
            self._note("value", path, f"unreadable: {error}")
            return
        if plain.layout is not torch.strided:
            plain, ours = plain.to_dense(), ours.to_dense()
        text = value_difference(plain, ours, *self._tolerance(plain.dtype))
        if text:
            self._note("value", path, text)


def value_difference(expected: torch.Tensor, actual: torch.Tensor, rtol: float, atol: float) -> str:
    """Describe how two oracle tensors of equal shape and dtype differ; empty when they agree within tolerance."""
    if expected.numel() == 0:
        return ""
    if not (expected.is_floating_point() or expected.is_complex()):
        wrong = expected != actual
    else:
        wide = torch.complex128 if expected.is_complex() else torch.float64
        expected, actual = expected.to(wide), actual.to(wide)
        wrong = ~torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    count = int(wrong.sum())
    if count == 0:
        return ""
    index = tuple(int(i) for i in wrong.nonzero()[0])
    gap = ""
    if expected.dtype.is_floating_point or expected.is_complex():
        worst = float((actual - expected).abs().nan_to_num(math.inf).max())
        gap = f", largest difference {worst:.3g}"
    found, wanted = actual[index].item(), expected[index].item()
    return f"{count} of {expected.numel()} elements differ{gap}; at {index}: {found!r} != {wanted!r}"


def _kind(value: Any) -> str:
    return type(value).__name__


def _field_names(value: Any) -> list[str]:
    if hasattr(value, "_fields"):
        return list(value._fields)
    if is_namedtuple(value):
        return list(type(value).__match_args__)[: len(value)]
    return []


def assert_same_value(
    fn_mt: Callable[[], Any],
    fn_torch: Callable[[], Any],
    *,
    rtol: float | None = None,
    atol: float | None = None,
    strides: bool = True,
    requires_grad: bool = True,
    target: ModuleType | None = None,
) -> None:
    """Call both and require equal values, dtypes, shapes, strides and requires_grad, through nested containers.

    Tolerances default by dtype to those of torch.testing.assert_close. `strides=False` and `requires_grad=False`
    leave that part out, for calls where the two sides are started from differently made inputs.
    """
    __tracebackhide__ = True
    tolerances = {
        dtype: (default[0] if rtol is None else rtol, default[1] if atol is None else atol)
        for dtype, default in TOLERANCES.items()
    }
    comparison = Comparison(Converter(target), tolerances)
    ignored = {name for name, wanted in (("stride", strides), ("requires_grad", requires_grad)) if not wanted}
    found = [d for d in comparison.compare(fn_torch(), fn_mt()) if d.kind not in ignored]
    if found:
        raise AssertionError("differs from torch (ours != torch's):\n  " + "\n  ".join(map(str, found)))


def error_text(error: BaseException) -> str:
    """Return the message that a user sees, memory addresses masked."""
    return _ADDRESS.sub("0x…", str(error))


def call_for_error(fn: Callable[[], Any]) -> Exception | None:
    """Call `fn` and return what it raised, None when it returned."""
    try:
        fn()
    except Exception as error:  # noqa: BLE001 - which error it is, is the question
        return error
    return None


def error_difference(expected: Exception, actual: Exception | None) -> str:
    """Describe how our error differs from torch's in type name or text; empty when equal."""
    if actual is None:
        return f"no error where torch raises {type(expected).__name__}: {error_text(expected)}"
    lines = []
    if type(actual).__name__ != type(expected).__name__:
        lines.append(f"type {type(actual).__name__} != {type(expected).__name__}")
    if error_text(actual) != error_text(expected):
        lines.append(f"text {error_text(actual)!r} != {error_text(expected)!r}")
    return "; ".join(lines)


def assert_torch_error(fn_mt: Callable[[], Any], fn_torch: Callable[[], Any]) -> None:
    """Call both and require the same exception: type by name, and the exact message."""
    __tracebackhide__ = True
    expected = call_for_error(fn_torch)
    if expected is None:
        raise AssertionError("torch raises nothing here, so there is no error to compare with")
    actual = call_for_error(fn_mt)
    if not error_difference(expected, actual):
        return
    theirs = f"{type(expected).__name__}: {error_text(expected)}"
    ours = "returned without an error" if actual is None else f"{type(actual).__name__}: {error_text(actual)}"
    diff = "\n".join(difflib.ndiff(theirs.splitlines(), ours.splitlines()))
    raise AssertionError(f"not torch's error ('-' torch, '+' ours):\n{diff}") from actual
