"""What people read: the totals, the most frequent reasons, and the pages of docs/status."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from mindtorch_testing.sweep.board import Entries, load_board, totals
from mindtorch_testing.sweep.outcome import PASS, reason_key
from mindtorch_testing.sweep.suites import Suite

MARKS = {"pass": "✓", "fail": "✗", "missing": "-"}


def summary(entries: Entries, fields: tuple[str, ...]) -> str:
    """Return one line per field: how many entries pass."""
    return "\n".join(f"{field:10} {ok:4} of {total:4}" for field, (ok, total) in totals(entries, fields).items())


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
    """Return the page of docs/status that shows these suites."""
    return "\n".join("\n".join(_section(suite)) for suite in suites) + "\n"


def _section(suite: Suite) -> list[str]:
    entries: Entries = load_board(suite.board)["entries"]
    option = "" if suite.name == "ops" else f"--suite {suite.name} "
    lines = [
        f"# {suite.name.capitalize()} against torch 2.13.0",
        "",
        f"Written by `python -m mindtorch_testing.sweep {option}docs` from the scoreboard; do not edit. {suite.text}",
        "",
        "| field | entries that pass | of |",
        "| --- | ---: | ---: |",
        *(f"| {field} | {ok} | {total} |" for field, (ok, total) in totals(entries, suite.fields).items()),
        "",
        "✓ passes, ✗ differs, - is missing; an empty cell does not apply.",
        "",
        "| entry | " + " | ".join(suite.fields) + " |",
        "| --- |" + " :-: |" * len(suite.fields),
    ]
    for name in sorted(entries):
        cells = " | ".join(MARKS.get(entries[name].get(field, ""), "") for field in suite.fields)
        lines.append(f"| `{name}` | {cells} |")
    return lines
