"""Which expression of the sizes that vary gave a number in several runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction

from mindtorch.export._sizes import Atom, Quotient, Sum, Symbol, linear, summed

_DIVISORS = (*range(2, 17), 32, 64)


class Fits:
    """Finds expressions that have given values in every run, and remembers the quotients that it met.

    Args:
        symbols: the sizes that vary.
        runs: their values in each run.
    """

    def __init__(self, symbols: Sequence[Symbol], runs: Sequence[dict[Symbol, int]]) -> None:
        self.symbols = list(symbols)
        self.runs = list(runs)
        self.quotients: list[Quotient] = []
        self._known: dict[tuple[int, ...], Sum | None] = {}

    def expression(self, values: Sequence[int]) -> Sum | None:
        """Return the expression with these values, None where none is found."""
        key = tuple(values)
        if key not in self._known:
            self._known[key] = self._found(key)
        return self._known[key]

    def _found(self, values: tuple[int, ...]) -> Sum | None:
        for basis in (*self._bases(self.symbols), self._products(self.symbols)):
            made = self._solved(basis, values)
            if made is not None:
                return made
        made = self._rounded(values)
        if made is not None:
            return made
        atoms: list[Atom] = [*self.symbols, *self.quotients]
        for basis in self._bases(atoms):
            made = self._solved(basis, values)
            if made is not None:
                return made
        return None

    @staticmethod
    def _bases(atoms: Sequence[Atom]) -> Iterator[list[tuple[Atom, ...]]]:
        """Yield products that a sum may be of, simple ones first."""
        for count in (1, 2, 3):
            for chosen in itertools.combinations(atoms, count):
                yield [*((atom,) for atom in chosen)]
                yield [*((atom,) for atom in chosen), ()]
        for count in (2, 3, 4):
            for product in itertools.combinations_with_replacement(atoms, count):
                yield [product]
                yield [product, ()]
                if count == 2:
                    yield [product, *((atom,) for atom in dict.fromkeys(product)), ()]

    @staticmethod
    def _products(atoms: Sequence[Atom]) -> list[tuple[Atom, ...]]:
        """Return all products of up to two atoms."""
        return [one for count in (2, 1, 0) for one in itertools.combinations_with_replacement(atoms, count)]

    def _solved(self, basis: list[tuple[Atom, ...]], values: Sequence[int]) -> Sum | None:
        """Return the sum over a basis with these values; None where there is none, or more than one."""
        rows = [
            [Fraction(Sum(((product, 1),)).value(run)) for product in basis] + [Fraction(value)]
            for run, value in zip(self.runs, values, strict=True)
        ]
        count = len(basis)
        if len(rows) <= count:
            return None
        for column in range(count):
            pivot = next((row for row in range(column, len(rows)) if rows[row][column]), None)
            if pivot is None:
                return None
            rows[column], rows[pivot] = rows[pivot], rows[column]
            rows[column] = [one / rows[column][column] for one in rows[column]]
            for row in range(len(rows)):
                if row != column and rows[row][column]:
                    times = rows[row][column]
                    rows[row] = [one - times * two for one, two in zip(rows[row], rows[column], strict=True)]
        if any(row[count] for row in rows[count:]) or any(row[count].denominator != 1 for row in rows[:count]):
            return None
        return summed({product: int(rows[place][count]) for place, product in enumerate(basis)})

    def _rounded(self, values: Sequence[int]) -> Sum | None:
        """Return a multiple of a symbol's quotient, and a number more."""
        for symbol in self.symbols:
            for by in _DIVISORS:
                for plus in sorted(range(-by, by), key=lambda one: (abs(one), one)):
                    # Windows are counted as torch counts them, from what is left of the first one: `(s - 3)//2 + 1`.
                    atom = Quotient(linear(symbol, 1, plus - by if plus else 0), by)
                    made = (None if plus else self._solved([(atom,)], values)) or self._solved([(atom,), ()], values)
                    if made is not None:
                        if atom not in self.quotients:
                            self.quotients.append(atom)
                        return made
        return None
