"""`torch.load`: both formats, restricted or not, copied or mapped."""

from __future__ import annotations

import io
import os
import pickle
import re
import sys
import warnings
from typing import Any, BinaryIO

import mindtorch
from mindtorch.serialization import _allowed, _files
from mindtorch.serialization._archive_reader import ArchiveReader
from mindtorch.serialization._budget import UNLIMITED, Budget
from mindtorch.serialization._calls import RaisedByCaller, callers_code
from mindtorch.serialization._legacy_loading import is_tar, read_legacy
from mindtorch.serialization._locations import is_meta_location, restorer
from mindtorch.serialization._restricted import RestrictedUnpickler, UnrestrictedUnpickler
from mindtorch.serialization._saved_ids import SavedId, storage_id
from mindtorch.serialization._settings import MAP_SHARED, LoadEndianness, load_config, thread_state
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.storage import TypedStorage, UntypedStorage, storage_class_dtype

_tar_loading = LazyModule(
    "mindtorch.serialization._tar_loading",
    "it takes longer to import than most files take to load, and few programs meet a tar file",
)

UNSAFE_MESSAGE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)
_DOCS_MESSAGE = (
    "\n\nCheck the documentation of torch.load to learn more about types accepted by default with weights_only "
    "https://pytorch.org/docs/stable/generated/torch.load.html."
)
_TRUE_VALUES = ("1", "y", "yes", "true")


def _weights_only_message(message: str) -> str:
    if re.search(r"GLOBAL (\S+) was not an allowed global by default.", message):
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those "
            f"steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {UNSAFE_MESSAGE}\n\t(2) "
            "Alternatively, to load with `weights_only=True` please check the recommended steps in the following "
            f"error message.\n\tWeightsUnpickler error: {message}{_DOCS_MESSAGE}"
        )
    if re.search(r"(\S+) must be (\S+) to load", message):
        return f"Weights only load failed. {message}\n {UNSAFE_MESSAGE}\n"
    text = f"Weights only load failed. {UNSAFE_MESSAGE}\n"
    if not re.search(r"whose module (\S+) is blocked", message):
        text += (
            "Please file an issue with the following so that we can make `weights_only=True` compatible with your use "
            "case: WeightsUnpickler error: "
        )
    return f"{text}\n\n{message}{_DOCS_MESSAGE}"


_ALIGNMENT = 16
"""What the memory of any element type is aligned to: records that lie otherwise in a file are read and not mapped."""


class StorageLoader:
    """Resolves the storages that the pickle of an archive refers to."""

    def __init__(
        self,
        archive: ArchiveReader,
        map_location: Any,
        mapped: UntypedStorage | None,
        budget: Budget,
        folder: str = "data",
    ) -> None:
        self._archive = archive
        self._folder = folder
        self._mapped = mapped
        self._budget = budget
        self._restore = restorer(map_location)
        self._to_meta = is_meta_location(map_location)
        self._byte_order = _byte_order(archive)
        self._loaded: dict[str | int, TypedStorage] = {}

    def __call__(self, saved_id: Any) -> TypedStorage:
        saved = storage_id(saved_id, 5)
        found = self._loaded.get(saved.key)
        if found is None:
            found = TypedStorage._over(self._load(saved), saved.dtype)
            if saved.numel:  # storages without bytes are not shared: each has the dtype that it was saved with
                self._loaded[saved.key] = found
        return found

    def _load(self, saved: SavedId) -> Any:
        name, nbytes = f"{self._folder}/{saved.key}", saved.numel * saved.dtype.itemsize
        if self._to_meta:
            return UntypedStorage(nbytes, device="meta")
        if thread_state.skip_data:
            self._budget.take(nbytes)
            return self._restored(UntypedStorage(nbytes), saved.location)
        size = self._archive.record_size(name)
        if size != nbytes:
            raise RuntimeError(
                f"record size ({size} bytes) does not match expected size ({nbytes} bytes = {nbytes} elements * 1 "
                "bytes/element) for dtype Byte"
            )
        storage = None if self._mapped is None else self._mapping_of(name, nbytes)
        if storage is None:
            self._budget.take(nbytes)
            storage = UntypedStorage(nbytes)
            self._archive.read_into(name, storage.buffer)
        if self._byte_order != sys.byteorder:
            storage.byteswap(saved.dtype)
        return self._restored(storage, saved.location)

    def _mapping_of(self, name: str, nbytes: int) -> Any:
        if not self._archive.is_stored(name):
            raise RuntimeError(f"record {name} is compressed and cannot be mapped: load this file without mmap")
        offset = self._archive.record_offset(name)
        return None if offset % _ALIGNMENT else self._mapped[offset : offset + nbytes]  # type: ignore[index]

    def _restored(self, storage: UntypedStorage, location: str) -> Any:
        with callers_code():  # `map_location` and the devices that a program registered
            return self._restore(storage, location)


