"""Sizes that vary, as expressions: whole-number sums of products of symbols, and of such sums divided and rounded down."""

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from mindtorch.types import SymInt


@dataclasses.dataclass(frozen=True)
class Symbol:
    """A size that varies, by its name: `s77`."""

    name: str

    def value(self, at: Mapping[Symbol, int]) -> int:
        """Return the size where the symbols have the values of `at`."""
        return at[self]

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__

    @property
    def factor(self) -> str:
        """The text of the symbol inside a product or a sum."""
        return self.name


@dataclasses.dataclass(frozen=True)
class Quotient:
    """A sum divided by a number, rounded down."""

    of: Sum
    by: int

    def value(self, at: Mapping[Symbol, int]) -> int:
        """Return the quotient where the symbols have the values of `at`."""
        return self.of.value(at) // self.by

    def __str__(self) -> str:
        inner = str(self.of)
        return f"({inner if self.of.atom is not None else f'({inner})'}//{self.by})"

    __repr__ = __str__

    @property
    def factor(self) -> str:
        """The text of the quotient inside a product or a sum."""
        return f"({self})"


Atom = Symbol | Quotient


@dataclasses.dataclass(frozen=True)
class Sum:
    """A sum of products of atoms, each with a whole coefficient."""

    terms: tuple[tuple[tuple[Atom, ...], int], ...]

    def value(self, at: Mapping[Symbol, int]) -> int:
        """Return the sum where the symbols have the values of `at`."""
        return sum(times * math.prod(atom.value(at) for atom in atoms) for atoms, times in self.terms)

    @property
    def atom(self) -> Atom | None:
        """The atom that the whole sum is, None for any other."""
        if len(self.terms) == 1 and self.terms[0][1] == 1 and len(self.terms[0][0]) == 1:
            return self.terms[0][0][0]
        return None

    @property
    def symbols(self) -> set[Symbol]:
        """The symbols that the sum is computed from."""
        atoms = {atom for factors, _ in self.terms for atom in factors}
        return {one for atom in atoms for one in ({atom} if isinstance(atom, Symbol) else atom.of.symbols)}

    def __str__(self) -> str:
        if self.atom is not None:
            return str(self.atom)
        names = sorted({str(atom) for atoms, _ in self.terms for atom in atoms})

        def order(term: tuple[tuple[Atom, ...], int]) -> list[int]:
            return [-[str(atom) for atom in term[0]].count(name) for name in names]

        text = ""
        for atoms, times in sorted(self.terms, key=order):
            parts = [] if abs(times) == 1 and atoms else [str(abs(times))]
            product = "*".join(parts + [atom.factor for atom in sorted(atoms, key=str)])
            sign = "-" if times < 0 else "+"
            text = f"{text} {sign} {product}" if text else ("-" if times < 0 else "") + product
        return text

    __repr__ = __str__


def linear(symbol: Symbol, times: int = 1, plus: int = 0) -> Sum:
    """Return `times * symbol + plus`."""
    return summed({(symbol,): times, (): plus})


def summed(terms: Mapping[tuple[Atom, ...], int]) -> Sum:
    """Return the sum of products with their coefficients."""
    return Sum(tuple((atoms, times) for atoms, times in terms.items() if times))


class Size(int, SymInt):
    """A size that varies: the whole number of the export's example, which shows as its expression."""

    expr: Sum

    def __new__(cls, expr: Sum, hint: int) -> Size:
        """Return the size whose value in the example is `hint`."""
        made = int.__new__(cls, hint)
        made.expr = expr
        return made

    def __init__(self, expr: Sum, hint: int) -> None:
        """All is done by `__new__`."""

    @property
    def node(self) -> Size:
        """The size itself, which has the expression and the `hint`."""
        return self

    @property
    def hint(self) -> int:
        """The value in the example."""
        return int(self)

    def __str__(self) -> str:
        return str(self.expr)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __reduce__(self) -> Any:
        return Size, (self.expr, int(self))


Make = Callable[[Callable[..., Any], Any, Any], Any]


def written(expr: Sum, symbols: Mapping[Symbol, Any], make: Make) -> Any:
    """Write an expression as calls of Python's operators; return what stands for it.

    Args:
        symbols: what stands for each symbol.
        make: writes one call of an operator on two values.
    """
    total: Any = None
    places = list(symbols)

    def place(atom: Atom) -> int:
        return places.index(atom) if isinstance(atom, Symbol) else len(places)

    for atoms, times in sorted(expr.terms, key=lambda term: not term[0]):
        product: Any = None
        for atom in sorted(atoms, key=place):
            value = symbols[atom] if isinstance(atom, Symbol) else _quotient(atom, symbols, make)
            product = value if product is None else make(operator.mul, product, value)
        if product is None:
            product = times if total is None else abs(times)
        elif times != 1 and (total is None or abs(times) != 1):
            product = make(operator.mul, product, times if total is None else abs(times))
        if total is None:
            total = product
        else:
            total = make(operator.sub if times < 0 else operator.add, total, product)
    return total


def _quotient(atom: Quotient, symbols: Mapping[Symbol, Any], make: Make) -> Any:
    return make(operator.floordiv, written(atom.of, symbols, make), atom.by)


@dataclasses.dataclass(frozen=True)
class ValueRanges:
    """The least and the largest value of a size."""

    lower: Any
    upper: Any

    def __contains__(self, size: int) -> bool:
        return bool(self.lower <= size <= self.upper)

    def __str__(self) -> str:
        return f"VR[{self.lower}, {self.upper}]"

    __repr__ = __str__
