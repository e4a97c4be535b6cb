"""Writing a process's output to files, that of its native code included."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from mindtorch._naming import adopt

__all__ = ["redirect", "redirect_stderr", "redirect_stdout"]


@contextmanager
def redirect(std: str, to_file: str) -> Iterator[None]:
    """Within the block the stream `std` ("stdout" or "stderr") writes to a file."""
    if std not in ("stderr", "stdout"):
        raise ValueError(f"unknown standard stream <{std}>, must be one of stdout or stderr")
    stream = getattr(sys, std)
    number = {"stdout": 1, "stderr": 2}[std]
    kept = os.dup(number)
    stream.flush()
    with open(to_file, "w+b") as target:
        os.dup2(target.fileno(), number)
    try:
        yield
    finally:
        stream.flush()
        os.dup2(kept, number)
        os.close(kept)


def redirect_stdout(to_file: str) -> object:
    """`redirect` of stdout."""
    return redirect("stdout", to_file)


def redirect_stderr(to_file: str) -> object:
    """`redirect` of stderr."""
    return redirect("stderr", to_file)


adopt(globals())