def _byte_order(archive: ArchiveReader) -> str:
    if archive.has_record("byteorder"):
        order = archive.get_record("byteorder")
        if order not in (b"little", b"big"):
            raise ValueError("Unknown endianness type: " + order.decode("utf-8", "replace"))
        return order.decode()
    assumed = load_config.endianness
    if assumed is LoadEndianness.NATIVE:
        return sys.byteorder
    if assumed is None and sys.byteorder == "big":
        warnings.warn(
            "The default load endianness for checkpoints without a byteorder mark on big endian machines was changed "
            "from 'native' to 'little' endian, to avoid this behavior please use "
            "torch.serialization.set_default_load_endianness to set the desired default load endianness",
            UserWarning,
            stacklevel=2,
        )
    return "big" if assumed is LoadEndianness.BIG else "little"


def _unpickler(module: Any, stream: BinaryIO, options: dict[str, Any], budget: Budget) -> Any:
    """The unpickler for this pickle module; None stands for the restricted one."""
    if module is None:
        return RestrictedUnpickler(stream, encoding=options.get("encoding", "utf-8"), budget=budget)
    if module.Unpickler is pickle.Unpickler:
        return UnrestrictedUnpickler(stream, **options)

    class Unpickler(module.Unpickler):
        def find_class(self, mod_name: str, name: str) -> Any:
            if storage_class_dtype(name) is not None:
                return _allowed.StorageType(name)
            return super().find_class(mod_name, name)

    return Unpickler(stream, **options)


def _read_archive(
    archive: ArchiveReader,
    map_location: Any,
    module: Any,
    mapped: UntypedStorage | None,
    options: dict[str, Any],
    budget: Budget,
) -> Any:
    unpickler = _unpickler(module, io.BytesIO(archive.get_record("data.pkl")), options, budget)
    unpickler.persistent_load = StorageLoader(archive, map_location, mapped, budget)
    before = thread_state.map_location, thread_state.after_data
    thread_state.map_location, thread_state.after_data = map_location, None
    try:
        return unpickler.load()
    finally:
        thread_state.map_location, thread_state.after_data = before


def is_archive(stream: BinaryIO) -> bool:
    """Whether a zip archive begins at the stream's position."""
    start = stream.tell()
    found = stream.read(4) == b"PK\x03\x04"
    stream.seek(start)
    return found


