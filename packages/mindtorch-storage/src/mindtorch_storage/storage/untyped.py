"""UntypedStorage: a run of bytes on a device, shared by every tensor that views it."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numpy as np

from mindtorch_storage._pickling import reduce_as_file
from mindtorch_storage.deferred import settle
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import intern_device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage import memory
from mindtorch_storage.storage.allocators import allocate
from mindtorch_storage.storage.base import StorageBase
from mindtorch_storage.storage.conversion import ConversionMethods, DeviceLike, check_device_argument
from mindtorch_storage.storage.copy_on_write import CopyOnWrite, materialize
from mindtorch_storage.storage.elements import bytes_of, class_name, is_int, size_of
from mindtorch_storage.storage.files import FileMethods
from mindtorch_storage.storage.sharing import SharingMethods

_CPU = intern_device("cpu")
_INIT_TEXT = (
    "torch.UntypedStorage() received an invalid combination of arguments - got ({got}), but expected one of:\n"
    " * (*, int allocator = None, torch.device device = None)\n"
    " * (int size, *, int allocator = None, torch.device device = None)\n"
    " * (object sequence, *, int allocator = None, torch.device device = None)\n"
)


class _Hooks:
    """What upper layers plug in: what to do when bytes move."""

    relocated: Callable[[UntypedStorage], None] | None = None


def set_relocation_hook(hook: Callable[[UntypedStorage], None]) -> None:
    """Call `hook(storage)` after a storage moved to other memory, so that cached views can follow."""
    _Hooks.relocated = hook


class UntypedStorage(StorageBase, SharingMethods, ConversionMethods, FileMethods):
    """A contiguous run of bytes on one device; `buffer` is a uint8 array over them (None where the host cannot see them).

    >>> torch.UntypedStorage([1, 2, 3])[1]
    2
    >>> torch.ones(2).untyped_storage().nbytes()
    8
    """

    __slots__ = ("_allocation", "buffer", "device")
    __module__ = "torch.storage"

    device: Device
    buffer: Any
    is_sparse = False
    is_sparse_csr = False

    def __init__(self, *args: Any, device: DeviceLike = None, allocator: Any = None) -> None:
        self.device = _CPU if device is None or Device(device).type == "cpu" else Device(device)
        if len(args) > 1:
            raise TypeError(_INIT_TEXT.format(got=", ".join(type(arg).__name__ for arg in args)))
        source: Any = args[0] if args else 0
        if (size := size_of(source)) is not None:
            self._adopt(allocate(size, self.device))
            return
        content = bytes_of(source)
        self._adopt(allocate(content.nbytes, self.device))
        memory.put(self._allocation, content)

    @classmethod
    def _from_allocation(cls, allocation: memory.Allocation, device: Device = _CPU) -> UntypedStorage:
        new: UntypedStorage = object.__new__(cls)
        new.device = device
        new._adopt(allocation)
        return new

    @classmethod
    def _from_buffer(cls, source: Any, *, resizable: bool = True) -> UntypedStorage:
        """Storage over the memory of a buffer object, without a copy.

        `resizable` says that nobody but this storage relies on the memory, as with arrays that kernels made;
        memory lent by a caller must pass False, as moving away from it would end the sharing silently.
        """
        return cls._from_allocation(memory.borrow(source, resizable=resizable))

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """Map the first `nbytes` of a file. Unless `shared`, writes stay in this process."""
        if not isinstance(filename, str):
            kind = "None" if filename is None else type(filename).__name__
            raise TypeError(f"argument 1 must be str, not {kind}")
        return cls._from_allocation(memory.map_file(filename, bool(shared), int(nbytes)))

    @classmethod
    def from_buffer(
        cls, buffer: Any, byte_order: str | None = None, count: int = -1, offset: int = 0, *, dtype: Dtype | None = None
    ) -> UntypedStorage:
        """Copy `count` elements of `buffer` from byte `offset` on, swapping bytes of the other byte order."""
        if byte_order is not None and not isinstance(byte_order, str):
            raise TypeError(f"argument 2 must be str, not {type(byte_order).__name__}")
        if dtype is None:
            raise RuntimeError("argument 'dtype' cannot be None")
        if not isinstance(dtype, Dtype):
            raise RuntimeError("argument 'dtype' must be of type torch.dtype")
        count, offset, itemsize = operator.index(count), operator.index(offset), dtype.itemsize
        if itemsize > 1 and byte_order is None:
            raise RuntimeError("function missing required argument 'byte_order' (pos 2)")
        if itemsize > 1 and byte_order not in ("big", "little", "native"):
            raise ValueError(f"invalid byte_order '{byte_order}' (expected 'big', 'little', or 'native')")
        try:
            view = memoryview(buffer)
        except TypeError:
            raise TypeError(f"a bytes-like object is required, not '{class_name(buffer)}'") from None
        raw = np.frombuffer(view, np.uint8)
        if not 0 <= offset <= raw.nbytes:
            raise ValueError(
                f"offset must be non-negative and no greater than buffer length ({offset}) , but got {raw.nbytes}"
            )
        left = raw.nbytes - offset
        if count < 0 and left % itemsize:
            raise ValueError(f"buffer size ({left}) must be a multiple of element size ({itemsize})")
        if count > left or count * itemsize > left:
            raise ValueError(f"buffer has only {left} elements after offset {offset}, but specified a size of {count}")
        raw = raw[offset:] if count < 0 else raw[offset : offset + count * itemsize]
        new = cls(int(raw.nbytes))
        new.buffer[:] = raw
        if byte_order not in (None, "native", sys.byteorder) and itemsize > 1:
            new.byteswap(dtype)
        return new

    def _adopt(self, allocation: memory.Allocation) -> None:
        self._allocation = allocation
        self.buffer = allocation.buffer
        self.device = memory.placed(self.device, allocation)

    def _move_to(self, allocation: memory.Allocation) -> None:
        self._adopt(allocation)
        if _Hooks.relocated is not None:
            _Hooks.relocated(self)

    def _share(self, allocation: CopyOnWrite) -> None:
        """Show bytes that lazy clones show too, which leaves nothing to write them by."""
        self._allocation = allocation
        del self.buffer
        if _Hooks.relocated is not None:
            _Hooks.relocated(self)

    def __getattr__(self, name: str) -> Any:
        if name != "buffer":
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        materialize(self)  # who asks for it may write
        return self.buffer

    def _lend(self, *, resizable: bool = True) -> None:
        """Note that others than tensors see these bytes from now on; they may stop them from moving."""
        materialize(self)
        block: Any = self._allocation
        block.lent = True
        block.resizable = resizable and block.resizable

    @property
    def lent(self) -> bool:
        """Whether others than tensors may see the bytes, so that writes must reach them at once."""
        return getattr(self._allocation, "lent", False)

    def _readable(self) -> np.ndarray[Any, Any]:
        content: np.ndarray[Any, Any] = self.host_bytes()
        if self.buffer is None:
            content.flags.writeable = False  # writes would be lost
        return content

    def nbytes(self) -> int:
        """The length in bytes."""
        return self._allocation.nbytes

    __len__ = nbytes

    def size(self) -> int:
        """The length in bytes."""
        return self._allocation.nbytes

    def element_size(self) -> int:
        """1: an untyped storage counts bytes."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte; 0 when the storage is empty or has no data."""
        settle()
        materialize(self)
        return self._allocation.pointer()

    def untyped(self) -> UntypedStorage:
        """This storage."""
        return self

    @property
    def _cdata(self) -> int:
        return id(self)

    @property
    def filename(self) -> str | None:
        """The file this storage maps, None for other memory."""
        return self._allocation.filename

    @property
    def is_cuda(self) -> bool:
        """Whether the bytes are on a CUDA device."""
        return self.device.type == "cuda"

    @property
    def is_hpu(self) -> bool:
        """Whether the bytes are on an HPU device."""
        return self.device.type == "hpu"

    def get_device(self) -> int | None:
        """The device index, None where the device has none."""
        return self.device.index

    def is_shared(self) -> bool:
        """Whether other processes see writes to this storage."""
        return self._allocation.shared

    def is_pinned(self, device: DeviceLike = "cuda") -> bool:
        """Whether the memory is page locked."""
        check_device_argument("is_pinned", device)
        return self._allocation.pinned

    def resizable(self) -> bool:
        """Whether `resize_` may move the bytes."""
        return self._allocation.resizable

    def resize_(self, size: int) -> UntypedStorage:
        """Change the length, keeping the leading bytes; tensors over this storage follow."""
        if not is_int(size):
            raise RuntimeError(f"resize_ expects an int, but got {class_name(size)}")
        if not -(1 << 63) <= size < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        if not self.resizable():
            raise RuntimeError("Trying to resize storage that is not resizable")
        settle()
        self._move_to(self._allocation.reallocated(int(size)))
        return self

    def __getitem__(self, index: object) -> Any:
        if isinstance(index, slice):
            start, stop = self._bounds(index)
            if self.buffer is None:
                raise NotImplementedError(memory.NO_DATA)
            # The slice is a storage of its own over the same bytes and must not move away from them.
            return UntypedStorage._from_buffer(self.buffer[start:stop], resizable=False)
        if not is_int(index):
            raise TypeError(f"can't index a torch.UntypedStorage with {class_name(index)}")
        return int(self._readable()[self._position(index)])

    def __setitem__(self, index: object, value: Any) -> None:
        if not isinstance(value, int | np.integer):
            raise RuntimeError(f"can only set storage content with a int types, but got {class_name(value)} instead")
        if isinstance(index, slice):
            index = slice(*self._bounds(index))
        elif not is_int(index):
            raise RuntimeError(f"can't index a torch.UntypedStorage with {class_name(index)}")
        elif not 0 <= index < self.nbytes():  # negative ones too, unlike in reading
            raise RuntimeError("out of bounds")
        with self._changed() as content:
            content[index] = int(value) & 0xFF

    @contextmanager
    def _changed(self) -> Iterator[np.ndarray[Any, Any]]:
        """The bytes, to be changed within the block; those of a device are copied, and written back after it."""
        content = self._readable() if self.buffer is not None else self._readable().copy()
        yield content
        if self.buffer is None:
            self._allocation.write(content)

    def _position(self, index: int) -> int:
        size = self.nbytes()
        if not -(1 << 63) <= index < 1 << 63:
            raise ValueError("Overflow when unpacking long long")
        position = index + size if index < 0 else index
        if not 0 <= position < size:
            shown = position if index < 0 else index
            raise IndexError(f"index {shown} out of range for storage of size {size}")
        return position

    def _bounds(self, index: slice) -> tuple[int, int]:
        start, stop, step = index.indices(self.nbytes())
        if step != 1:
            raise RuntimeError(f"Trying to slice with a step of {step}, but only a step of 1 is supported")
        return start, max(start, stop)

    def __iter__(self) -> Iterator[int]:
        return (self[position] for position in range(self.nbytes()))

    def fill_(self, value: int) -> UntypedStorage:
        """Set every byte."""
        if not isinstance(value, int):
            raise RuntimeError(f"fill_ expects int, but got {class_name(value)}")
        if self.device.type != "meta":
            self[:] = value
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> UntypedStorage:
        """Overwrite the bytes with those of another storage of the same length."""
        other = source.untyped() if hasattr(source, "untyped") and not isinstance(source, type) else source
        if not isinstance(other, UntypedStorage):
            raise TypeError(f"copy_(): argument 'src' (position 1) must be torch.Storage, not {class_name(source)}")
        if self.nbytes() != other.nbytes():
            raise RuntimeError(
                f"size does not match, self was {self.nbytes()} bytes but src was {other.nbytes()} bytes"
            )
        if self.device.type == "meta":
            return self
        if other.device.type == "meta":
            raise NotImplementedError("Cannot copy out of meta tensor; no data!")
        memory.put(self._allocation, other.host_bytes())
        return self

    def host_bytes(self) -> Any:
        """The bytes as a uint8 array that the host can read: the memory itself where it can, else a copy."""
        if self.device.type == "meta":
            raise NotImplementedError(memory.NO_DATA)
        settle()
        return self._allocation.read() if self.buffer is None else self.buffer

    def clone(self) -> UntypedStorage:
        """A copy with its own memory on the same device."""
        return UntypedStorage(self.nbytes(), device=self.device).copy_(self)

    def new(self) -> UntypedStorage:
        """An empty storage on the same device."""
        return UntypedStorage(0, device=self.device)

    def tolist(self) -> list[int]:
        """The bytes as ints."""
        return list(self._readable().tolist())

    def byteswap(self, dtype: Dtype) -> None:
        """Reverse the bytes of every element, as when data of the other byte order was read."""
        if not isinstance(dtype, Dtype):
            raise RuntimeError(f"expected torch.dtype, but got {type(dtype)}")
        width = dtype.itemsize // 2 if dtype.is_complex else dtype.itemsize
        if self.nbytes() % width:
            raise RuntimeError(f"the length of data is not a multiple of {width}")
        if width > 1:
            pairs = self._readable().reshape(-1, width)
            pairs[:] = pairs[:, ::-1].copy()

    def __repr__(self) -> str:
        settle()
        shown = "..." if self.buffer is None else " " + "\n ".join(map(str, self.buffer.tolist()))
        return f"{shown}\n[torch.storage.UntypedStorage(device={self.device}) of size {self.nbytes()}]"

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def __copy__(self) -> UntypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        # The table lets tensors that share a storage share the copy.
        copies: dict[int, UntypedStorage] = memo.setdefault("torch", {})
        copy = copies.get(self._cdata)
        if copy is None:
            copy = copies[self._cdata] = self.clone()
        return copy

    def __reduce__(self) -> tuple[Any, ...]:
        as_file = reduce_as_file(self, UntypedStorage)
        if as_file is not None:
            return as_file
        content = None if self.device.type == "meta" else self.host_bytes().tobytes()
        return _restore, (content, self.nbytes(), self.device)


def _name_as_torch(*classes: type) -> None:
    # Errors of calls with wrong arguments name the class that defines the method, and torch's has another name.
    for kind in classes:
        for name, value in vars(kind).items():
            if isinstance(value, FunctionType) and name != "__getitem__":
                value.__qualname__ = f"_StorageBase.{name}"
            elif isinstance(value, FunctionType):
                value.__qualname__ = f"UntypedStorage.{name}"


_name_as_torch(SharingMethods, ConversionMethods, FileMethods, UntypedStorage)


def _restore(content: bytes | None, nbytes: int, device: Device) -> UntypedStorage:
    new = UntypedStorage(nbytes, device=device)
    if content is not None:
        new.copy_(UntypedStorage._from_buffer(content))
    return new
