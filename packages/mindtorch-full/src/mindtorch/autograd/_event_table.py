"""The profiler's table: columns chosen by what the events carry, numbers with units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_GAP = "  "
_WIDTH = 12
_DIVISORS = {"s": 1e6, "ms": 1e3, "us": 1.0}
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_MEMORY = ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB"))


def format_time(microseconds: float) -> str:
    """Return a time with the unit that suits it, `1.500ms`."""
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    return f"{microseconds / 1e3:.3f}ms" if microseconds >= 1e3 else f"{microseconds:.3f}us"


def format_time_in(unit: str) -> Callable[[float], str] | None:
    """Return the formatter of times in `unit`, None for a unit that is not known."""
    return (lambda time: f"{time / _DIVISORS[unit]:.3f}{unit}") if unit in _DIVISORS else None


def format_time_share(microseconds: float, total: float) -> str:
    """Return the share of the total in percent, `NaN` of nothing."""
    if total == 0:
        if microseconds != 0:
            raise AssertionError(f"Expected time_us == 0 but got {microseconds}")
        return "NaN"
    return f"{microseconds * 100.0 / total:.2f}%"


def format_memory(nbytes: float) -> str:
    """Return a number of bytes with the unit that suits it."""
    for size, unit in _MEMORY:
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


class Column(NamedTuple):
    """A heading, its width, which way it is pushed, and the cell of an event."""

    heading: str
    width: int
    cell: Callable[[Any], str]
    left: bool = False


class TableOptions(NamedTuple):
    """What the caller of `table` asked for."""

    sort_by: str | None
    row_limit: int
    max_src_column_width: int
    max_name_column_width: int
    max_shapes_column_width: int
    header: str | None
    top_level_events_only: bool
    time_unit: str | None
    profile_memory: bool
    with_flops: bool


def _shortened(name: str, limit: int) -> str:
    return f"{name[: limit - 3]}..." if limit is not None and len(name) >= limit - 3 else name


def _tail(path: str, width: int) -> str:
    return path if len(path) <= width else "..." + path[len(path) - width + 3 :]


def _width(texts: Sequence[str], limit: int | None) -> int:
    found = max(map(len, texts)) + 4
    return found if limit is None else min(found, limit)


def _columns(events: Sequence[Any], options: TableOptions, time: Callable[[float], str]) -> list[Column]:
    total = sum(event.self_cpu_time_total for event in events)
    name_limit = options.max_name_column_width
    columns = [
        Column("Name", _width([e.key for e in events], name_limit), lambda e: _shortened(e.key, name_limit)),
    ]
    if any(event.overload_name for event in events):
        width = _width([event.overload_name for event in events], name_limit)
        columns.append(Column("Overload Name", width, lambda e: _shortened(e.overload_name, name_limit)))
    columns += [
        Column("Self CPU %", _WIDTH, lambda e: format_time_share(e.self_cpu_time_total, total)),
        Column("Self CPU", _WIDTH, lambda e: time(e.self_cpu_time_total)),
        Column("CPU total %", _WIDTH, lambda e: "0" if e.is_async else format_time_share(e.cpu_time_total, total)),
        Column("CPU total", _WIDTH, lambda e: time(e.cpu_time_total)),
        Column("CPU time avg", _WIDTH, lambda e: time(e.cpu_time)),
    ]
    if options.profile_memory:
        columns += [
            Column("CPU Mem", _WIDTH, lambda e: format_memory(e.cpu_memory_usage)),
            Column("Self CPU Mem", _WIDTH, lambda e: format_memory(e.self_cpu_memory_usage)),
        ]
    columns.append(Column("# of Calls", _WIDTH, lambda e: str(e.count)))
    if any(event.node_id != -1 for event in events):
        columns.append(Column("Node ID", _WIDTH, lambda e: str(e.node_id)))
    return columns + _optional_columns(events, options)


def _optional_columns(events: Sequence[Any], options: TableOptions) -> list[Column]:
    columns = []
    limit = options.max_shapes_column_width
    if any(event.input_shapes for event in events):
        width = _width([str(event.input_shapes) for event in events], limit)
        columns.append(Column("Input Shapes", width, lambda e: str(e.input_shapes)[:limit]))
    stacks = [event.stack for event in events if event.stack]
    if stacks:
        limit = options.max_src_column_width
        width = _width([line for stack in stacks for line in stack], limit)
        columns.append(Column("Source Location", width, lambda e: _tail(e.stack[0], width) if e.stack else "", True))
    if options.with_flops:
        counts = [event.flops for event in events if event.flops > 0]
        if counts:
            power = max(0, min(len(_FLOPS) - 1, int(math.log10(max(counts)) // 3)))
            scale = 10 ** (-3 * power)
            columns.append(
                Column(f"Total {_FLOPS[power]}", _WIDTH, lambda e: f"{e.flops * scale:.3f}" if e.flops > 0 else "--")
            )
    return columns


def table_text(events: Sequence[Any], options: TableOptions) -> str:
    """Return the table of the events; an empty text for none."""
    if not events:
        return ""
    if options.sort_by is not None:
        key = options.sort_by.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")
        events = sorted(events, key=lambda event: getattr(event, key), reverse=True)
    time = (format_time_in(options.time_unit) if options.time_unit else None) or format_time
    columns = _columns(events, options, time)
    lines: list[str] = []

    def row(cells: Sequence[str]) -> None:
        placed = [
            cell.ljust(column.width) if column.left else cell.rjust(column.width)
            for column, cell in zip(columns, cells, strict=True)
        ]
        lines.append(_GAP.join(placed) + _GAP)

    rule = _GAP.join("-" * column.width for column in columns) + _GAP
    length = len(rule) - len(_GAP)
    if options.header is not None:
        lines += ["=" * length, options.header]
    if options.top_level_events_only:
        lines += ["=" * length, "This report only display top-level ops statistics"]
    lines.append(rule)
    row([column.heading for column in columns])
    lines.append(rule)
    limit = len(events) if options.row_limit == -1 else options.row_limit
    shown = (e for e in events if not (options.top_level_events_only and e.cpu_parent is not None))
    for _, event in zip(range(limit), shown, strict=False):
        row([column.cell(event) for column in columns])
        _stack_rows(event, columns, row)
    lines += [rule, f"Self CPU time total: {time(sum(event.self_cpu_time_total for event in events))}"]
    return "\n".join(lines) + "\n"


def _stack_rows(event: Any, columns: Sequence[Column], row: Callable[[Sequence[str]], None]) -> None:
    place = next((index for index, column in enumerate(columns) if column.heading == "Source Location"), None)
    if place is None:
        return
    blank = [""] * len(columns)
    for line in event.stack[1:]:
        row([*blank[:place], _tail(line, columns[place].width), *blank[place + 1 :]])
    row(blank)
