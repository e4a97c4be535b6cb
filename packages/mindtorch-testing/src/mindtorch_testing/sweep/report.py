"""What people read: the totals, the most frequent reasons, and the pages of docs/status."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from mindtorch_testing.sweep.board import Entries, load_board, totals
from mindtorch_testing.sweep.outcome import PASS, reason_key
from mindtorch_testing.sweep.suites import Suite

MARKS = {"pass": "✓", "fail": "✗", "missing": "-"}


def summary(entries: Entries, fields: tuple[str, ...]) -> str:
    """Return one line per field: how many entries pass."""
    return "\n".join(f"{field:14} {ok:4} of {total:4}" for field, (ok, total) in totals(entries, fields).items())


def reasons(results: dict[str, dict[str, Any]], field: str, limit: int, names: int = 8) -> str:
    """Return the most frequent failure reasons of a field, each with the entries it stops."""
    groups: dict[str, list[str]] = defaultdict(list)
    places: dict[str, str] = {}
    for name, found in sorted(results.items()):
        outcome = found["fields"].get(field)
        if outcome is not None and outcome["status"] != PASS:
            key = reason_key(outcome.get("reason", ""))
            groups[key].append(name)
            places.setdefault(key, outcome.get("where", ""))
    absent = {key: groups.pop(key) for key in list(groups) if key.startswith("missing ")}
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    count = sum(map(len, groups.values())) + sum(map(len, absent.values()))
    lines = [f"{field}: {count} entries do not pass, {len(groups)} different reasons and {len(absent)} missing names"]
    if absent:
        ordered = sorted(absent, key=lambda key: (-len(absent[key]), key))
        names_shown = [key.removeprefix("missing torch.") for key in ordered]
        counts = [len(absent[key]) for key in ordered]
        shown = " ".join(f"{n}×{c}" if c > 1 else n for n, c in zip(names_shown, counts, strict=True))
        lines.append(f"{sum(counts):4}  missing in torch.: {shown}")
    for key, stopped in ranked[:limit]:
        more = f" … +{len(stopped) - names}" if len(stopped) > names else ""
        place = f"   [{places[key]}]" if places[key] else ""
        lines.append(f"{len(stopped):4}  {key}{place}\n        {', '.join(stopped[:names])}{more}")
    return "\n".join(lines)


def details(found: dict[str, Any]) -> str:
    """Return everything known about one entry."""
    lines = [f"{found['name']}  ({found['seconds']} s)"]
    for field, outcome in found["fields"].items():
        lines.append(f"  {field:9} {outcome['status']:8} {outcome['passed']}/{outcome['total']}")
        if outcome.get("reason"):
            lines.append(f"            {outcome['reason']}")
        if outcome.get("where"):
            lines.append(f"            {outcome['where']}")
    return "\n".join(lines)


def status_page(suites: list[Suite]) -> str:
    """Return the page of docs/status that shows these suites; one that belongs to another is columns of its table."""
    whole = [suite for suite in suites if not suite.columns_of]
    return "\n".join("\n".join(_section(suite, suites)) for suite in whole) + "\n"


def _worst(statuses: list[str]) -> str:
    """Return the mark of several fields shown in one cell."""
    return next((MARKS[status] for status in ("missing", "fail", "pass") if status in statuses), "")


def _columns(suite: Suite, suites: list[Suite]) -> dict[str, Callable[[str], str]]:
    """Return the columns of a table by their titles: how to make an entry's cell."""
    columns: dict[str, Callable[[str], str]] = {}
    for each in [suite, *(other for other in suites if other.columns_of == suite.name)]:
        entries = load_board(each.board)["entries"]
        groups = {each.title: each.fields} if each.title else {field: (field,) for field in each.fields}
        for title, fields in groups.items():
            columns[title] = lambda name, entries=entries, fields=fields: _worst(
                [entries.get(name, {}).get(field, "") for field in fields]
            )
    return columns


def _section(suite: Suite, suites: list[Suite]) -> list[str]:
    option = "" if suite.name == "ops" else f"--suite {suite.name} "
    counts = []
    for each in [suite, *(other for other in suites if other.columns_of == suite.name)]:
        label = f"{each.title}: " if each.title else ""
        found = totals(load_board(each.board)["entries"], each.fields).items()
        counts += [f"| {label}{field} | {ok} | {total} |" for field, (ok, total) in found if total]
    columns = _columns(suite, suites)
    lines = [
        f"# {suite.name.capitalize()} against torch 2.13.0",
        "",
        f"Written by `python -m mindtorch_testing.sweep {option}docs` from the scoreboards; do not edit. {suite.text}",
        "",
        "| field | entries that pass | of |",
        "| --- | ---: | ---: |",
        *counts,
        "",
        "✓ passes, ✗ differs, - is missing; an empty cell does not apply.",
        "",
        "| entry | " + " | ".join(columns) + " |",
        "| --- |" + " :-: |" * len(columns),
    ]
    for name in sorted(load_board(suite.board)["entries"]):
        lines.append(f"| `{name}` | " + " | ".join(cell(name) for cell in columns.values()) + " |")
    return lines
