"""The name under which the system lists the calling thread."""

import sys
import threading
from pathlib import Path


def _entry() -> Path | None:
    """Return the file that holds it, None where the system has no such file."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/comm") if sys.platform == "linux" else None


def _set_thread_name(name: str) -> None:
    """Give the calling thread a name, of which Linux keeps 15 bytes and other systems nothing.

    >>> torch.multiprocessing._set_thread_name("reader")
    """
    entry = _entry()
    if entry is not None:
        entry.write_text(name)


def _get_thread_name() -> str:
    """Return the calling thread's name, an empty text where the system tells none."""
    entry = _entry()
    return "" if entry is None else entry.read_text().removesuffix("\n")
