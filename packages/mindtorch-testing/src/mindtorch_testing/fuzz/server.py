"""One side of the fuzz, run as a script: `server.py torch` or `server.py mindtorch`.

Imports its library once, then answers requests on stdin. Every batch of calls runs in a fork, so that a call which
ends the process costs no new import, and no batch sees the state that another left. This file imports nothing of the
package it stands in: a side must load one library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import gc
import importlib
import marshal
import math
import mmap
import os
import resource
import signal
import struct
import sys
import threading
import time
import warnings
from typing import Any

import numpy as np

HEADER = struct.Struct("<iiffi")
"""Number of the call, length of the outcome, seconds of a processor, megabytes that the peak of memory grew by, kind."""

STARTED, OUTCOME, ENDED, ANSWER = range(4)
ELEMENTS = 20_000
ITEMS = 64
DEPTH = 4
HEADROOM = 1536 << 20
TRAIL = 1 << 16
TOLD = 4000
"""Characters that are told of operands."""


class Trail:
    """What a batch's process is at, in memory that it shares with the server and that stays when it ends."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, TRAIL)
        self.index, self.operands = 0, ""
        self.leave("start")

    def leave(self, stage: str) -> None:
        """Write down what comes next."""
        body = marshal.dumps((self.index, stage, self.operands))
        self.memory[: 4 + len(body)] = struct.pack("<i", len(body)) + body

    def read(self) -> bytes:
        """Return what was written last: number of the call, stage, operands."""
        (length,) = struct.unpack("<i", self.memory[:4])
        return self.memory[4 : 4 + length]


