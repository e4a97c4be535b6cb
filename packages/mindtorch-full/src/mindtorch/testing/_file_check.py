"""`FileCheck`: what a text holds, in which order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn


class FileCheck:
    """A list of checks of one text; each goes on where the one before it ended.

    What must not occur is looked for between the checks around it.

    >>> torch.testing.FileCheck().check("a").check("b").run("a then b")
    """

    def __init__(self) -> None:
        self._checks: list[tuple[str, Callable[[str, int, str], int], str]] = []
        self._forbidden: list[str] = []

    def _add(self, kind: str, find: Callable[[str, int, str], int], text: str) -> FileCheck:
        self._checks.append((kind, find, text))
        return self

    def check(self, text: str) -> FileCheck:
        """The text occurs."""
        return self._add("CHECK", _find, text)

    def check_same(self, text: str) -> FileCheck:
        """The text occurs on the line of the check before."""
        return self._add("CHECK-SAME", _find_same, text)

    def check_next(self, text: str) -> FileCheck:
        """The text occurs on the line after the check before."""
        return self._add("CHECK-NEXT", _find_next, text)

    def check_not(self, text: str) -> FileCheck:
        """The text does not occur between the checks around it."""
        return self._add("CHECK-NOT", _find, text)

    def check_dag(self, text: str) -> FileCheck:
        """The text occurs, in any order with the other checks of this kind beside it."""
        return self._add("CHECK-DAG", _find, text)

    def check_regex(self, text: str) -> FileCheck:
        """The pattern occurs."""
        return self._add("CHECK-REGEX", _find_pattern, text)

    def check_count(self, text: str, count: int, exactly: bool = False) -> FileCheck:
        """The text occurs a number of times; exactly: and not once more."""
        for _ in range(count):
            self.check(text)
        return self.check_not(text) if exactly else self

    def check_source_highlighted(self, text: str) -> FileCheck:
        """The text occurs, and the line after it marks all of it."""
        return self._add("CHECK-SOURCE-HIGHLIGHTED", _find_highlighted, text)

    def run(self, test_file: Any) -> None:
        """Check a text. Raises RuntimeError naming the first check that does not hold."""
        text, place, forbidden = str(test_file), 0, []
        beside: int | None = None  # where the group of checks in any order began
        for kind, find, wanted in self._checks:
            if kind == "CHECK-NOT":
                forbidden.append(wanted)
                continue
            beside = (place if beside is None else beside) if kind == "CHECK-DAG" else None
            start = place if beside is None else beside
            end = find(text, start, wanted)
            if end < 0:
                _fail(f'Expected to find "{wanted}" but did not find it', text, kind, wanted)
            for unwanted in forbidden:
                self._forbid(unwanted, text, place, end - len(wanted))
            forbidden = []
            place = max(place, end)
        for unwanted in forbidden:
            self._forbid(unwanted, text, place, len(text))

    @staticmethod
    def _forbid(unwanted: str, text: str, start: int, end: int) -> None:
        if text.find(unwanted, start, end) >= 0:
            _fail(f'Expected to not find "{unwanted}" but found it', text, "CHECK-NOT", unwanted)


def _fail(what: str, text: str, kind: str, wanted: str) -> NoReturn:
    raise RuntimeError(f"{what}\nSearched string:\n{text}\nFrom {kind}: {wanted}\n")


def _find(text: str, start: int, wanted: str) -> int:
    found = text.find(wanted, start)
    return found + len(wanted) if found >= 0 else -1


def _find_pattern(text: str, start: int, wanted: str) -> int:
    found = re.compile(wanted).search(text, start)
    return found.end() if found else -1


def _find_same(text: str, start: int, wanted: str) -> int:
    line_end = text.find("\n", start)
    found = text.find(wanted, start, len(text) if line_end < 0 else line_end)
    return found + len(wanted) if found >= 0 else -1


def _find_next(text: str, start: int, wanted: str) -> int:
    line_end = text.find("\n", start)
    return -1 if line_end < 0 else _find_same(text, line_end + 1, wanted)


def _find_highlighted(text: str, start: int, wanted: str) -> int:
    end = _find(text, start, wanted)
    if end < 0:
        return -1
    column = end - (text.rfind("\n", 0, end) + 1)
    below = text[text.find("\n", end) + 1 :].split("\n", 1)[0]
    marks = below[column - len(wanted) : column]
    return end if marks and set(marks) <= {"~", "^"} else -1
