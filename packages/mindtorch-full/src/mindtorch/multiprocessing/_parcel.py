"""Objects on their way between processes: tensors by shared memory, our classes by where they are defined.

The classes of this package say ``torch...`` in ``__module__``; a child process that has no such module could not find
them by that name.
"""

from __future__ import annotations

import array
import io
import os
import pickle
import socket
import threading
from multiprocessing.reduction import ForkingPickler
from typing import Any

from mindtorch._homes import find, home
from mindtorch.multiprocessing import reductions
from mindtorch_dispatch.interface.native import native_path
from mindtorch_storage.storage import UntypedStorage, sharing


class _Packer(ForkingPickler):  # type: ignore[misc]
    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, (type, *native_path.types)):
            place = home(obj)
            if place is not None:
                return find, place
        return NotImplemented


class _MessagePacker(_Packer):
    """Leaves the descriptors of shared memory beside the message, for the socket to carry."""

    def __init__(self, stream: Any) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.descriptors: list[int] = []

    def reducer_override(self, obj: Any) -> Any:
        by_descriptor = sharing.Strategy.current == sharing.FILE_DESCRIPTOR
        if by_descriptor and type(obj) is UntypedStorage and obj.device.type == "cpu" and obj.nbytes():
            descriptor, nbytes = obj._share_fd_cpu_()
            self.descriptors.append(descriptor)
            return _storage_received, (len(self.descriptors) - 1, nbytes)
        return super().reducer_override(obj)


class _Arrived(threading.local):
    descriptors: list[int]


_arrived = _Arrived()


def _storage_received(index: int, nbytes: int) -> UntypedStorage:
    return reductions.storage_of_descriptor(_arrived.descriptors[index], nbytes)


def pack(value: Any) -> bytes:
    """A value as bytes, for a process that is being started or reads a queue."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


class Message:
    """A value ready to be sent over a duplex pipe; the value must live until it is sent."""

    def __init__(self, value: Any) -> None:
        self._value = value
        stream = io.BytesIO()
        packer = _MessagePacker(stream)
        packer.dump(value)
        self._content, self._descriptors = stream.getvalue(), packer.descriptors

    def send(self, connection: Any) -> None:
        """Send the content and, through the same socket, the descriptors.

        From here on the kernel keeps the shared memory, also when this process ends before the message is read.
        """
        count = len(self._descriptors)
        connection.send_bytes(count.to_bytes(4, "little") + self._content)
        if not count:
            return
        with socket.socket(fileno=os.dup(connection.fileno())) as channel:
            for start in range(0, count, _MOST_DESCRIPTORS):
                part = array.array("i", self._descriptors[start : start + _MOST_DESCRIPTORS])
                channel.sendmsg([b"D"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, part)])


_MOST_DESCRIPTORS = 250  # Linux takes 253 in one message


def receive(connection: Any) -> Any:
    """The next value sent by a worker; EOFError when there will be none, as when the sender was killed."""
    content = connection.recv_bytes()
    count = int.from_bytes(content[:4], "little")
    _arrived.descriptors = _received_descriptors(connection, count)
    try:
        return pickle.loads(memoryview(content)[4:])
    finally:
        for descriptor in _arrived.descriptors:
            os.close(descriptor)
        _arrived.descriptors = []


def _received_descriptors(connection: Any, count: int) -> list[int]:
    found: list[int] = []
    if not count:
        return found
    try:
        with socket.socket(fileno=os.dup(connection.fileno())) as channel:
            while len(found) < count:
                data, more, flags, _ = socket.recv_fds(channel, 1, _MOST_DESCRIPTORS)
                found += more
                if flags & socket.MSG_CTRUNC:
                    raise RuntimeError(
                        f"received {len(found)} of {count} shared memory descriptors: too many open files. Raise the "
                        "limit (`ulimit -n`), or call torch.multiprocessing.set_sharing_strategy('file_system')."
                    )
                if not data:
                    raise EOFError
    except BaseException:
        for descriptor in found:
            os.close(descriptor)
        raise
    return found


class Parcel:
    """Carries a value through code that pickles in its own way, such as starting a process."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> Any:
        return _open, (pack(self.value),)


def _open(data: bytes) -> Parcel:
    return Parcel(pickle.loads(data))
