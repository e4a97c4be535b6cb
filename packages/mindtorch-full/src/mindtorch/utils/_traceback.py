"""`torch.utils._traceback`: tracebacks kept cheaply, short texts of frames, and sources of programs that were compiled."""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

from mindtorch._naming import adopt

__all__: list[str] = []

_BASE = str(Path(__file__).resolve().parents[2])


@contextlib.contextmanager
def report_compile_source_on_error() -> Iterator[None]:
    """In the block, a traceback shows the lines of code whose globals hold its source as `__compile_source__`."""
    try:
        yield
    except Exception as error:
        _show_sources(error.__traceback__)
        raise


def _show_sources(entry: TracebackType | None) -> None:
    """Put other frames in place of those, after the first one, whose source only their globals know."""
    while entry is not None:
        after = entry.tb_next
        source = None if after is None else after.tb_frame.f_globals.get("__compile_source__")
        if after is not None and source is not None:
            frame = _frame_of(source, after.tb_frame.f_code)
            after = entry.tb_next = TracebackType(after.tb_next, frame, after.tb_lasti, after.tb_lineno)
        entry = after


def _frame_of(source: str, code: CodeType) -> FrameType:
    """Return a frame with the name and the lines of a code, in a file that only the cache of lines knows."""
    name = f"<compiled {hashlib.sha256(source.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    made = compile("frame()", name, "eval").replace(
        co_name=code.co_name, co_firstlineno=code.co_firstlineno, co_linetable=code.co_linetable
    )
    found: FrameType = eval(made, {"frame": lambda: sys._getframe(1)})
    return found


def shorten_filename(fn: str, *, base: str | None = None) -> str:
    """Return a path below the folder ``base``, by default that of the packages, as one relative to what both share."""
    try:
        shared = os.path.commonpath([fn, _BASE if base is None else base])
    except ValueError:  # another drive, or a relative path
        return fn
    return fn[len(shared) + 1 :]


def format_frame(frame: traceback.FrameSummary, *, base: str | None = None, line: bool = False) -> str:
    """Return one line for a frame: file, line and name, with ``line`` the code before them."""
    code = f"{frame.line}  # " if line else ""
    return f"{code}{shorten_filename(frame.filename, base=base)}:{frame.lineno} in {frame.name}"


def format_traceback_short(tb: TracebackType | None) -> str:
    """Return one line for the innermost frame of a traceback."""
    return format_frame(traceback.extract_tb(tb)[-1])


class CapturedTraceback:
    """The stack of a moment: codes and lines alone, so that no local variable lives longer. Texts are made when asked for."""

    __slots__ = ("skip", "tb")

    def __init__(self, tb: Any, skip: int = 0) -> None:
        self.tb: list[tuple[CodeType, int | None]] | None = tb
        self.skip = skip

    @staticmethod
    def extract(*, script: bool = False, cpp: bool = False, skip: int = 0) -> CapturedTraceback:
        """Return the stack of the caller, without ``skip`` of its innermost frames. Compiled code has no frames in it."""
        frame: FrameType | None = sys._getframe(0)
        frames = []
        while frame is not None:
            frames.append((frame.f_code, frame.f_lineno))
            frame = frame.f_back
        return CapturedTraceback(frames, skip + 1)

    def cleanup(self) -> None:
        """Forget the stack."""
        self.tb = None

    def summary(self) -> traceback.StackSummary:
        """Return the stack, innermost frame last; empty where it is forgotten."""
        frames = (self.tb or [])[self.skip :]
        return traceback.StackSummary.from_list(
            [traceback.FrameSummary(code.co_filename, line, code.co_name) for code, line in reversed(frames)]
        )

    def format(self) -> list[str]:
        """Return the stack as `traceback.format_list` writes it."""
        return traceback.format_list(self.summary())

    @staticmethod
    def format_all(tbs: Sequence[CapturedTraceback]) -> list[list[str]]:
        """Return the texts of several stacks."""
        return [tb.format() for tb in tbs]

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Leave the stack out: codes are not pickled."""
        return None, {"tb": None, "skip": self.skip}


adopt(globals())
