"""`torch.utils.benchmark.utils.compare`: tables of measurements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from mindtorch._naming import adopt
from mindtorch.utils.benchmark.utils.common import (
    Measurement,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

__all__ = ["Compare"]


class Compare:
    """A table of measurements for each label: rows by sub-label and threads, columns by description.

    >>> from torch.utils.benchmark import Compare, Measurement, TaskSpec
    >>> def made(description, seconds):
    ...     return Measurement(
    ...         1, [seconds], TaskSpec("f(x)", "", label="calls", sub_label="f", description=description)
    ...     )
    >>> print(str(Compare([made("old", 2e-3), made("new", 1e-3)])).strip())
    [------- calls -------]
             |  old  |  new
    1 threads: ------------
          f  |  2.0  |  1.0
    <BLANKLINE>
    Times are in milliseconds (ms).
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._trim = False
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: something else.
        """
        for one in results:
            if not isinstance(one, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(one)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Write only the figures that the spread of the times leaves certain."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> NoReturn:
        """Colour the table; raises."""
        raise NotImplementedError("torch.utils.benchmark.Compare.colorize(): tables have no colours")

    def highlight_warnings(self) -> NoReturn:
        """Mark noisy measurements; raises."""
        raise NotImplementedError("torch.utils.benchmark.Compare.highlight_warnings(): tables have no marks")

    def print(self) -> None:
        """Print the tables."""
        print(str(self))

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        labels = ordered_unique(one.label for one in merged)
        return "\n".join(self._table([one for one in merged if one.label == label]) for label in labels)

    def _table(self, results: list[Measurement]) -> str:
        unit, scale = select_unit(min(one.median for one in results))
        several = len(ordered_unique(one.env for one in results)) > 1
        columns = ordered_unique(one.description for one in results)
        rows = sorted(
            ordered_unique((one.num_threads, one.env if several else "", one.as_row_name) for one in results),
            key=lambda row: row[0],
        )
        cells = {
            (one.num_threads, one.env if several else "", one.as_row_name, one.description): self._number(one, scale)
            for one in results
        }
        digits = {
            column: max(len(t.partition(".")[2]) for k, t in cells.items() if k[3] == column) for column in columns
        }
        names = [f"{f'({env})  ' if several else ''}{name}" for _, env, name in rows]
        first = max(len(name) for name in names) + 6
        texts = [[self._padded(cells.get((*row, column), ""), digits[column]) for column in columns] for row in rows]
        widths = [
            max(len(str(column or "")), *(len(text[place]) for text in texts)) for place, column in enumerate(columns)
        ]
        lines: list[str] = []
        threads = None
        width = first + sum(one + 5 for one in widths)
        inner = [max(len(text[place]) for text in texts) for place in range(len(columns))]
        for (count, _, _), name, text in zip(rows, names, texts, strict=True):
            if count != threads:
                lines.append(f"{count} threads: ".ljust(width, "-"))
                threads = count
            values = "  |  ".join(
                one.rjust(own).center(size) for one, own, size in zip(text, inner, widths, strict=True)
            )
            lines.append(f"{'      ' + name:<{first}}  |  {values}")
        head = "  |  ".join(str(one or "").center(size) for one, size in zip(columns, widths, strict=True))
        title = f" {results[0].label} " if results[0].label else ""
        top = [f"[{title.center(width - 2, '-')}]", f"{'':<{first}}  |  {head}"]
        return "\n".join([*top, *lines, "", f"Times are in {unit_to_english(unit)}s ({unit}).", ""])

    def _number(self, one: Measurement, scale: float) -> str:
        value = one.median / scale
        if not self._trim:
            return f"{value:.1f}"
        value = trim_sigfig(value, one.significant_figures)
        return (
            f"{value:.0f}"
            if value >= 10 ** (one.significant_figures - 1)
            else f"{value:.{one.significant_figures - 1}f}"
        )

    @staticmethod
    def _padded(text: str, digits: int) -> str:
        if not text:
            return ""
        have = len(text.partition(".")[2])
        return text + " " * (digits - have + (1 if digits and not have else 0))


adopt(globals())
