"""Writing TorchScript archives: the code, its constants, and the state of the module.

The pickles are written here opcode by opcode: the classes that they name are those of the code, which Python's own pickle
could not find.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import re
import struct
import sys
from collections.abc import Iterator
from typing import Any

from mindtorch.jit._script_module import CompiledModule, ScriptObject
from mindtorch.jit._tracing.values import PythonCall
from mindtorch.serialization._archive_writer import ArchiveWriter
from mindtorch.serialization._locations import location_tag
from mindtorch.serialization._saving import archive_name, check_folder
from mindtorch_storage.device import device as Device
from mindtorch_storage.layout import strided
from mindtorch_storage.storage import storage_class_name
from mindtorch_storage.tensor_base import TensorBase

_VERSION = 10
"""That of torch 2.13's operators: a reader that saw an older one would put older operators in their place."""
_LIST_MAKERS = {int: "build_intlist", float: "build_doublelist", bool: "build_boollist"}
_PLACEHOLDER = "__torch__.PlaceholderModule"


class _Pickler:
    """Writes one pickle as torch's reader of archives takes it; tensors' storages go to `storages`, in order of their keys."""

    def __init__(self) -> None:
        self._out = bytearray(pickle.PROTO + b"\x02")
        self._memo: dict[Any, int] = {}
        self._alive: list[Any] = []
        self._keys: dict[int, str] = {}
        self.storages: list[Any] = []

    def finish(self) -> bytes:
        """Return the pickle."""
        return bytes(self._out) + pickle.STOP

    def _global(self, module: str, name: str) -> None:
        if not self._known((module, name)):
            self._out += pickle.GLOBAL + f"{module}\n{name}\n".encode()
            self._remember((module, name))

    def _known(self, key: Any) -> bool:
        place = self._memo.get(key)
        if place is None:
            return False
        self._out += pickle.BINGET + bytes([place]) if place < 256 else pickle.LONG_BINGET + struct.pack("<I", place)
        return True

    def _remember(self, key: Any) -> None:
        place = self._memo[key] = len(self._memo)
        self._out += pickle.BINPUT + bytes([place]) if place < 256 else pickle.LONG_BINPUT + struct.pack("<I", place)

    def write(self, value: Any) -> None:
        """Add a value. Raises RuntimeError for one that TorchScript does not have."""
        if value is None:
            self._out += pickle.NONE
        elif isinstance(value, bool):
            self._out += pickle.NEWTRUE if value else pickle.NEWFALSE
        elif isinstance(value, int):
            self._integer(value)
        elif isinstance(value, float):
            self._float(value)
        elif isinstance(value, str):
            self._text(value)
        elif isinstance(value, TensorBase):
            self._tensor(value)
        elif isinstance(value, (CompiledModule, ScriptObject)):
            self._object(value)
        else:
            self._other(value)

    def _other(self, value: Any) -> None:
        if isinstance(value, tuple):
            self._tuple(value)
        elif isinstance(value, list):
            self._list(value)
        elif isinstance(value, dict):
            self._out += pickle.EMPTY_DICT + pickle.MARK
            for key, one in value.items():
                self.write(key)
                self.write(one)
            self._out += pickle.SETITEMS
        elif isinstance(value, Device):
            self._global("torch", "device")
            self._text(str(value))
            self._out += pickle.TUPLE1 + pickle.REDUCE
        elif isinstance(value, complex):
            self._global("builtins", "complex")
            self._float(value.real)
            self._float(value.imag)
            self._out += pickle.TUPLE2 + pickle.REDUCE
        elif isinstance(value, PythonCall):
            raise RuntimeError(
                f"\nCould not export Python function call '{value.function.__name__}'. Remove calls to Python functions before "
                "export. Did you forget to add @script or @script_method annotation? If this is a nn.ModuleList, add it to "
                "__constants__"
            )
        else:
            raise RuntimeError(f"torch.jit.save: a value of {type(value).__name__} cannot be written to an archive")

    def _integer(self, value: int) -> None:
        if 0 <= value < 256:
            self._out += pickle.BININT1 + bytes([value])
        elif -(2**31) <= value < 2**31:
            self._out += pickle.BININT + struct.pack("<i", value)
        else:
            self._out += pickle.LONG1 + b"\x08" + struct.pack("<q", value)

    def _float(self, value: float) -> None:
        self._out += pickle.BINFLOAT + struct.pack(">d", value)

    def _text(self, value: str) -> None:
        if not self._known(value):
            data = value.encode()
            self._out += pickle.BINUNICODE + struct.pack("<I", len(data)) + data
            self._remember(value)

    def _tuple(self, values: tuple[Any, ...]) -> None:
        self._out += pickle.MARK
        for one in values:
            self.write(one)
        self._out += pickle.TUPLE

    def _list(self, values: list[Any]) -> None:
        kinds = set(map(type, values))
        maker = "build_tensorlist" if kinds and all(issubclass(kind, TensorBase) for kind in kinds) else None
        maker = maker or (_LIST_MAKERS.get(next(iter(kinds))) if len(kinds) == 1 else None)
        if maker:
            self._global("torch.jit._pickle", maker)
        self._out += pickle.EMPTY_LIST + pickle.MARK
        for one in values:
            self.write(one)
        self._out += pickle.APPENDS
        if maker:
            self._out += pickle.TUPLE1 + pickle.REDUCE

    def _tensor(self, value: Any) -> None:
        if self._known(id(value)):
            return
        if value.is_sparse or value.is_quantized or value.layout is not strided:
            raise NotImplementedError("torch.jit.save: sparse and quantized tensors cannot be written to an archive")
        value = value.detach().resolve_conj().resolve_neg().requires_grad_(value.requires_grad) if (
            value.is_conj() or value.is_neg()) else value  # fmt: skip
        storage = value.untyped_storage()
        place = storage.data_ptr() if storage.nbytes() else id(storage)
        if place not in self._keys:
            self._keys[place] = str(len(self.storages))
            self.storages.append(storage)
        self._alive += [value, storage]
        self._global("torch._utils", "_rebuild_tensor_v2")
        self._out += pickle.MARK + pickle.MARK
        self._text("storage")
        self._global("torch", storage_class_name(value.dtype))
        self._text(self._keys[place])
        self._text(location_tag(storage))
        self._integer(storage.nbytes() // value.element_size())
        self._out += pickle.TUPLE + pickle.BINPERSID
        self._integer(value.storage_offset())
        self._tuple(tuple(value.shape))
        self._tuple(tuple(value.stride()))
        self.write(value.requires_grad)
        self._global("collections", "OrderedDict")
        self._out += pickle.EMPTY_TUPLE + pickle.REDUCE + pickle.TUPLE + pickle.REDUCE
        self._remember(id(value))

    def _object(self, value: Any) -> None:
        if self._known(id(value)):
            return
        module, _, name = value._qualified_name.rpartition(".")
        self._global(module, name)
        self._out += pickle.EMPTY_TUPLE + pickle.NEWOBJ
        get_state = value._declared.members.get("__getstate__")
        self.write(get_state(value) if get_state is not None else _state_of(value))
        self._out += pickle.BUILD
        self._alive.append(value)
        self._remember(id(value))


def _state_of(value: Any) -> dict[str, Any]:
    """Return the attributes that the class declares, in its order."""
    return {name: getattr(value, name, None) for name in value._declared.ordered}


def _write(writer: ArchiveWriter, program: Any, root: Any, extra_files: Any) -> None:
    writer.version = _VERSION
    _write_pickle(writer, "data", root)
    for place, text in program.texts():
        writer.write_record(f"code/{place}", text.encode())
    _write_pickle(writer, "constants", tuple(program.constants))
    for name, content in (extra_files or {}).items():
        writer.write_record(f"extra/{name}", content.encode() if isinstance(content, str) else bytes(content))
    writer.write_record("byteorder", sys.byteorder.encode())
    writer.finish()


def _write_pickle(writer: ArchiveWriter, name: str, value: Any) -> None:
    pickler = _Pickler()
    pickler.write(value)
    for number, storage in enumerate(pickler.storages):
        writer.write_record(f"{name}/{number}", memoryview(storage.host_bytes().data).cast("B"))
    writer.write_record(f"{name}.pkl", pickler.finish())


@contextlib.contextmanager
def _opened(f: Any) -> Iterator[tuple[Any, str]]:
    """Return the stream to write to, and the name of the folder in the archive."""
    if isinstance(f, (str, os.PathLike)):
        path = os.fsdecode(f)
        check_folder(path)
        with open(path, "wb") as stream:
            yield stream, archive_name(path)
    else:
        yield f, "archive"


def _save(f: Any, program: Any, root: Any, extra_files: Any) -> None:
    content = io.BytesIO()
    with _opened(f) as (stream, name):
        _write(ArchiveWriter(content, name), program, root, extra_files)
        stream.write(content.getvalue())


def save_module(module: CompiledModule, f: Any, extra_files: Any) -> None:
    """Write a module to a file or stream."""
    _save(f, module._program, module, extra_files)


def bytes_of(module: Any, extra_files: Any) -> bytes:
    """Return what a module's `save` writes."""
    file = io.BytesIO()
    module.save(file, extra_files)
    return file.getvalue()


class _WithoutState:
    """A program whose classes have neither parameters nor buffers: tensors are plain attributes."""

    def __init__(self, program: Any) -> None:
        self._program = program
        self.constants = program.constants

    def texts(self) -> Iterator[tuple[str, str]]:
        """Return the files and their texts."""
        for place, text in self._program.texts():
            yield place, _STATE.sub(r"\1 = []", text)


_STATE = re.compile(r"^(  __(?:parameters|buffers)__) = \[.*\]$", re.MULTILINE)


def save_frozen(module: Any, f: Any, extra_files: Any) -> None:
    """Write the module that was frozen, as a module without state."""
    _save(f, _WithoutState(module._program), module, extra_files)


class _Placeholder(CompiledModule):
    """The module that a function is saved in."""


def _holding(function: Any) -> Any:
    text = function._program.function_source(function.qualified_name)
    rest = text.partition("(")[2]
    body = "".join(f"  {line}\n" for line in rest.splitlines())[2:]
    self_ = f"self: {_PLACEHOLDER}" + ("" if rest.startswith(")") else ",\n    ")
    code = (
        "class PlaceholderModule(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
        f"  def forward({self_}{body}"
    )
    files = dict(function._program.texts())
    place = "__torch__.py"
    files[place] = code
    program = type(function._program)(files.get, function._program.constants, {_PLACEHOLDER: _Placeholder})
    program.read_all(files)
    kind = program.find(_PLACEHOLDER)
    return kind()


def save_function(function: Any, f: Any, extra_files: Any) -> None:
    """Write a function to a file, by its name."""
    save_module(_holding(function), f, extra_files)


def function_bytes(function: Any, extra_files: Any) -> bytes:
    """Return the archive of a function."""
    file = io.BytesIO()
    save_function(function, file, extra_files)
    return file.getvalue()
