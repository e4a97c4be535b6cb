"""What a run leaves: the page in docs/status, and the findings as data."""

from __future__ import annotations

import argparse
import datetime
import os
from typing import Any

import torch

from mindtorch_testing.fuzz.campaign import Findings, described
from mindtorch_testing.fuzz.ends import ALONE, NEVER, told
from mindtorch_testing.fuzz.judge import KINDS
from mindtorch_testing.fuzz.progress import Progress
from mindtorch_testing.sweep.board import repository_root, write_atomically

MEANING = {
    "crash": "our process ended", "hang": "over 20 s", "memory": "1 GB more than torch", "value": "another value",
    "missed error": "a result where torch raises", "extra error": "an error where torch answers",
    "error type": "another exception", "error text": "another text", "dtype": "another dtype", "shape": "another shape",
    "stride": "other strides or offset", "type": "another type, layout or requires_grad",
    "alias": "another memory shared, conj or neg bit", "input": "an argument left otherwise",
    "gradient": "another gradient", "setup": "an argument that we cannot make",
}  # fmt: skip


def write_page(options: argparse.Namespace, progress: Progress, findings: Findings, absent: int) -> None:
    """Write docs/status/fuzz.md."""
    tally, today, reports = progress.tally(), progress.today(), progress.reports()
    accepted = "\n".join(
        f"| {row.name} | {row.reason} | {tally.accepted[row.name]} |" for row in findings.rows.rows
    )  # fmt: skip
    reported = {kind: sum(r.finding.kind == kind for r in reports) for kind in KINDS}
    followed = {kind: reported[kind] if kind in findings.kinds else "" for kind in KINDS}
    kinds = "\n".join(
        f"| {kind} | {MEANING[kind]} | {tally.kinds[kind]} | {today.kinds[kind]} | {followed[kind]} |" for kind in KINDS
    )
    skipped = "\n".join(f"- `{pattern}`: {reason}" for pattern, reason in findings.rows.skipped.items())
    examples = "\n\n".join(described(report) for report in reports[:40])
    text = f"""# Random calls beside torch

Written on {datetime.date.today()} by `python -m mindtorch_testing.fuzz --write`; do not edit.
Seeds {", ".join(map(str, progress.seeds()))}.
torch {torch.__version__}, {os.cpu_count()} processors{", MALLOC_CHECK_=3" * options.malloc_check}.

{tally.calls:,} calls of {len(tally.entries):,} entry points in {progress.seconds() / 60:.1f} minutes of a processor,
{today.calls:,} of them of these sources, the others of {progress.states() - 1} states before: what those found was made again.
{tally.answered["value"]:,} were answered by torch, {tally.answered["error"]:,} refused,
{sum(tally.dropped.values()):,} dropped because torch crashed or hung or could not make the arguments.
{absent} entry points are torch's only (`unsupported.toml`, `docs/status/op-coverage.md`).

| kind | what it is | calls | of these sources | findings |
| --- | --- | ---: | ---: | ---: |
{kinds}

A finding is one cause at one entry point of these sources, shrunk; kinds without a number were counted and not followed up.

## Accepted

| row | reason | calls |
| --- | --- | ---: |
{accepted}
"""
    text += ends(tally.ends, tally.kinds["crash"] + tally.kinds["hang"])
    if skipped:
        text += f"\nNot called:\n\n{skipped}\n"
    if examples:
        text += f"\n## Findings\n\n```\n{examples}\n```\n"
    write_atomically(repository_root() / "docs" / "status" / "fuzz.md", text)


def ends(recorded: list[dict[str, Any]], counted: int) -> str:
    """Return the section of the processes of ours that ended or hung."""
    if not counted:
        return ""
    alone = sum(end["again"] == ALONE for end in recorded)
    text = f"""
## Processes of ours that ended

{counted} ended or hung; {counted - len(recorded)} of them before their calls were kept.
Of the others {alone} came again by the last call alone, {sum(end["again"] == NEVER for end in recorded)} never.
"""
    return text + "".join(f"\n```\n{told(end)}\n```\n" for end in recorded)
