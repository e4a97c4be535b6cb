"""The vendor's library of collectives: C functions over simulated devices, whose ranks are processes of this host.

A collective is a task of a stream: it starts when its turn comes, and computes with the bytes that the device has then.
"""

from __future__ import annotations

import ctypes
import itertools
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch_npu.simulator.faults import DeviceFault
from mindtorch_npu.simulator.machine import Machine
from mindtorch_npu.simulator.mesh import MeetingError, Mesh, open_meeting
from mindtorch_npu.simulator.stream import Task

PARAMETER, NULL, INTERNAL, UNSUPPORTED, RUNTIME = 1, 2, 4, 5, 15
NOTIFY_TIMEOUT = 507048
ROOT_INFO_BYTES = 4108
MEANINGS = {0: "no error", 1: "parameter error", 2: "empty pointer", 4: "internal error", 5: "feature not supported",
            9: "timeout", 15: "runtime error", 21: "error cqe"}  # fmt: skip
DTYPES: dict[int, Any] = {
    0: np.int8, 1: np.int16, 2: np.int32, 3: np.float16, 4: np.float32, 5: np.int64, 6: np.uint64, 7: np.uint8,
    8: np.uint16, 9: np.uint32, 10: np.float64, 11: ml_dtypes.bfloat16,
}  # fmt: skip
REDUCED = frozenset({0, 1, 2, 3, 4, 5, 11})
"""The codes of the types that are reduced; the others only move."""
COMBINE = {0: np.add, 1: np.multiply, 2: np.maximum, 3: np.minimum}
SEND_CHANNEL = -1
"""Messages between two ranks are in order by themselves; collectives are numbered."""

