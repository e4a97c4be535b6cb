"""A trace of the profiler as one page of HTML, which needs no network: rows of bars over time, and what took longest."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HEIGHT = 18
LONGEST = 40


class NoTraceError(ValueError):
    """The file is no trace."""


def read(path: Path) -> list[dict[str, Any]]:
    """Return the events with a duration of a trace in Chrome's format."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise NoTraceError(f"{path} is no JSON: {error}") from None
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        raise NoTraceError(f"{path} has no traceEvents")
    return [one for one in events if isinstance(one, dict) and one.get("ph") == "X" and "ts" in one and "dur" in one]


def rows(events: Iterable[dict[str, Any]]) -> dict[str, list[tuple[float, float, int, str]]]:
    """Return the bars of every thread: start, duration, depth and name, calls below their callers."""
    threads: dict[str, list[dict[str, Any]]] = {}
    for event in events:
        threads.setdefault(f"{event.get('pid', '')} / {event.get('tid', '')}", []).append(event)
    found: dict[str, list[tuple[float, float, int, str]]] = {}
    for thread, mine in sorted(threads.items()):
        open_ends: list[float] = []
        for event in sorted(mine, key=lambda one: (float(one["ts"]), -float(one["dur"]))):
            start, duration = float(event["ts"]), float(event["dur"])
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            found.setdefault(thread, []).append((start, duration, len(open_ends), str(event.get("name", ""))))
            open_ends.append(start + duration)
    return found


def page(events: list[dict[str, Any]], title: str) -> str:
    """Return the page."""
    threads = rows(events)
    start = min((bar[0] for bars in threads.values() for bar in bars), default=0.0)
    data = [
        {"name": thread, "bars": [[bar[0] - start, bar[1], bar[2], bar[3]] for bar in bars]}
        for thread, bars in threads.items()
    ]
    totals: dict[str, tuple[int, float]] = {}
    for event in events:
        count, seconds = totals.get(str(event.get("name", "")), (0, 0.0))
        totals[str(event.get("name", ""))] = (count + 1, seconds + float(event["dur"]))
    longest = sorted(totals.items(), key=lambda item: -item[1][1])[:LONGEST]
    table = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{count:,}</td><td>{total:,.0f}</td><td>{total / count:,.1f}</td></tr>"
        for name, (count, total) in longest
    )
    embedded = json.dumps(data).replace("<", "\\u003c")
    return (
        TEMPLATE.replace("@TITLE@", html.escape(title)).replace("@TABLE@", table).replace("@HEIGHT@", str(HEIGHT))
        .replace("@COUNT@", f"{len(events):,}").replace("@DATA@", embedded)
    )  # fmt: skip


TEMPLATE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>@TITLE@</title>
<style>
body { font: 13px sans-serif; margin: 1em; } canvas { width: 100%; border: 1px solid #999; cursor: grab; }
td, th { padding: 2px 10px; text-align: right; } td:first-child, th:first-child { text-align: left; font-family: monospace; }
#shown { font-family: monospace; min-height: 1.4em; }
</style>
<h1>@TITLE@</h1>
<p>@COUNT@ calls. The wheel zooms, dragging moves; a bar says its name and times under the pointer.</p>
<p id="shown">&nbsp;</p><canvas id="rows"></canvas>
<h2>What took longest</h2>
<table><tr><th>name</th><th>calls</th><th>total, µs</th><th>each, µs</th></tr>@TABLE@</table>
<script>
const threads = @DATA@, tall = @HEIGHT@, canvas = document.getElementById("rows"), shown = document.getElementById("shown");
const pen = canvas.getContext("2d");
let end = 1, rows = 0;
for (const thread of threads) {
  thread.top = rows + 1;
  for (const bar of thread.bars) { end = Math.max(end, bar[0] + bar[1]); thread.deep = Math.max(thread.deep || 0, bar[2]); }
  rows = thread.top + thread.deep + 1;
}
let left = 0, width = end;
function colour(name) { let h = 0; for (const c of name) h = (h * 31 + c.charCodeAt(0)) % 360; return `hsl(${h} 55% 72%)`; }
function draw() {
  canvas.width = canvas.clientWidth; canvas.height = (rows + 1) * tall; pen.font = "11px sans-serif";
  for (const thread of threads) {
    pen.fillStyle = "#555"; pen.fillText(thread.name, 4, thread.top * tall - 5);
    for (const [start, time, depth, name] of thread.bars) {
      const x = (start - left) / width * canvas.width, w = Math.max(1, time / width * canvas.width);
      if (x + w < 0 || x > canvas.width) continue;
      pen.fillStyle = colour(name); pen.fillRect(x, (thread.top + depth) * tall, w, tall - 2);
      if (w > 40) {
        pen.fillStyle = "#000";
        pen.fillText(name.slice(0, w / 6), Math.max(x, 0) + 3, (thread.top + depth) * tall + 12);
      }
    }
  }
}
function at(event) { return left + event.offsetX / canvas.clientWidth * width; }
canvas.onwheel = event => {
  event.preventDefault(); const time = at(event), factor = event.deltaY > 0 ? 1.25 : 0.8;
  width = Math.min(end, width * factor); left = Math.max(0, time - (time - left) * factor); draw();
};
canvas.onmousemove = event => {
  if (event.buttons) { left = Math.max(0, left - event.movementX / canvas.clientWidth * width); draw(); return; }
  const time = at(event), row = Math.floor(event.offsetY / tall);
  for (const thread of threads) for (const [start, took, depth, name] of thread.bars)
    if (thread.top + depth === row && start <= time && time <= start + took) {
      shown.textContent = `${name}: ${took.toFixed(1)} µs from ${start.toFixed(1)} µs`; return;
    }
  shown.innerHTML = "&nbsp;";
};
window.onresize = draw; draw();
</script></html>
"""


def write(source: Path, target: Path) -> int:
    """Write the page of a trace, and return how many calls it shows."""
    events = read(source)
    target.write_text(page(events, source.name), encoding="utf-8")
    return len(events)
