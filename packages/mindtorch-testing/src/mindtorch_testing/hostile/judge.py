"""Loads hostile files in the present process and says what each did; runs in a forked child."""

from __future__ import annotations

import io
import pickle
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindtorch as mt
from mindtorch_storage.device import _TYPE_NUMBERS as DEVICE_TYPES
from mindtorch_storage.strides import memory_span
from mindtorch_testing.hostile.files import File

ADDRESS_SPACE = 3 << 30
"""What a batch may address beyond what the process has at its start: a bomb fails instead of taking the machine."""
ALLOWED = 64 << 20
SMALL = 100_000  # elements of tensors that are computed with
FAMILY = (pickle.UnpicklingError, RuntimeError)
"""What hostile files raise, NotImplementedError as a RuntimeError; beside EOFError, and ValueError for a byte order."""
_EVENTS = (
    "os.",
    "subprocess.",
    "socket.",
    "ctypes.",
    "shutil.",
    "webbrowser.",
    "pty.",
    "code.__new__",
    "exec",
    "compile",
)
_QUIET = ("os.listdir", "os.scandir", "os.truncate")


def _is_index(path: str) -> bool:
    """Return whether a path belongs to the index of installed packages, where the backend of a named device is looked up."""
    return path.endswith(".dist-info/entry_points.txt") or path in sys.path


class Canary:
    """Notes that a file made code run."""

    touched = False

    def __init__(self, *args: Any) -> None:
        Canary.touched = True


def canary(*args: Any) -> None:
    """A function that no file may call."""
    Canary.touched = True


class Watch:
    """Notes what the interpreter reports of a load: processes, modules, files, code."""

    def __init__(self) -> None:
        self.path = ""
        self.on = False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on:
            return
        if event == "open" and str(args[0]) != self.path and not _is_index(str(args[0])):
            self.seen.append(f"opened {args[0]!r}")
        elif event == "import":
            self.seen.append(f"imported {args[0]}")
        elif event.startswith(_EVENTS) and event not in _QUIET:
            self.seen.append(event)


def _peak() -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) << 10


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _tensors(value: Any) -> list[Any]:
    """The tensors of a value, wherever they are, each once."""
    found: list[Any] = []
    seen: set[int] = set()
    todo = [value]
    while todo and len(seen) < 2000:
        item = todo.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if isinstance(item, mt.Tensor):
            found.append(item)
            todo += list(vars(item).values())
        elif isinstance(item, dict):
            todo += (
                [*item, *item.values(), *vars(item).values()] if hasattr(item, "__dict__") else [*item, *item.values()]
            )
        elif isinstance(item, list | tuple | set):
            todo += item
    return found


def _outside(tensor: Any) -> bool:
    """Return whether a tensor reaches beyond its storage. The methods are the class's: a state may hide them on the object."""
    kind = mt.Tensor
    if tensor.layout is not mt.strided or kind.is_meta.__get__(tensor):
        return False
    sizes = kind.size(tensor), kind.stride(tensor), kind.storage_offset(tensor)
    needed = memory_span(*sizes) * kind.element_size(tensor)
    return kind.numel(tensor) > 0 and needed > kind.untyped_storage(tensor).nbytes()


def _tried(use: Callable[[], Any]) -> Exception | None:
    """Run something and return its error: any will do, what must not happen is that the process dies."""
    try:
        use()
    except Exception as error:  # noqa: BLE001 - see above
        return error
    return None


def _used(tensor: Any) -> list[Exception | None]:
    """Compute with a tensor, printing, changing and differentiating it."""
    uses = (
        lambda: repr(tensor), lambda: tensor.clone().add_(1), lambda: (tensor + 1).sum(), lambda: tensor.tolist(),
        lambda: tensor.reshape(-1)[:3], lambda: tensor.t().contiguous(), lambda: tensor.detach().mul_(2),
        lambda: (tensor * 2).sum().backward(), lambda: tensor.to(mt.float64).numpy(), lambda: tensor.coalesce(),
        lambda: mt.cat([tensor, tensor]), lambda: tensor.grad, lambda: mt.save(tensor, io.BytesIO()),
    )  # fmt: skip
    return [_tried(use) for use in uses]


def _finding(error: Exception) -> str:
    in_family = isinstance(error, FAMILY) and not isinstance(error, RecursionError)
    if in_family or type(error) is EOFError or "Unknown endianness" in str(error):
        return ""
    return f"error: {type(error).__name__}: {str(error)[:200]}"


def warm_up(data: bytes) -> None:
    """Load a good file and use what it holds, so that everything that loads need is imported before they are watched."""
    for kind in DEVICE_TYPES:  # the first use of a device looks for its backend among the installed packages
        _tried(lambda kind=kind: mt.zeros(1).to(kind))  # type: ignore[misc]
    for mapped in (False, True):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder, "file.pt")
            path.write_bytes(data)
            for tensor in _tensors(mt.load(path, mmap=mapped)):
                _used(tensor)


class Judge:
    """Loads files one after the other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "file.pt"
        self.watch = Watch()
        soft = _resident() + ADDRESS_SPACE
        virtual = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (virtual + soft, virtual + soft))

    def one(self, file: File) -> dict[str, Any]:
        """Load a file and use what it gives: the outcome, the error's type, memory, time, and what was found."""
        source: Any = io.BytesIO(file.data)
        if file.mapped:
            self.path.write_bytes(file.data)
            source = self.path
        self.watch.path, self.watch.seen, Canary.touched = str(self.path), [], False
        Path("/proc/self/clear_refs").write_text("5")  # from here on the peak is this load's
        before, started = _resident(), time.monotonic()
        value, error = None, None
        self.watch.on = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = mt.load(source, mmap=file.mapped, map_location=file.location)
        except Exception as raised:  # noqa: BLE001 - judged below
            error = raised.with_traceback(None)
        self.watch.on = False
        spent, memory = time.monotonic() - started, _peak() - before
        return {
            "number": file.number,
            "outcome": "loaded" if error is None else "refused",
            "error": type(error).__name__ if error else "",
            "memory": memory - 2 * len(file.data),
            "seconds": round(spent, 3),
            "findings": self._findings(value, error, memory - 2 * len(file.data)),
        }

    def _findings(self, value: Any, error: Exception | None, memory: int) -> list[str]:
        found = [f"ran: {event}" for event in self.watch.seen[:5]]
        if Canary.touched:
            found.append("ran: the canary")
        if memory > ALLOWED:
            found.append(f"memory: {memory >> 20} MB beyond twice the file")
        if error is not None:
            return found + [text for text in [_finding(error)] if text]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for tensor in _tensors(value):
                if _outside(tensor):
                    found.append("tensor outside its storage")
                elif mt.Tensor.numel(tensor) <= SMALL:
                    _used(tensor)
        return found
