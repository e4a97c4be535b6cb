"""`torch.save`: the zip format, and the older stream of pickles."""

from __future__ import annotations

import inspect
import io
import os
import pickle
import struct
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, BinaryIO

from mindtorch.serialization import _files, _names
from mindtorch.serialization._archive_writer import ArchiveWriter
from mindtorch.serialization._locations import location_tag
from mindtorch.serialization._settings import save_config, thread_state
from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage, storage_class_name

DEFAULT_PROTOCOL = 2
MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_TYPE_SIZES = {"short": struct.calcsize("=h"), "int": struct.calcsize("=i"), "long": struct.calcsize("=l")}


class _StorageTable:
    """The storages met while pickling, each with a key; refuses two readings of the same memory."""

    def __init__(self, key_of: Callable[[UntypedStorage, int], str]) -> None:
        self.storages: dict[str, tuple[UntypedStorage, Dtype]] = {}
        self._keys: dict[int, str] = {}
        self._dtypes: dict[int, Dtype] = {}
        self._key_of = key_of

    def describe(self, obj: TypedStorage | UntypedStorage) -> tuple[str, Any, str, str, int]:
        """What the pickle holds in place of the storage."""
        if isinstance(obj, TypedStorage):
            storage, dtype = obj.untyped(), obj.dtype
            kind, count = LEGACY_CLASSES[storage_class_name(dtype)], obj.size()
        else:
            storage, dtype = obj, types.uint8
            kind, count = UntypedStorage, obj.nbytes()
        address = storage.data_ptr()
        if address and self._dtypes.setdefault(address, dtype) is not dtype:
            raise RuntimeError("Cannot save multiple tensors or storages that view the same data as different types")
        key = self._keys.get(id(storage))
        if key is None:
            key = self._keys[id(storage)] = self._key_of(storage, len(self._keys))
            self.storages[key] = (storage, dtype)
        return "storage", kind, key, location_tag(storage), count


@lru_cache(maxsize=8)
def _pickler_class(base: Any) -> Any:
    """Return the class of picklers that ask an attribute of theirs what is stored apart.

    A class is in a cycle: one for each call would keep what the call wrote until cycles are collected.
    """

    class Pickler(base):
        _describe: Callable[[Any], Any]

        def persistent_id(self, obj: Any) -> Any:
            return self._describe(obj)

    return Pickler


def _pickler(module: Any, stream: BinaryIO, protocol: int, persistent_id: Callable[[Any], Any]) -> Any:
    # The caller's own pickle module decides how names are written; the standard one writes those of torch.
    base = _names.TorchPickler if module.Pickler is pickle.Pickler else module.Pickler
    pickler = _pickler_class(base)(stream, protocol=protocol)
    pickler._describe = persistent_id
    return pickler


def _host_bytes(storage: UntypedStorage) -> Any:
    return storage.host_bytes().data


def write_archive(
    obj: Any, writer: ArchiveWriter, pickle_module: Any, pickle_protocol: int, disable_byteorder_record: bool
) -> None:
    """Write the records of a checkpoint, without closing the archive."""
    table = _StorageTable(lambda storage, count: str(count))
    stream = io.BytesIO()
    _pickler(
        pickle_module,
        stream,
        pickle_protocol,
        lambda value: table.describe(value) if isinstance(value, TypedStorage | UntypedStorage) else None,
    ).dump(obj)
    writer.write_record("data.pkl", stream.getvalue())
    writer.write_record(".format_version", b"1")
    writer.write_record(".storage_alignment", str(save_config.storage_alignment).encode())
    if not disable_byteorder_record:
        writer.write_record("byteorder", sys.byteorder.encode())
    writer.reserve(sum(storage.nbytes() for storage, _ in table.storages.values()))
    for key, (storage, _) in table.storages.items():
        if thread_state.skip_data:
            writer.write_empty_record(f"data/{key}", storage.nbytes())
        else:
            writer.write_record(f"data/{key}", _host_bytes(storage))


