"""What is written down of a process of ours that ended or hung: the calls it made, where it was, whether it comes again."""

from __future__ import annotations

from typing import Any

from mindtorch_testing.fuzz.sides import End, Program, Side

CALLS, LOG, BEFORE = 20, 6000, 5
ALONE, NEVER = "alone", "never"


def as_end(side: Side, entry: str, seed: int, death: str, end: End) -> dict[str, Any]:
    """Return an end as plain data: its last calls and what it wrote, and whether the same calls end a process again."""
    return {
        "entry": entry, "seed": seed, "death": death, "stage": end.stage, "operands": end.operands,
        "log": end.log[-LOG:], "before": len(end.calls) - 1, "calls": [list(call) for call in end.calls[-CALLS:]],
        "again": again(side, end.calls),
    }  # fmt: skip


def again(side: Side, calls: tuple[Program, ...]) -> str:
    """Make the last call alone, then all calls from the start of their process; say which ended one."""
    if side.run([calls[-1]])[0].death:
        return ALONE
    if any(outcome.death for outcome in side.run(list(calls))):
        return f"after the {len(calls) - 1} calls before it"
    return NEVER


def told(end: dict[str, Any], before: int = 0) -> str:
    """Return the lines that tell an end, with so many of the calls before it where it did not come again by itself."""
    earlier = [] if end["again"] == ALONE else end["calls"][-1 - before : -1]
    setup, call, _ = end["calls"][-1]
    indented = "\n".join(f"    {line}" for line in end["log"].strip().splitlines())
    return "\n".join((
        f"{end['entry']}: {end['death']}, seed {end['seed']}, {end['stage']}, {end['before']} calls before it",
        *(f"    {line}" for line in (*setup.splitlines(), call, *end["operands"].splitlines())),
        f"    again: {end['again']}",
        *(f"    before: {setup}; {call}".replace("\n", "; ") for setup, call, _ in earlier),
        indented,
    ))  # fmt: skip
