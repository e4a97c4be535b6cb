"""A memory snapshot as one page: the use of memory over time and a map of the segments. It needs nothing else.

`python -m mindtorch_npu.snapshot_page FILE [--output PAGE] [--json]`
"""

from __future__ import annotations

import argparse
import html
import json
import pickle
import sys
from pathlib import Path
from typing import Any

COLORS = {"active_allocated": "#2a78b5", "active_pending_free": "#e0a030", "inactive": "#d9dde2"}
MOST_BLOCKS = 4000
"""So many blocks and moments are drawn; beyond that the page says that there are more."""


class _Plain(pickle.Unpickler):
    """Reads what snapshots are made of, and refuses everything else that a pickle may ask to run."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"a snapshot holds no {module}.{name}")


def load(path: str | Path) -> dict[str, Any]:
    """Read a dumped snapshot. Raises ValueError for a file that is none."""
    try:
        with Path(path).open("rb") as file:
            found = _Plain(file).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, IndexError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no memory snapshot: {error}") from error
    if not isinstance(found, dict) or "segments" not in found:
        raise ValueError(f"{path} is no memory snapshot: it has no segments")
    return found


def totals(snapshot: dict[str, Any]) -> dict[str, int]:
    """Return what the segments add up to, in bytes, and how many there are."""
    segments = snapshot["segments"]
    free = [block["size"] for s in segments for block in s["blocks"] if block["state"] == "inactive"]
    return {
        "segments": len(segments),
        "blocks": sum(len(s["blocks"]) for s in segments),
        "reserved": sum(s["total_size"] for s in segments),
        "allocated": sum(s["allocated_size"] for s in segments),
        "active": sum(s["active_size"] for s in segments),
        "free": sum(free),
        "largest_free": max(free, default=0),
    }


def timeline(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """Return, per device with a history, the allocated and reserved bytes after each entry.

    The history may begin late: what was there before it follows from what is there at its end.
    """
    found = []
    for device, entries in enumerate(snapshot.get("device_traces", [])):
        if not entries:
            continue
        moves = [
            (_change(entry, "alloc", "free_completed"), _change(entry, "segment_alloc", "segment_free"))
            for entry in entries
        ]
        own = [s for s in snapshot["segments"] if s["device"] == device]
        end = (sum(s["active_size"] for s in own), sum(s["total_size"] for s in own))
        allocated = max(0, _requested(own) - sum(a for a, _ in moves))
        reserved = max(0, end[1] - sum(r for _, r in moves))
        points: list[dict[str, Any]] = []
        for entry, (a, r) in zip(entries, moves, strict=True):
            allocated, reserved = allocated + a, reserved + r
            points.append(
                {
                    "time": entry.get("time_us", len(points)),
                    "allocated": allocated,
                    "reserved": reserved,
                    "action": entry["action"],
                }
            )
        found.append({"device": device, "points": points[-MOST_BLOCKS:], "left_out": max(0, len(points) - MOST_BLOCKS)})
    return found


def _requested(segments: list[dict[str, Any]]) -> int:
    return sum(int(b["requested_size"]) for s in segments for b in s["blocks"] if b["state"] != "inactive")


def _change(entry: dict[str, Any], rise: str, fall: str) -> int:
    sign = int(entry["action"] == rise) - int(entry["action"] == fall)
    return int(entry["size"]) * sign


def size(number: float) -> str:
    """Return a number of bytes in words."""
    for unit in ("B", "KiB", "MiB"):
        if abs(number) < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.2f} GiB"


def _where(frames: list[dict[str, Any]]) -> str:
    own = [f for f in frames if "mindtorch" not in str(f.get("filename"))] or frames
    return " < ".join(f"{f.get('name')} {f.get('filename')}:{f.get('line')}" for f in own[:3])


def _cell(block: dict[str, Any], whole: int) -> str:
    asked, where = size(block["requested_size"]), _where(block.get("frames", []))
    words = html.escape(f"{block['state']} {size(block['size'])}, asked for {asked} {where}", True)
    style = f"width:{100 * block['size'] / max(1, whole):.3f}%;background:{COLORS.get(block['state'], '#000')}"
    return f'<i style="{style}" title="{words}"></i>'


def _row(block: dict[str, Any]) -> str:
    where = html.escape(_where(block.get("frames", [])) or "not recorded")
    return f"<tr><td>{size(block['size'])}</td><td>{block['state']}</td><td>{where}</td></tr>"


def _map(snapshot: dict[str, Any]) -> str:
    rows, drawn = [], 0
    for segment in sorted(snapshot["segments"], key=lambda s: (s["device"], -s["total_size"])):
        label = (
            f"device {segment['device']} {segment['segment_type']} {segment['address']:#x} {size(segment['total_size'])}"
            f" stream {segment['stream']:#x}" + (" expandable" if segment.get("is_expandable") else "")
        )
        cells = []
        for block in segment["blocks"]:
            drawn += 1
            if drawn > MOST_BLOCKS:
                break
            cells.append(_cell(block, segment["total_size"]))
        rows.append(f'<div class="seg"><b>{html.escape(label)}</b><div class="bar">{"".join(cells)}</div></div>')
    more = f"<p>{drawn - MOST_BLOCKS} more blocks are not drawn.</p>" if drawn > MOST_BLOCKS else ""
    return "\n".join(rows) + more


def _largest(snapshot: dict[str, Any]) -> str:
    blocks = [b for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive"]
    rows = [_row(block) for block in sorted(blocks, key=lambda block: -block["size"])[:30]]
    return f"<table><tr><th>size</th><th>state</th><th>allocated by</th></tr>{''.join(rows)}</table>"


_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Memory snapshot</title><style>
body{font:14px system-ui,sans-serif;margin:2em;max-width:1200px}.bar{display:flex;height:18px;border:1px solid #888}
.bar i{display:block;height:100%%;box-shadow:inset -1px 0 #fff8}.seg{margin:6px 0}.seg b{font:12px monospace}
canvas{width:100%%;height:220px;border:1px solid #888}table{border-collapse:collapse}td,th{padding:2px 10px;text-align:left}
</style><h1>Memory snapshot</h1><p>%(note)s</p><table>%(totals)s</table><h2>Timeline</h2><div id="time">%(empty)s</div>
<h2>Segments</h2><p>blue in use, yellow waiting for a stream, grey free</p>%(map)s<h2>Largest blocks</h2>%(largest)s
<script>const data=%(data)s;const place=document.getElementById("time");
for(const one of data){const c=document.createElement("canvas");c.width=1200;c.height=220;
const title=document.createElement("p"),said=document.createElement("p");title.textContent="device "+one.device+
(one.left_out?", the first "+one.left_out+" entries left out":"");place.append(title,c,said);
const g=c.getContext("2d"),p=one.points,top=Math.max(1,...p.map(x=>Math.max(x.reserved,x.allocated)));
const line=(key,color)=>{g.strokeStyle=color;g.beginPath();p.forEach((q,i)=>{const x=i*1200/Math.max(1,p.length-1),
y=215-210*q[key]/top;i?g.lineTo(x,y):g.moveTo(x,y)});g.stroke()};line("reserved","#888");line("allocated","#2a78b5");
c.onmousemove=e=>{const q=p[Math.min(p.length-1,Math.round(e.offsetX/c.clientWidth*(p.length-1)))];
said.textContent=q.action+": allocated "+q.allocated+" bytes, reserved "+q.reserved+" bytes, at "+q.time+" us"}}
</script></html>
"""