def _source_of(cls: type) -> tuple[str | None, str | None]:
    try:
        return inspect.getsourcefile(cls), inspect.getsource(cls)
    except (OSError, TypeError):
        warnings.warn(
            f"Couldn't retrieve source code for container of type {cls.__name__}. It won't be checked for correctness "
            "upon loading.",
            stacklevel=2,
        )
        return None, None


def _is_module_class(value: Any) -> bool:
    # A program without nn.Module has no subclass of it, and saving tensors need not import it.
    loaded = sys.modules.get("mindtorch.nn.modules.module")
    return loaded is not None and isinstance(value, type) and issubclass(value, loaded.Module)


def write_legacy(obj: Any, stream: BinaryIO, pickle_module: Any, pickle_protocol: int) -> None:
    """Write the format of before 1.6: header pickles, the object, then the storages one after the other."""
    table = _StorageTable(lambda storage, count: str(id(storage)))
    modules: set[type] = set()

    def persistent_id(value: Any) -> tuple[Any, ...] | None:
        if isinstance(value, TypedStorage | UntypedStorage):
            return (*table.describe(value), None)
        if _is_module_class(value) and value not in modules:
            modules.add(value)
            return ("module", value, *_source_of(value))
        return None

    header = {
        "protocol_version": PROTOCOL_VERSION,
        "little_endian": sys.byteorder == "little",
        "type_sizes": _TYPE_SIZES,
    }
    for part in (MAGIC_NUMBER, PROTOCOL_VERSION, header):
        pickle_module.dump(part, stream, protocol=pickle_protocol)
    _pickler(pickle_module, stream, pickle_protocol, persistent_id).dump(obj)
    keys = sorted(table.storages)
    pickle_module.dump(keys, stream, protocol=pickle_protocol)
    for key in keys:
        storage, dtype = table.storages[key]
        stream.write(struct.pack("<q", storage.nbytes() // dtype.itemsize))
        if storage.device.type != "meta":
            stream.write(_host_bytes(storage))


def archive_name(path: str) -> str:
    """Return the folder in an archive that is written to a path."""
    name = path.replace("\\", "/").rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    stem = stem if dot else name
    if not stem:
        raise RuntimeError(f"[enforce fail at inline_container.cc:720] . invalid file name: {path}")
    return stem if path.isascii() else "archive"


def check_folder(path: str) -> None:
    """Raise where no file can be at a path."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    if os.path.isdir(path):
        raise RuntimeError("[enforce fail at inline_container.cc:747] . open file failed with strerror: Is a directory")


def save(
    obj: object,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Save an object to a path or a binary stream, so that torch reads it too.

    A path is replaced in one step when everything is written and synced: a crash leaves the old file whole.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save({"weight": torch.ones(2), "step": 3}, file)
    >>> _ = file.seek(0)
    >>> torch.load(file)
    {'weight': tensor([1., 1.]), 'step': 3}
    """
    _files.check_writable(f)
    if not _use_new_zipfile_serialization and thread_state.skip_data:
        raise RuntimeError("Cannot use skip_data=True with _use_new_zipfile_serialization=False")

    def write(stream: BinaryIO, archive_name: str) -> None:
        if not _use_new_zipfile_serialization:
            write_legacy(obj, stream, pickle_module, pickle_protocol)
            return
        writer = ArchiveWriter(
            stream, archive_name, alignment=save_config.storage_alignment, checksums=save_config.compute_crc32
        )
        write_archive(obj, writer, pickle_module, pickle_protocol, _disable_byteorder_record)
        writer.finish()

    if not _files.is_path(f):
        if not callable(f.write):
            raise TypeError(f"Buffer of {str(type(f)).strip('<>')} has no callable attribute 'write'")
        write(f, "archive")
        f.flush()
        return
    path = os.fsdecode(f)
    if _use_new_zipfile_serialization:
        name = archive_name(path)
        check_folder(path)
    else:
        name = ""
    with _files.replaced_file(path) as stream:
        write(stream, name)