class Side:
    """The library of this side and what a call needs of it."""

    def __init__(self, name: str) -> None:
        self.torch: Any = importlib.import_module(name)
        self.names = {
            "torch": self.torch,
            "nan": math.nan,
            "inf": math.inf,
            "np": np,
            "state": state,
            "made": self.made,
        }
        self.generator = self.torch.default_generator
        self.trail = Trail()
        self.threads = int(os.environ.get("MINDTORCH_FUZZ_THREADS", "1"))
        self.patience = float(os.environ.get("MINDTORCH_FUZZ_PATIENCE", "20"))
        if self.threads > 1:
            threading.excepthook = lambda args: None  # the call's own outcome is what is compared
        self.results = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def send(self, kind: int, index: int = 0, payload: bytes = b"", seconds: float = 0.0, grown: float = 0.0) -> None:
        """Write one record in one piece."""
        self.results.write(HEADER.pack(index, len(payload), seconds, grown, kind) + payload)

    def serve(self) -> None:
        """Answer requests until stdin ends."""
        stdin = sys.stdin.buffer
        while length := stdin.read(4):
            request, data = marshal.loads(stdin.read(struct.unpack("<i", length)[0]))
            if request == "warm":
                for program in data:
                    self.call(0, program, silent=True)
                self.send(ANSWER, payload=marshal.dumps(None))
                continue
            if request == "present":
                self.send(ANSWER, payload=marshal.dumps([self.present(text) for text in data]))
                continue
            self.trail = Trail()
            pid = os.fork()
            if pid == 0:
                self.worker(data)
            _, status, used = os.wait4(pid, 0)
            self.send(ENDED, status, self.trail.read(), seconds=used.ru_utime + used.ru_stime)

    def present(self, text: str) -> bool:
        """Tell whether a name resolves."""
        try:
            eval(text, dict(self.names))
        except (AttributeError, ImportError, NotImplementedError, RuntimeError):
            return False
        return True

    def made(self, shape: tuple[int, ...], dtype: str, number: int) -> Any:
        """Return a tensor for a sequence: elements of either sign, neighbours never alike, another one for each number."""
        values = [(7 * (number + place) % 11 - 4) / 3 for place in range(math.prod(shape))]
        return self.torch.tensor(values).reshape(shape).to(getattr(self.torch, dtype))

    def worker(self, programs: list[tuple[str, str, bool]]) -> None:
        """Run a batch and end the process."""
        try:
            self.send(STARTED, os.getpid())
            limit_memory()
            for index, program in enumerate(programs):
                self.call(index, program)
        finally:
            os._exit(0)

    def call(self, index: int, program: tuple[str, str, bool], silent: bool = False) -> None:
        """Run one call and send its outcome, but where it only warms up; more computing than there is patience ends us."""
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.process_time()
        self.trail.index, self.trail.operands = index, ""
        signal.setitimer(signal.ITIMER_PROF, 0.0 if silent else self.patience * self.threads)
        beside = [threading.Thread(target=self.outcome, args=program) for _ in range(self.threads - 1)]
        try:
            for thread in beside:
                thread.start()
            outcome = self.outcome(*program)
            for thread in beside:
                thread.join()
        except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt and SystemExit are outcomes, too
            outcome = ("unreadable", type(error).__name__, str(error))
        if silent:
            return
        seconds = (time.process_time() - start) / self.threads
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        self.send(OUTCOME, index, marshal.dumps(outcome, 2), seconds, grown)
        self.trail.leave("sent")
        if grown > 64:
            gc.collect()
            reset_peak()

    def outcome(self, setup: str, call: str, backward: bool) -> tuple[Any, ...]:
        """Run `setup`, evaluate `call`; return what a user could see afterwards."""
        variables: dict[str, Any] = {}
        self.trail.leave("setup")
        try:
            self.generator.manual_seed(0)
            exec(setup, self.names, variables)
        except Exception as error:  # noqa: BLE001 - reported to the other side
            return ("setup", type(error).__name__, str(error))
        self.trail.operands = operands(self.torch, variables)
        self.trail.leave("call")
        try:
            result = eval(call, self.names, variables)
        except BaseException as error:  # noqa: BLE001 - which error it is, is the question
            return ("error", type(error).__name__, str(error), self.inputs(variables))
        self.trail.leave("reading the result")
        reader = Reader(self.torch, list(variables.values()))
        seen = reader.describe(result)
        self.trail.leave("backward")
        gradients: Any = self.backward(reader, variables) if backward else None
        return ("value", seen, self.inputs(variables), gradients)

    def inputs(self, variables: dict[str, Any]) -> tuple[Any, ...]:
        """Describe the arguments as the call left them."""
        reader = Reader(self.torch, [])
        return tuple((name, reader.describe(value)) for name, value in variables.items())

    def backward(self, reader: Reader, variables: dict[str, Any]) -> tuple[Any, ...] | None:
        """Go back from every result that has a gradient; return the gradients of the arguments."""
        roots = [t for t in reader.tensors if t.requires_grad and t.grad_fn is not None]
        if not roots or any(t.numel() > ELEMENTS for t in roots):
            return None
        try:
            self.torch.autograd.backward(roots, [self.torch.ones_like(t) for t in roots])
        except Exception as error:  # noqa: BLE001 - which error it is, is the question
            return ("error", type(error).__name__, str(error))
        described = Reader(self.torch, [])
        leaves = [(n, v) for n, v in variables.items() if isinstance(v, self.torch.Tensor) and v.is_leaf]
        return tuple((name, described.describe(leaf.grad)) for name, leaf in leaves)