def page(snapshot: dict[str, Any], note: str = "") -> str:
    """Return the page's HTML; nothing in it is fetched from anywhere."""
    history = timeline(snapshot)
    rows = "".join(
        f"<tr><td>{name}</td><td>{number if name in ('segments', 'blocks') else size(number)}</td></tr>"
        for name, number in totals(snapshot).items()
    )
    return _PAGE % {
        "note": html.escape(note),
        "totals": rows,
        "empty": "" if history else "No history was recorded.",
        "map": _map(snapshot),
        "largest": _largest(snapshot),
        "data": json.dumps(history).replace("</", "<\\/"),
    }


def main(arguments: list[str]) -> int:
    """Write the page of a snapshot; 1 for a file that is none."""
    parser = argparse.ArgumentParser(prog="mindtorch-npu snapshot view")
    parser.add_argument("file")
    parser.add_argument("--output")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    output = Path(options.output or f"{options.file}.html")
    try:
        found = load(options.file)
        output.write_text(page(found, options.file), encoding="utf-8")
    except (OSError, ValueError) as error:
        if options.json:
            print(json.dumps({"schema": 1, "status": 1, "error": str(error)}))
        else:
            print(error, file=sys.stderr)
        return 1
    sums = totals(found)
    if options.json:
        print(json.dumps({"schema": 1, "status": 0, "page": str(output), **sums}, indent=2))
        return 0
    sizes = {name: size(value) for name, value in sums.items() if name not in ("segments", "blocks")}
    print(f"{sums['segments']} segments, {sums['blocks']} blocks")
    print("\n".join(f"{name.replace('_', ' ') + ':':<14}{value:>12}" for name, value in sizes.items()))
    print(f"written: {output}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