_P, _U32, _U64, _I32 = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int32
_ERRORS = (ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
Range = tuple[int, int, bool]


class Communicator:
    """Ranks that do collectives, as one of them sees it."""

    def __init__(self, mesh: Mesh, device: int) -> None:
        self.mesh, self.device = mesh, device
        self.rank, self.size = mesh.rank, mesh.size
        self.others = [rank for rank in range(mesh.size) if rank != mesh.rank]
        self.count = 0

    def exchanged(self, channel: int, given: Sequence[Any]) -> list[Any]:
        """Send every rank its part of `given`, and return what each sent here."""
        for other in self.others:
            self.mesh.send(other, channel, np.ascontiguousarray(given[other]).view(np.uint8))
        got: list[Any] = [given[self.rank] if rank == self.rank else None for rank in range(self.size)]
        for other in self.others:
            found = np.frombuffer(self.mesh.receive(other, channel), np.uint8)
            got[other] = found.view(np.asarray(given[self.rank]).dtype)
        return got

    def reduced(self, channel: int, parts: Sequence[Any], op: int) -> Any:
        """This rank's part, reduced in the order of the ranks, so that the result does not depend on who is faster."""
        got = self.exchanged(channel, parts)
        result = np.array(got[0])
        for other in got[1:]:
            COMBINE[op](result, other, out=result)
        return result


class Collectives:
    """C functions by symbol."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.communicators: dict[int, Communicator] = {}
        self.launches: dict[str, int] = {}
        self._handles = itertools.count(0x6C00_0000_0000, 16)
        self._functions: dict[str, Any] = {}
        self._texts = {code: ctypes.create_string_buffer(text.encode()) for code, text in MEANINGS.items()}
        self._lock = threading.Lock()

    def address(self, symbol: str) -> int | None:
        """Return the address of a C function, None when the library does not have it."""
        with self._lock:
            if symbol not in self._functions:
                if symbol not in FUNCTIONS:
                    return None
                arguments, fn = FUNCTIONS[symbol]
                result = _P if symbol == "HcclGetErrorString" else _I32
                self._functions[symbol] = ctypes.CFUNCTYPE(result, *arguments)(self._guarded(symbol, fn))
            return ctypes.cast(self._functions[symbol], _P).value

    def _guarded(self, symbol: str, fn: Callable[..., int | None]) -> Callable[..., int]:
        """Return `fn` with its errors as codes: no exception may pass the C boundary."""

        def call(*arguments: Any) -> int:
            try:
                self.machine.faults.check(symbol)
                return fn(self, *arguments) or 0
            except MeetingError as error:
                self.machine.thread.message = f"EI0006: {symbol}: {error}"
                return error.code
            except DeviceFault as fault:
                self.machine.thread.message = fault.text
                return fault.code if fault.code < 100 else RUNTIME
            except _ERRORS as error:
                self.machine.thread.message = f"EI9999: {symbol}: {type(error).__name__}: {error}"
                return INTERNAL

        return call

    # -- communicators -------------------------------------------------------------------------------------------------

    def _root_info(self, place: int) -> None:
        ctypes.memset(place, 0, ROOT_INFO_BYTES)
        text = open_meeting().encode()
        ctypes.memmove(place, text, len(text))

    def _init(self, size: int, root: int, rank: int, handle: int) -> None:
        if not 0 <= rank < size:
            raise DeviceFault(PARAMETER, f"EI0003: rank {rank} is not one of {size}")
        device = self.machine.context().device
        mesh = Mesh(ctypes.string_at(root).decode(), rank, size, device)
        made = next(self._handles)
        self.communicators[made] = Communicator(mesh, device)
        _P.from_address(handle).value = made

    def _destroy(self, handle: int) -> None:
        self._found(handle).mesh.close()
        del self.communicators[handle]

    def _found(self, handle: int | None) -> Communicator:
        found = self.communicators.get(handle or 0)
        if found is None:
            raise DeviceFault(PARAMETER if handle else NULL, f"EI0003: {handle or 0:#x} is no communicator")
        return found

    def _told(self, handle: int, place: int, what: str) -> None:
        _U32.from_address(place).value = getattr(self._found(handle), what)

    def _error(self, handle: int, place: int) -> None:
        self._found(handle)
        _I32.from_address(place).value = 0

    def _text(self, code: int) -> int:
        return ctypes.addressof(self._texts.get(code, self._texts[INTERNAL]))

    # -- tasks of a stream ---------------------------------------------------------------------------------------------

    def _enqueue(self, name: str, handle: int, stream: int, ranges: Sequence[Range],
                 run: Callable[[Communicator, int], None], message: bool = False) -> None:  # fmt: skip
        machine, found = self.machine, self._found(handle)
        queue = machine.stream(stream or 0)
        if queue.device != found.device:
            raise DeviceFault(PARAMETER, f"EI0003: {name}: the stream is of device {queue.device}, not {found.device}")
        used = [one for one in ranges if one[1] > one[0]]
        for start, end, _ in used:
            machine.buffer(start, end - start, found.device)
        machine.ordered(queue, name, used)
        channel = SEND_CHANNEL
        if not message:
            channel, found.count = found.count, found.count + 1

        def task() -> None:
            try:
                if not message:  # who does something else would wait, or get bytes that are not meant for it
                    self._agree(found, channel, name)
                run(found, channel)
            except MeetingError as error:
                raise DeviceFault(NOTIFY_TIMEOUT, f"EI0002: {name}: {error}") from error

        queue.enqueue(task, uses=Task(name, [(start, end) for start, end, _ in used]))
        self.launches[name] = self.launches.get(name, 0) + 1

    @staticmethod
    def _agree(found: Communicator, channel: int, name: str) -> None:
        own = np.frombuffer(name.encode().ljust(32), np.uint8)
        for rank, other in enumerate(found.exchanged(channel, [own] * found.size)):
            if bytes(other) != bytes(own):
                theirs = bytes(other).decode().strip()
                raise DeviceFault(NOTIFY_TIMEOUT, f"EI0005: rank {found.rank} does {name}, rank {rank} {theirs}")

    def _numbers(self, address: int, count: int, dtype: int, device: int) -> Any:
        kind = np.dtype(DTYPES[dtype])
        if not count:
            return np.empty(0, kind)
        return np.frombuffer(self.machine.buffer(address, count * kind.itemsize, device), kind)

    @staticmethod
    def _range(address: int | None, count: int, dtype: int, writes: bool) -> Range:
        if dtype not in DTYPES:
            raise DeviceFault(UNSUPPORTED, f"EI0003: no data type {dtype}")
        start = address or 0
        return start, start + count * np.dtype(DTYPES[dtype]).itemsize, writes

    @staticmethod
    def _check_reduction(dtype: int, op: int) -> None:
        if dtype not in REDUCED or op not in COMBINE:
            raise DeviceFault(UNSUPPORTED, f"EI0003: data type {dtype} is not reduced by {op}")

    def _all_reduce(self, send: int, recv: int, count: int, dtype: int, op: int, comm: int, stream: int) -> None:
        self._check_reduction(dtype, op)

        def run(found: Communicator, channel: int) -> None:
            source = self._numbers(send, count, dtype, found.device)
            own = found.reduced(channel, np.array_split(source, found.size), op)
            self._numbers(recv, count, dtype, found.device)[...] = np.concatenate(
                found.exchanged(channel, [own] * found.size)
            )

        ranges = [self._range(send, count, dtype, False), self._range(recv, count, dtype, True)]
        self._enqueue("HcclAllReduce", comm, stream, ranges, run)

    def _reduce(self, send: int, recv: int, count: int, dtype: int, op: int, root: int, comm: int, stream: int) -> None:
        self._check_reduction(dtype, op)
        at_root = self._found(comm).rank == root

        def run(found: Communicator, channel: int) -> None:
            source = self._numbers(send, count, dtype, found.device)
            parts = [source if rank == root else source[:0] for rank in range(found.size)]
            if at_root:
                self._numbers(recv, count, dtype, found.device)[...] = found.reduced(channel, parts, op)
            else:
                found.exchanged(channel, parts)

        ranges = [self._range(send, count, dtype, False)]
        ranges += [self._range(recv, count, dtype, True)] if at_root else []
        self._enqueue("HcclReduce", comm, stream, ranges, run)

    def _reduce_scatter(self, send: int, recv: int, count: int, dtype: int, op: int, comm: int, stream: int) -> None:
        self._check_reduction(dtype, op)

        def run(found: Communicator, channel: int) -> None:
            source = self._numbers(send, count * found.size, dtype, found.device)
            result = found.reduced(channel, source.reshape(found.size, -1), op)
            self._numbers(recv, count, dtype, found.device)[...] = result

        whole = count * self._found(comm).size
        ranges = [self._range(send, whole, dtype, False), self._range(recv, count, dtype, True)]
        self._enqueue("HcclReduceScatter", comm, stream, ranges, run)

    def _all_gather(self, send: int, recv: int, count: int, dtype: int, comm: int, stream: int) -> None:
        def run(found: Communicator, channel: int) -> None:
            source = self._numbers(send, count, dtype, found.device)
            got = found.exchanged(channel, [source] * found.size)
            self._numbers(recv, count * found.size, dtype, found.device)[...] = np.concatenate(got)

        whole = count * self._found(comm).size
        ranges = [self._range(send, count, dtype, False), self._range(recv, whole, dtype, True)]
        self._enqueue("HcclAllGather", comm, stream, ranges, run)

    def _broadcast(self, place: int, count: int, dtype: int, root: int, comm: int, stream: int) -> None:
        def run(found: Communicator, channel: int) -> None:
            array = self._numbers(place, count, dtype, found.device)
            if found.rank == root:
                found.exchanged(channel, [array] * found.size)
            else:
                array[...] = found.exchanged(channel, [array[:0]] * found.size)[root]

        writes = self._found(comm).rank != root
        self._enqueue("HcclBroadcast", comm, stream, [self._range(place, count, dtype, writes)], run)

    def _scatter(self, send: int, recv: int, count: int, dtype: int, root: int, comm: int, stream: int) -> None:
        at_root, size = self._found(comm).rank == root, self._found(comm).size

        def run(found: Communicator, channel: int) -> None:
            result = self._numbers(recv, count, dtype, found.device)
            parts: Any = [result[:0]] * size
            if at_root:
                parts = self._numbers(send, count * size, dtype, found.device).reshape(size, -1)
            result[...] = found.exchanged(channel, parts)[root]

        ranges = [self._range(recv, count, dtype, True)]
        ranges += [self._range(send, count * size, dtype, False)] if at_root else []
        self._enqueue("HcclScatter", comm, stream, ranges, run)

    def _all_to_all(self, send: int, counts: int, starts: int, dtype: int, recv: int, got_counts: int,
                    got_starts: int, got_dtype: int, comm: int, stream: int) -> None:  # fmt: skip
        size = self._found(comm).size
        lists = [
            struct.unpack(f"{size}Q", ctypes.string_at(p, 8 * size)) for p in (counts, starts, got_counts, got_starts)
        ]
        out, out_at, back, back_at = lists
        given = max(n + at for n, at in zip(out, out_at, strict=True))
        taken = max(n + at for n, at in zip(back, back_at, strict=True))

        def run(found: Communicator, channel: int) -> None:
            source = self._numbers(send, given, dtype, found.device)
            target = self._numbers(recv, taken, got_dtype, found.device)
            parts = [source[at : at + n].copy() for n, at in zip(out, out_at, strict=True)]
            for n, at, part in zip(back, back_at, found.exchanged(channel, parts), strict=True):
                target[at : at + n] = part

        ranges = [self._range(send, given, dtype, False), self._range(recv, taken, got_dtype, True)]
        self._enqueue("HcclAlltoAllV", comm, stream, ranges, run)

    def _barrier(self, comm: int, stream: int) -> None:
        self._enqueue("HcclBarrier", comm, stream, [], lambda found, channel: None)

    def _send(self, place: int, count: int, dtype: int, peer: int, comm: int, stream: int) -> None:
        def run(found: Communicator, channel: int) -> None:
            found.mesh.send(peer, channel, self._numbers(place, count, dtype, found.device).view(np.uint8))

        self._enqueue("HcclSend", comm, stream, [self._range(place, count, dtype, False)], run, message=True)

    def _receive(self, place: int, count: int, dtype: int, peer: int, comm: int, stream: int) -> None:
        def run(found: Communicator, channel: int) -> None:
            target = self._numbers(place, count, dtype, found.device)
            target[...] = np.frombuffer(found.mesh.receive(peer, channel), target.dtype)

        self._enqueue("HcclRecv", comm, stream, [self._range(place, count, dtype, True)], run, message=True)


FUNCTIONS: dict[str, tuple[tuple[Any, ...], Callable[..., int | None]]] = {
    "HcclGetRootInfo": ((_P,), Collectives._root_info),
    "HcclCommInitRootInfo": ((_U32, _P, _U32, _P), Collectives._init),
    "HcclCommDestroy": ((_P,), Collectives._destroy),
    "HcclGetRankSize": ((_P, _P), lambda c, handle, place: c._told(handle, place, "size")),
    "HcclGetRankId": ((_P, _P), lambda c, handle, place: c._told(handle, place, "rank")),
    "HcclGetCommAsyncError": ((_P, _P), Collectives._error),
    "HcclGetErrorString": ((_I32,), Collectives._text),
    "HcclAllReduce": ((_P, _P, _U64, _I32, _I32, _P, _P), Collectives._all_reduce),
    "HcclReduce": ((_P, _P, _U64, _I32, _I32, _U32, _P, _P), Collectives._reduce),
    "HcclReduceScatter": ((_P, _P, _U64, _I32, _I32, _P, _P), Collectives._reduce_scatter),
    "HcclAllGather": ((_P, _P, _U64, _I32, _P, _P), Collectives._all_gather),
    "HcclBroadcast": ((_P, _U64, _I32, _U32, _P, _P), Collectives._broadcast),
    "HcclScatter": ((_P, _P, _U64, _I32, _U32, _P, _P), Collectives._scatter),
    "HcclAlltoAllV": ((_P, _P, _P, _I32, _P, _P, _P, _I32, _P, _P), Collectives._all_to_all),
    "HcclBarrier": ((_P, _P), Collectives._barrier),
    "HcclSend": ((_P, _U64, _I32, _U32, _P, _P), Collectives._send),
    "HcclRecv": ((_P, _U64, _I32, _U32, _P, _P), Collectives._receive),
}