def _wants_weights_only(weights_only: bool | None, pickle_module: Any) -> bool:
    force = os.getenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE_VALUES
    force_not = os.getenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0").lower() in _TRUE_VALUES
    if force and force_not:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if force:
        return True
    if weights_only is not None:
        return weights_only
    if force_not:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the`weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            UserWarning,
            stacklevel=3,
        )
        return False
    return pickle_module is None


def _map_whole_file(f: Any) -> UntypedStorage:
    if not _files.is_path(f):
        raise ValueError("f must be a file path in order to use the mmap argument")
    shared = load_config.mmap_flags == MAP_SHARED
    return UntypedStorage.from_file(os.fspath(f), shared, os.path.getsize(f))


def _load_safetensors(path: str, map_location: Any) -> Any:
    if isinstance(map_location, dict) or callable(map_location):
        kind = "dict" if isinstance(map_location, dict) else "callable"
        raise RuntimeError(
            f"Loading safetensors file with {kind} map_location is not supported. Use a device string or torch.device "
            "instead."
        )
    if sys.modules.get("torch") is not mindtorch:
        raise RuntimeError(
            "Loading a safetensors file goes through the safetensors package, which imports torch: run under the "
            "proxy (`mindtorch run`), where torch is MindTorch."
        )
    module = mindtorch._utils._import_dotted_name("safetensors.torch")
    return module.load_file(path, device="cpu" if map_location is None else str(map_location))


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Load what `torch.save` of ours or of torch wrote, from a path or a seekable binary stream.

    Unless `weights_only=False`, the file can only make tensors, containers and what the user marked safe.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.save([torch.arange(3)], file)
    >>> _ = file.seek(0)
    >>> torch.load(file, weights_only=True)
    [tensor([0, 1, 2])]
    """
    restricted = _wants_weights_only(weights_only, pickle_module)
    if restricted and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    module = None if restricted else pickle_module or pickle
    if pickle_load_args and restricted:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
        unknown = [name for name in pickle_load_args if name != "encoding"]
        if unknown:
            raise TypeError(f"Unpickler.__init__() got an unexpected keyword argument '{unknown[0]}'")
    mmap = load_config.mmap if mmap is None else mmap
    options = {"encoding": "utf-8", **pickle_load_args}
    if _files.is_path(f) and os.fsdecode(f).endswith(".safetensors"):
        return _load_safetensors(os.fsdecode(f), map_location)
    with _files.opened_for_reading(f) as stream:
        budget = Budget(_files.bytes_left(stream)) if restricted else UNLIMITED
        try:
            if is_archive(stream):
                return _load_archive(f, stream, map_location, module, mmap, options, budget)
            if mmap:
                name = f"{f}, " if isinstance(f, str) else ""
                raise RuntimeError(
                    f"mmap can only be used with files saved with `torch.save({name}_use_new_zipfile_serialization="
                    "True), please torch.save your checkpoint with this option in order to use mmap."
                )
            if is_tar(stream):
                return _load_tar(stream, map_location, module, options)
            return read_legacy(stream, map_location, lambda source: _unpickler(module, source, options, budget), budget)
        except RaisedByCaller as raised:
            raise raised.error from None
        except pickle.UnpicklingError as error:
            if not restricted:
                raise
            raise pickle.UnpicklingError(_weights_only_message(str(error))) from None


def _load_tar(stream: BinaryIO, map_location: Any, module: Any, options: dict[str, Any]) -> Any:
    if module is None:
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with files saved in the legacy .tar format. " + UNSAFE_MESSAGE
        )
    return _tar_loading.read_tar(stream, map_location, lambda source: _unpickler(module, source, options, UNLIMITED))


def _load_archive(
    f: Any,
    stream: BinaryIO,
    map_location: Any,
    module: Any,
    mmap: bool,
    options: dict[str, Any],
    budget: Budget,
) -> Any:
    start = stream.tell()
    archive = ArchiveReader(stream, budget)
    if archive.has_record("constants.pkl"):
        if module is None:
            raise RuntimeError(
                "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``. " + UNSAFE_MESSAGE
            )
        warnings.warn(
            "'torch.load' received a zip file that looks like a TorchScript archive dispatching to 'torch.jit.load' (call "
            "'torch.jit.load' directly to silence this warning)",
            UserWarning,
            stacklevel=3,
        )
        stream.seek(start)
        return mindtorch.jit.load(f, map_location=map_location)
    return _read_archive(archive, map_location, module, _map_whole_file(f) if mmap else None, options, budget)
