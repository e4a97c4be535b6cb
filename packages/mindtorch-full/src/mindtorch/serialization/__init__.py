"""Saving and loading: `torch.save`, `torch.load` and what surrounds them."""

import io
import pickle
import pickletools
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch.serialization import _allowed, _files
from mindtorch.serialization._allowed import (
    StorageType,
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from mindtorch.serialization._archive_reader import ArchiveReader
from mindtorch.serialization._legacy_loading import SourceChangeWarning
from mindtorch.serialization._loading import UNSAFE_MESSAGE as UNSAFE_MESSAGE
from mindtorch.serialization._loading import is_archive, load
from mindtorch.serialization._locations import (
    default_restore_location,
    location_tag,
    register_package,
    validate_cuda_device,
    validate_hpu_device,
)
from mindtorch.serialization._record_files import (  # noqa: F401  (private names that programs use)
    _is_zipfile,
    _open_file_like,
    _open_zipfile_reader,
    _open_zipfile_writer,
)
from mindtorch.serialization._restricted import python3_name
from mindtorch.serialization._saving import (
    DEFAULT_PROTOCOL as DEFAULT_PROTOCOL,
)
from mindtorch.serialization._saving import (
    MAGIC_NUMBER as MAGIC_NUMBER,
)
from mindtorch.serialization._saving import (
    PROTOCOL_VERSION as PROTOCOL_VERSION,
)
from mindtorch.serialization._saving import (
    save,
)
from mindtorch.serialization._settings import (
    LoadEndianness,
    get_crc32_options,
    get_default_load_endianness,
    get_default_mmap_options,
    set_crc32_options,
    set_default_load_endianness,
    set_default_mmap_options,
    skip_data,
)
from mindtorch.serialization._settings import thread_state as _serialization_tls  # noqa: F401 (a name of torch)
from mindtorch.serialization._versions import check_module_version_greater_or_equal
from mindtorch_storage import layout as _layouts
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "StorageType",
    "add_safe_globals",
    "check_module_version_greater_or_equal",
    "clear_safe_globals",
    "default_restore_location",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "location_tag",
    "normalize_storage_type",
    "register_package",
    "safe_globals",
    "save",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
    "validate_cuda_device",
    "validate_hpu_device",
]

STORAGE = TypedStorage | UntypedStorage
MAP_LOCATION = Callable[[STORAGE, str], STORAGE] | Device | str | dict[str, str] | None


def normalize_storage_type(storage_type: type) -> type:
    """The public class that stands for a storage class.

    >>> torch.serialization.normalize_storage_type(torch.FloatStorage).__name__
    'FloatStorage'
    """
    return LEGACY_CLASSES.get(storage_type.__name__) or getattr(mindtorch, storage_type.__name__)  # type: ignore[no-any-return]


def _get_layout(name: str) -> _layouts.layout:
    """The layout that a pickle names."""
    return _layouts.get_layout(name)


def _named_in(data: io.BytesIO) -> dict[str, None]:
    found: dict[str, None] = {}
    for operation, argument, _ in pickletools.genops(data):
        if operation.name == "GLOBAL":
            found[".".join(python3_name(*argument.split(" ", 1)))] = None
        elif operation.name not in _KNOWN_OPERATIONS:
            raise pickle.UnpicklingError(f"Unsupported operand {ord(operation.code)}")
    return found


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a checkpoint that `weights_only=True` refuses, found without running any of it.

    >>> import fractions, io
    >>> file = io.BytesIO()
    >>> torch.save(fractions.Fraction(1, 2), file)
    >>> _ = file.seek(0)
    >>> torch.serialization.get_unsafe_globals_in_checkpoint(file)
    ['fractions.Fraction']
    """
    allowed = {*_allowed.DEFAULT_NAMES, *_allowed.user_globals()}
    with _files.opened_for_reading(f) as stream:
        if not is_archive(stream):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = ArchiveReader(stream)
        if archive.has_record("constants.pkl"):
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        data = io.BytesIO(archive.get_record("data.pkl"))
    try:
        found = _named_in(data)
    except ValueError as error:
        raise pickle.UnpicklingError(f"pickle data is damaged: {error}") from None
    return [name for name in found if name not in allowed]


_KNOWN_OPERATIONS = frozenset(
    (
        "NEWOBJ", "REDUCE", "BUILD", "APPEND", "APPENDS", "SETITEM", "SETITEMS", "MARK", "TUPLE", "TUPLE1", "TUPLE2",
        "TUPLE3", "NONE", "NEWFALSE", "NEWTRUE", "EMPTY_TUPLE", "EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "BINPERSID",
        "BININT", "BININT1", "BININT2", "BINFLOAT", "BINGET", "LONG_BINGET", "BINPUT", "LONG_BINPUT", "BINUNICODE",
        "SHORT_BINSTRING", "LONG1", "PROTO", "STOP",
    )
)  # fmt: skip

adopt(globals())