class Reader:
    """Turns values into tuples of plain objects, tensors with their bytes."""

    def __init__(self, torch: Any, inputs: list[Any]) -> None:
        self.torch = torch
        self.inputs = inputs
        self.tensors: list[Any] = []

    def describe(self, value: Any, depth: int = 0) -> Any:
        """Describe a value; containers to a few levels."""
        if isinstance(value, self.torch.Tensor):
            self.tensors.append(value)
            return self.tensor(value)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            plain = value if type(value) in (bool, int, float, complex, str, bytes) else str(value)
            return ("S", type(value).__name__, plain)
        name = type(value).__name__
        if name == "Size":
            return ("S", name, tuple(int(size) for size in value))
        if isinstance(value, (list, tuple)) and depth < DEPTH:
            items = tuple(self.describe(item, depth + 1) for item in value[:ITEMS])
            return ("L", name, len(value), items)
        if isinstance(value, dict) and depth < DEPTH:
            items = tuple((str(key), self.describe(item, depth + 1)) for key, item in value.items())
            return ("L", name, len(value), items)
        if name in ("dtype", "device", "layout", "memory_format", "iinfo", "finfo"):
            return ("S", name, str(value))
        return ("O", name)

    def tensor(self, value: Any) -> tuple[Any, ...]:
        """Describe a tensor: its geometry, which argument it is or shares memory with, its bytes."""
        if value.layout is not self.torch.strided:
            return self.sparse(value)
        shape = tuple(value.shape)
        head = (
            "T", str(value.dtype), shape, tuple(value.stride()), value.storage_offset(), value.device.type,
            value.requires_grad, value.is_conj(), value.is_neg(), self.alias(value),
        )  # fmt: skip
        if value.device.type != "cpu" or math.prod(shape) > ELEMENTS:
            return (*head, None)
        plain = value.detach()
        if value.is_conj():
            plain = plain.resolve_conj()
        if value.is_neg():
            plain = plain.resolve_neg()
        return (*head, read_bytes(plain))

    def alias(self, value: Any) -> str:
        """Say which argument a result is, or whose memory it uses."""
        for index, other in enumerate(self.inputs):
            if other is value:
                return f"is {index}"
        place = value.untyped_storage().data_ptr()
        for index, other in enumerate(self.inputs):
            if (
                place
                and isinstance(other, self.torch.Tensor)
                and other.layout is self.torch.strided
                and other.untyped_storage().data_ptr() == place
            ):
                return f"view of {index}"
        return ""

    def sparse(self, value: Any) -> tuple[Any, ...]:
        """Describe a tensor of another layout by its parts."""
        names = {
            "torch.sparse_coo": ("_indices", "_values"),
            "torch.sparse_csr": ("crow_indices", "col_indices", "values"),
            "torch.sparse_bsr": ("crow_indices", "col_indices", "values"),
            "torch.sparse_csc": ("ccol_indices", "row_indices", "values"),
            "torch.sparse_bsc": ("ccol_indices", "row_indices", "values"),
        }.get(str(value.layout), ())
        parts = tuple(self.tensor(getattr(value, name)()) for name in names)
        return ("P", str(value.layout), str(value.dtype), tuple(value.shape), parts)


def read_bytes(value: Any) -> Any:
    """Return the elements in order as bytes, read from memory and not through an operator."""
    sizes = [(size, stride) for size, stride in zip(value.shape, value.stride(), strict=True) if size != 1]
    count = math.prod(size for size, _ in sizes)
    if count == 0:
        return b""
    item = value.element_size()
    last = sum((size - 1) * stride for size, stride in sizes)
    if (value.storage_offset() + last + 1) * item > value.untyped_storage().nbytes():
        return "outside of its storage"
    place = value.data_ptr()
    if last + 1 == count and value.is_contiguous():
        return ctypes.string_at(place, count * item)
    memory = np.frombuffer(ctypes.string_at(place, (last + 1) * item), f"V{item}")
    strides = tuple(stride * item for _, stride in sizes)
    return np.lib.stride_tricks.as_strided(memory, tuple(size for size, _ in sizes), strides).tobytes()


def operands(torch: Any, variables: dict[str, Any]) -> str:
    """Say what the tensors among the operands are; nothing is called that would make a part of them."""
    told = []
    for name, value in variables.items():
        if isinstance(value, torch.Tensor):
            plain = value.layout is torch.strided
            geometry = (
                f"{tuple(value.shape)} {tuple(value.stride())} at {value.storage_offset()}" if plain else value.layout
            )
            told.append(f"{name}: {value.device.type} {value.dtype} {geometry}{' requires grad' * value.requires_grad}")
    return "\n".join(told)[:TOLD]


def state(value: Any) -> tuple[Any, ...] | None:
    """Return what a tensor became beside its elements: its gradient, version, place in the graph."""
    if value is None:
        return None
    node = type(value.grad_fn).__name__.rstrip("0123456789")
    return value.grad, value._version, value.is_leaf, value._is_view(), node


def limit_memory() -> None:
    """Let allocations beyond some headroom fail, so that both sides refuse the same sizes and the machine lives."""
    with open("/proc/self/status") as status:
        used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData"))
    if "MINDTORCH_FUZZ_UNLIMITED" not in os.environ:  # AddressSanitizer reserves more than any limit
        resource.setrlimit(resource.RLIMIT_DATA, (used + HEADROOM, resource.RLIM_INFINITY))


def reset_peak() -> None:
    """Start the measure of peak memory anew."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w") as references:
        references.write("5")


def main() -> None:
    """Serve one side."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.register(signal.SIGPROF, chain=True)  # who computes too long ends as before, and says where
    side = Side(sys.argv[1])
    side.torch.set_num_threads(1)
    gc.collect()
    gc.freeze()
    side.serve()


if __name__ == "__main__":
    main()
