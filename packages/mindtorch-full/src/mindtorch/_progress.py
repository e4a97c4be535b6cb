"""The bar that downloads show: tqdm's where it is installed, a line of text where it is not."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["tqdm"]


class Line:
    """Shows on stderr how much is done, as a part of the total where that is known."""

    def __init__(self, total: int | None = None, disable: bool = False, **options: Any) -> None:
        self.total, self.disable, self.n = total, disable, 0

    def update(self, n: int) -> None:
        """Count `n` more."""
        self.n += n
        if not self.disable:
            done = f"{self.n:.1f} bytes" if self.total is None else f"{100 * self.n / self.total:.1f}%"
            sys.stderr.write(f"\r{done}")
            sys.stderr.flush()

    def set_description(self, *args: Any, **options: Any) -> None:
        """The line has no room for a description."""

    def write(self, s: str) -> None:
        """Show a text beside the line."""
        sys.stderr.write(f"{s}\n")

    def close(self) -> None:
        """End the line."""
        if not self.disable:
            sys.stderr.write("\n")

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()


try:
    from tqdm import tqdm
except ImportError:  # it is optional
    tqdm = Line
