"""Pairs of values that can be compared: None, bools, numbers, any objects."""

from __future__ import annotations

import abc
import cmath
from collections.abc import Sequence
from typing import Any, ClassVar, NoReturn

import numpy as np

import mindtorch as torch

from ._messages import ErrorMeta, UnsupportedInputs, make_scalar_mismatch_msg
from ._tolerances import get_tolerances


class Pair(abc.ABC):
    """Two values; ``compare`` raises an :class:`ErrorMeta` if they differ."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), **unknown_parameters: Any) -> None:
        self.actual = actual
        self.expected = expected
        self.id = id
        self._unknown_parameters = unknown_parameters

    @staticmethod
    def _inputs_not_supported() -> NoReturn:
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs: Any, cls: Any) -> None:
        if not all(isinstance(value, cls) for value in inputs):
            Pair._inputs_not_supported()

    def _fail(self, type: type[Exception], msg: str, *, id: tuple[Any, ...] = ()) -> NoReturn:
        raise ErrorMeta(type, msg, id=self.id if not id and hasattr(self, "id") else id)

    @abc.abstractmethod
    def compare(self) -> None:
        """Raise if the values differ."""

    def extra_repr(self) -> Sequence[Any]:
        """Names of attributes to show, or names with values."""
        return []

    def __repr__(self) -> str:
        head = f"{type(self).__name__}("
        body = [
            f"    {name}={value!s},"
            for name, value in [
                ("id", self.id),
                ("actual", self.actual),
                ("expected", self.expected),
                *((e, getattr(self, e)) if isinstance(e, str) else e for e in self.extra_repr()),
            ]
        ]
        return "\n".join((head, *body, ")"))


class ObjectPair(Pair):
    """Any two objects, compared with ``==``."""

    def compare(self) -> None:
        """Raise if the values differ."""
        try:
            equal = self.actual == self.expected
        except Exception as error:
            raise ErrorMeta(
                ValueError, f"{self.actual} == {self.expected} failed with:\n{error}.", id=self.id
            ) from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """None against None."""

    def __init__(self, actual: Any, expected: Any, **other_parameters: Any) -> None:
        if not (actual is None or expected is None):
            self._inputs_not_supported()
        super().__init__(actual, expected, **other_parameters)

    def compare(self) -> None:
        """Raise if only one is None."""
        if not (self.actual is None and self.expected is None):
            self._fail(AssertionError, f"None mismatch: {self.actual} is not {self.expected}")


class BooleanPair(Pair):
    """Two bools."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple[Any, ...] = (), **other_parameters: Any) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (bool, np.bool_)

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> list[bool]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return [self._to_bool(value, id=id) for value in (actual, expected)]

    def _to_bool(self, bool_like: Any, *, id: tuple[Any, ...]) -> bool:
        return bool(bool_like.item()) if isinstance(bool_like, np.bool_) else bool_like

    def compare(self) -> None:
        """Raise if they differ."""
        if self.actual is not self.expected:
            self._fail(AssertionError, f"Booleans mismatch: {self.actual} is not {self.expected}")


class NumberPair(Pair):
    """Two Python or numpy numbers."""

    _TYPE_TO_DTYPE: ClassVar[dict[type, Any]] = {
        int: torch.int64,
        float: torch.float64,
        complex: torch.complex128,
    }
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple[Any, ...] = (),
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_dtype: bool = False,
        **other_parameters: Any,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **other_parameters)
        self.rtol, self.atol = get_tolerances(
            *[self._TYPE_TO_DTYPE[type(value)] for value in (actual, expected)], rtol=rtol, atol=atol, id=id
        )
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (*self._NUMBER_TYPES, np.number)

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple[Any, ...]) -> list[Any]:
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return [self._to_number(value, id=id) for value in (actual, expected)]

    def _to_number(self, number_like: Any, *, id: tuple[Any, ...]) -> Any:
        return number_like.item() if isinstance(number_like, np.number) else number_like

    def compare(self) -> None:
        """Raise if they differ by more than the tolerance."""
        if self.check_dtype and type(self.actual) is not type(self.expected):
            self._fail(AssertionError, f"The (d)types do not match: {type(self.actual)} != {type(self.expected)}.")
        if self.actual == self.expected:
            return
        if self.equal_nan and cmath.isnan(self.actual) and cmath.isnan(self.expected):
            return
        difference = abs(self.actual - self.expected)
        if cmath.isfinite(difference) and difference <= self.atol + self.rtol * abs(self.expected):
            return
        self._fail(AssertionError, make_scalar_mismatch_msg(self.actual, self.expected, rtol=self.rtol, atol=self.atol))

    def extra_repr(self) -> Sequence[str]:
        """The settings."""
        return ("rtol", "atol", "equal_nan", "check_dtype")
