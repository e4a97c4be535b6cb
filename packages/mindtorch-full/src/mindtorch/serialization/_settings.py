"""Process and thread wide switches of saving and loading."""

from __future__ import annotations

import mmap
import sys
import threading
from collections.abc import Callable
from enum import Enum
from types import SimpleNamespace
from typing import Any

MAP_SHARED: int | None = getattr(mmap, "MAP_SHARED", None)
MAP_PRIVATE: int | None = getattr(mmap, "MAP_PRIVATE", None)


class LoadEndianness(Enum):
    """The byte order to assume for files that do not say theirs.

    >>> torch.serialization.LoadEndianness.NATIVE
    <LoadEndianness.NATIVE: 1>
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


# The settings that `torch.utils.serialization.config` shows.
load_config = SimpleNamespace(mmap=False, endianness=None, mmap_flags=MAP_PRIVATE, calculate_storage_offsets=False)
save_config = SimpleNamespace(compute_crc32=True, use_pinned_memory_for_d2h=False, storage_alignment=64)


class _ThreadState(threading.local):
    map_location: Any = None
    skip_data: bool = False
    materialize_fake_tensors: bool = False
    after_data: list[Callable[[], None]] | None = None
    """What waits for the data while a file of the older format loads; None otherwise."""


thread_state = _ThreadState()


def get_default_load_endianness() -> LoadEndianness | None:
    """The byte order assumed for files without a byte order mark; None means little endian.

    >>> torch.serialization.get_default_load_endianness()
    """
    return load_config.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order assumed for files without a byte order mark.

    >>> torch.serialization.set_default_load_endianness(torch.serialization.LoadEndianness.LITTLE)
    >>> torch.serialization.get_default_load_endianness()
    <LoadEndianness.LITTLE: 2>
    >>> torch.serialization.set_default_load_endianness(None)
    """
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError("Invalid argument type in function set_default_load_endianness")
    load_config.endianness = endianness


def get_crc32_options() -> bool:
    """Whether `torch.save` writes checksums.

    >>> torch.serialization.get_crc32_options()
    True
    """
    return save_config.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Let `torch.save` write checksums or not; without them a corrupt file loads as if it were whole.

    >>> torch.serialization.set_crc32_options(False)
    >>> torch.serialization.get_crc32_options()
    False
    >>> torch.serialization.set_crc32_options(True)
    """
    save_config.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """The `mmap` flag that `torch.load(mmap=True)` maps files with.

    >>> import mmap
    >>> torch.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    True
    """
    return load_config.mmap_flags


class set_default_mmap_options:
    """Choose between `mmap.MAP_PRIVATE` and `mmap.MAP_SHARED`; also a context manager.

    >>> import mmap
    >>> with torch.serialization.set_default_mmap_options(mmap.MAP_SHARED):
    ...     torch.serialization.get_default_mmap_options() == mmap.MAP_SHARED
    True
    """

    def __init__(self, flags: int) -> None:
        if sys.platform == "win32":
            raise RuntimeError("Changing the default mmap options is currently not supported for Windows")
        if flags not in (MAP_PRIVATE, MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or "
                f"mmap.MAP_SHARED, but got {flags}"
            )
        self.prev = load_config.mmap_flags
        load_config.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        load_config.mmap_flags = self.prev


class skip_data:
    """Save files with room for the data but without it, and load tensors without reading their data.

    >>> with torch.serialization.skip_data():
    ...     torch.serialization.get_crc32_options()
    True
    """

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before = thread_state.skip_data, thread_state.materialize_fake_tensors
        thread_state.skip_data, thread_state.materialize_fake_tensors = True, self.materialize_fake_tensors

    def __exit__(self, *exc_info: object) -> None:
        thread_state.skip_data, thread_state.materialize_fake_tensors = self._before
