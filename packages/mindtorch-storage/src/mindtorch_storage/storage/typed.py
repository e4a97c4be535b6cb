"""TypedStorage and the classes named after element types: the older view of a storage as numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_storage import dtype as types
from mindtorch_storage._pickling import reduce_as_file
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage.conversion import DeviceLike
from mindtorch_storage.storage.deprecation import warn_deprecated
from mindtorch_storage.storage.elements import LEGACY_TYPES, checked_element
from mindtorch_storage.storage.handing_on import HandingOn
from mindtorch_storage.storage.untyped import UntypedStorage

_INIT_TEXT = (
    "TypedStorage.__init__ received an invalid combination of arguments. Expected one of:\n"
    " * (*, torch.device device, torch.dtype dtype)\n"
    " * (int size, *, torch.device device, torch.dtype dtype)\n"
    " * (Sequence data, *, torch.device device, torch.dtype dtype)\n"
    " * (*, UntypedStorage wrap_storage, torch.dtype dtype)\n"
)


class TypedStorage(HandingOn):
    """An untyped storage read as elements of one type.

    >>> torch.TypedStorage([1, 2], dtype=torch.int32).tolist()
    [1, 2]
    """

    __slots__ = ("__dict__", "__weakref__", "_untyped_storage", "dtype")  # programs note things at storages
    __module__ = "torch.storage"

    dtype: Dtype
    is_sparse = False

    def __init__(
        self,
        *args: Any,
        device: DeviceLike = None,
        dtype: Dtype | None = None,
        wrap_storage: UntypedStorage | None = None,
        _internal: bool = False,
    ) -> None:
        if not _internal:
            warn_deprecated()
        self._set_up(args, wrap_storage, dtype, device, _INIT_TEXT)

    def _set_up(self, args: tuple[Any, ...], wrap: object, dtype: Dtype | None, device: DeviceLike, text: str) -> None:
        if wrap is not None:
            if args:
                raise RuntimeError(f"{text}No positional arguments should be given when using 'wrap_storage'")
            if dtype is None:
                raise RuntimeError(f"{text}Argument 'dtype' must be specified")
            if not isinstance(dtype, Dtype):
                raise TypeError(f"{text}Argument 'dtype' must be torch.dtype, not {type(dtype)}")
            if device is not None:
                raise RuntimeError(f"{text}Argument 'device' should not be specified when 'wrap_storage' is given")
            if not isinstance(wrap, UntypedStorage):
                raise TypeError(f"{text}Argument 'wrap_storage' must be UntypedStorage, but got {type(wrap)}")
            self.dtype, self._untyped_storage = dtype, wrap
            return
        self.dtype = types.float32 if dtype is None else dtype
        target = Device("cpu" if device is None else device)
        if len(args) > 1:
            raise RuntimeError(f"{text}Too many positional arguments")
        if not args or isinstance(args[0], (int, np.integer)):
            self._untyped_storage = UntypedStorage((int(args[0]) if args else 0) * self.dtype.itemsize, device=target)
            return
        if isinstance(args[0], (str, bytes)):
            raise TypeError(f"new(): invalid data type '{type(args[0]).__name__}'")
        if not isinstance(args[0], Sequence):
            raise TypeError(f"{text}Argument type not recognized: {type(args[0])}")
        content = np.array(self._numbers(args[0])).astype(self.dtype.np)
        self._untyped_storage = UntypedStorage(int(content.nbytes), device=target)
        if self.device.type != "meta":
            with self._untyped_storage._changed() as raw:
                self._elements(raw)[:] = content

    def _numbers(self, sequence: Iterable[Any]) -> list[Any]:
        numbers = list(sequence)
        for number in numbers:
            if not self.dtype.is_complex and isinstance(number, str | bytes | list | tuple | type(None)):
                expected = "must be real number, not" if self.dtype.is_floating_point else "an integer is required, not"
                raise TypeError(f"{expected} {type(number).__name__}")
        return numbers

    @classmethod
    def _over(cls, untyped: UntypedStorage, dtype: Dtype) -> TypedStorage:
        """Wrap without the deprecation warning: for the layers that still speak of typed storages in files."""
        new = TypedStorage.__new__(TypedStorage)
        new.dtype, new._untyped_storage = dtype, untyped
        return new

    @classmethod
    def from_buffer(cls, *args: Any, **kwargs: Any) -> TypedStorage:
        """Copy a buffer; arguments as `UntypedStorage.from_buffer`."""
        warn_deprecated()
        return cls._from_buffer(*args, **kwargs)

    @classmethod
    def _from_buffer(
        cls,
        buffer: Any,
        byte_order: str | None = None,
        count: int = -1,
        offset: int = 0,
        *,
        dtype: Dtype | None = None,
        device: Device | str | None = None,
    ) -> TypedStorage:
        place = Device("cpu" if device is None else device)
        if place.type != "cpu":
            raise RuntimeError(f"TypedStorage.from_buffer: Not available for device {place.type}")
        element = types.float32 if dtype is None else dtype
        return cls._over(UntypedStorage.from_buffer(buffer, byte_order, count, offset, dtype=element), element)

    @classmethod
    def from_file(cls, filename: str, shared: bool, size: int) -> TypedStorage:
        """Map the first `size` elements of a file; RuntimeError unless the class has an element type."""
        dtype = getattr(cls, "_element", None)
        if dtype is None:
            raise RuntimeError("from_file can only be called on derived classes")
        return cls._over(UntypedStorage.from_file(filename, shared, size * dtype.itemsize), dtype)

    def _array(self) -> np.ndarray[Any, Any]:
        return self._elements(self._untyped_storage._readable())

    def _elements(self, raw: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        whole = raw.nbytes - raw.nbytes % self.dtype.itemsize
        return raw[:whole].view(self.dtype.np)

    def untyped(self) -> UntypedStorage:
        """The storage without a type."""
        return self._untyped_storage

    @property
    def device(self) -> Device:
        """Where the bytes are."""
        return self._untyped_storage.device

    @property
    def _cdata(self) -> int:
        return self._untyped_storage._cdata

    @property
    def filename(self) -> str | None:
        """The file this storage maps, None for other memory."""
        return self._untyped_storage.filename

    @property
    def is_cuda(self) -> bool:
        """Whether the bytes are on a CUDA device."""
        return self._untyped_storage.is_cuda

    @property
    def is_hpu(self) -> bool:
        """Whether the bytes are on an HPU device."""
        return self._untyped_storage.is_hpu

    def size(self) -> int:
        """The number of elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    _size = __len__ = size

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes()

    def nbytes(self) -> int:
        """The length in bytes."""
        return self._untyped_storage.nbytes()

    _nbytes = nbytes

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    _element_size = element_size

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    _data_ptr = data_ptr

    def is_shared(self) -> bool:
        """Whether other processes see writes to this storage."""
        return self._untyped_storage.is_shared()

    def is_pinned(self, device: DeviceLike = None) -> bool:
        """Whether the memory is page locked."""
        return self._untyped_storage.is_pinned(device)

    def resizable(self) -> bool:
        """Whether `resize_` may move the bytes."""
        return self._untyped_storage.resizable()

    def resize_(self, size: int) -> None:
        """Change the number of elements."""
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def share_memory_(self) -> TypedStorage:
        """Move to memory that forked processes share."""
        self._untyped_storage.share_memory_()
        return self

    def _element_at(self, index: object) -> int:
        if not isinstance(index, int):
            raise RuntimeError(f"can't index a {type(self)} with {type(index)}")
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} out of range for storage of size {len(self)}")
        return index % len(self)

    def __getitem__(self, idx: object) -> Any:
        if isinstance(idx, bool):
            raise TypeError(f"can't index a {type(self)} with {type(idx)}")
        if isinstance(idx, slice):
            raise RuntimeError("slices are only supported in UntypedStorage.__getitem__")
        return self._array()[self._element_at(idx)].item()

    def __setitem__(self, idx: object, value: Any) -> None:
        content = checked_element(value, self.dtype)
        if not isinstance(idx, slice):
            if not isinstance(idx, int):
                raise RuntimeError(f"can't index a {type(self)} with {type(idx)}")
            if not -len(self) <= idx < len(self):
                raise IndexError(f"index {idx} is out of bounds for dimension 0 with size {len(self)}")
        with self._untyped_storage._changed() as raw:
            self._elements(raw)[idx] = content

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(self.size()))

    def fill_(self, value: Any) -> TypedStorage:
        """Set every element."""
        content = checked_element(value, self.dtype)
        with self._untyped_storage._changed() as raw:
            self._elements(raw)[:] = content
        return self

    def copy_(self, source: Any, non_blocking: bool | None = None) -> TypedStorage:
        """Overwrite with the bytes of another storage of the same length; element types are not converted."""
        self._untyped_storage.copy_(source, non_blocking)
        return self

    def clone(self) -> TypedStorage:
        """A copy with its own memory."""
        return self._over(self._untyped_storage.clone(), self.dtype)

    def get_device(self) -> int | None:
        """The device index, None where the device has none."""
        return self.device.index

    def pin_memory(self, device: DeviceLike = None) -> TypedStorage:
        """Copy to page-locked memory, which needs an accelerator."""
        return self._over(self._untyped_storage.pin_memory(device), self.dtype)

    def cuda(self, device: DeviceLike = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on a CUDA device; AssertionError where there is none."""
        return self._over(self._untyped_storage.cuda(device, non_blocking), self.dtype)

    def hpu(self, device: DeviceLike = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on an HPU device; AssertionError where there is none."""
        return self._over(self._untyped_storage.hpu(device, non_blocking), self.dtype)

    def npu(self, device: DeviceLike = None, non_blocking: bool = False) -> TypedStorage:
        """A copy on an Ascend device."""
        return self._over(self._untyped_storage.npu(device, non_blocking), self.dtype)

    def cpu(self) -> TypedStorage:
        """This storage when it is on the CPU, else a copy there."""
        return self.to(device="cpu")

    def to(self, *, device: DeviceLike, non_blocking: bool = False) -> TypedStorage:
        """This storage when it is on the device, else a copy there."""
        return self._over(self._untyped_storage.to(device=device), self.dtype)

    def _to(self, dtype: Dtype) -> TypedStorage:
        if not isinstance(dtype, Dtype):
            raise TypeError(f"Argument 'dtype' must be dtype, not {type(dtype)}")
        new = self._over(UntypedStorage(self.size() * dtype.itemsize, device=self.device), dtype)
        with new._untyped_storage._changed() as raw:
            new._elements(raw)[:] = self._array()
        return new

    def tolist(self) -> list[Any]:
        """The elements as Python numbers."""
        values: list[Any] = self._array().tolist()
        return values

    def pickle_storage_type(self) -> str:
        """The class name that files use for this element type."""
        return self._pickle_storage_type()

    def _pickle_storage_type(self) -> str:
        return storage_class_name(self.dtype)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The legacy class name; for arguments see `UntypedStorage.type`, which torch asks too."""
        name = f"torch.{self._pickle_storage_type()}"
        return name if dtype is None else self._untyped_storage.type(dtype, non_blocking)

    def __repr__(self) -> str:
        shown = "..." if self._untyped_storage.buffer is None else " " + "\n ".join(str(value) for value in self)
        return f"{shown}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedStorage) and self._cdata == other._cdata

    __hash__ = object.__hash__

    def __copy__(self) -> TypedStorage:
        return self.clone()

    def __deepcopy__(self, memo: dict[Any, Any]) -> TypedStorage:
        return self._over(self._untyped_storage.__deepcopy__(memo), self.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        return reduce_as_file(self, UntypedStorage) or (_restored, (self._untyped_storage, self.dtype))


def _restored(untyped: UntypedStorage, dtype: Dtype) -> TypedStorage:
    return TypedStorage._over(untyped, dtype)


def _conversion(owner: str, name: str, dtype: Dtype) -> Any:
    def convert(self: TypedStorage | UntypedStorage) -> TypedStorage:
        typed = self if isinstance(self, TypedStorage) else TypedStorage._over(self, types.uint8)
        return typed._to(dtype)

    convert.__name__ = name
    convert.__qualname__ = f"{owner}.{name}"
    convert.__doc__ = f"A copy converted to {dtype}."
    return convert


for _name, _dtype in {
    "double": types.float64,
    "float": types.float32,
    "half": types.float16,
    "bfloat16": types.bfloat16,
    "long": types.int64,
    "int": types.int32,
    "short": types.int16,
    "char": types.int8,
    "byte": types.uint8,
    "bool": types.bool,
    "complex_double": types.complex128,
    "complex_float": types.complex64,
    "float8_e5m2": types.float8_e5m2,
    "float8_e4m3fn": types.float8_e4m3fn,
    "float8_e5m2fnuz": types.float8_e5m2fnuz,
    "float8_e4m3fnuz": types.float8_e4m3fnuz,
}.items():
    setattr(TypedStorage, _name, _conversion("TypedStorage", _name, _dtype))
    setattr(UntypedStorage, _name, _conversion("_StorageBase", _name, _dtype))


_NAMES = {element: name for name, element in LEGACY_TYPES.items()}


def storage_class_name(dtype: Dtype) -> str:
    """The class name that files use for this element type; KeyError for types that only untyped files hold."""
    return _NAMES[dtype]


def storage_class_dtype(name: str) -> Dtype | None:
    """The element type of a storage class name in a file, None when the name is no such class."""
    return LEGACY_TYPES.get(name)
