"""Reading TorchScript archives: their code, their constants, and the object that they hold.

What an archive can do is what its code can: call operators on tensors, numbers and containers. Its pickles are read as with
`weights_only=True`, beside classes that its own code declares.
"""

import enum
import io
import pickle
from typing import Any, BinaryIO, ClassVar

from mindtorch.jit._program import Program
from mindtorch.jit._script_module import RecursiveScriptModule, ScriptObject
from mindtorch.jit._source import CodeError
from mindtorch.serialization import _calls, _files
from mindtorch.serialization._archive_reader import ArchiveReader
from mindtorch.serialization._budget import Budget
from mindtorch.serialization._loading import StorageLoader
from mindtorch.serialization._restricted import RestrictedUnpickler, UnpicklingError

_LISTS = frozenset(("build_intlist", "build_tensorlist", "build_doublelist", "build_boollist", "restore_type_tag"))


def _first(value: Any, *_: Any) -> Any:
    return value


class _ScriptUnpickler(RestrictedUnpickler):
    """Reads a pickle of an archive: names below `__torch__` are classes of its code."""

    def __init__(self, stream: BinaryIO, program: Program | None, budget: Budget) -> None:
        super().__init__(stream, budget=budget)
        self._program = program

    def _global(self) -> None:
        position = self._stream.tell()
        module, name = self._line(), self._line()
        if module == "torch.jit._pickle" and name in _LISTS:
            self._stack.append(_first)
        elif self._program is not None and module.partition(".")[0] == "__torch__":
            self._stack.append(self._program.find(f"{module}.{name}"))
        else:
            self._stream.seek(position)
            super()._global()

    def _call(self, function: Any, args: Any, *, new: bool = False) -> Any:
        if function is _first and type(args) is tuple and args:
            return args[0]
        if self._program is not None and isinstance(function, type) and self._program.made(function):
            if issubclass(function, enum.Enum):
                return function(args)  # torch writes the value itself, not a tuple of arguments
            if issubclass(function, tuple):
                return function(*args)
            made = function.__new__(function)
            if isinstance(made, RecursiveScriptModule):
                RecursiveScriptModule.__init__(made)  # not the one that its code may declare
            return made
        return super()._call(function, args, new=new)

    def _build(self) -> None:
        target = self._stack[-2]
        if not isinstance(target, (RecursiveScriptModule, ScriptObject)):
            super()._build()
            return
        state = self._stack.pop()
        restore = target._declared.members.get("__setstate__")
        if restore is not None:
            restore(target, state)  # the archive's own code
            return
        if type(state) is not dict:
            raise UnpicklingError(
                f"the state of {type(target).__name__} must be a dict, but got {type(state).__name__}"
            )
        for name in state:
            _calls.check_attribute(name)
        target._set_state(state)

    _OPERATIONS: ClassVar[dict[bytes, Any]] = {
        **RestrictedUnpickler._OPERATIONS,
        pickle.GLOBAL: _global,
        pickle.BUILD: _build,
    }


def load_archive(f: Any, map_location: Any, extra_files: dict[str, Any] | None) -> Any:
    """Return the module that an archive holds, its tensors where `map_location` says; fill in `extra_files`.

    Raises RuntimeError for a file that is no archive, NotImplementedError for one of a format before PyTorch 1.4.
    """
    with _files.opened_for_reading(f) as stream:
        budget = Budget(_files.bytes_left(stream))
        archive = ArchiveReader(stream, budget)
        if archive.has_record("model.json"):
            raise NotImplementedError(
                "torch.jit.load(): this archive's format is older than PyTorch 1.4, which MindTorch does not read"
            )
        constants = _read_pickle(archive, "constants", None, map_location, budget)
        program = Program(lambda name: _read_code(archive, name, budget), constants)
        loaded = _read_pickle(archive, "data", program, map_location, budget)
        program.read_all(name.removeprefix("code/") for name in archive.get_all_records() if name.startswith("code/"))
        for name in extra_files or ():
            held = archive.has_record(f"extra/{name}")
            extra_files[name] = archive.get_record(f"extra/{name}") if held else b""  # type: ignore[index]
    return loaded


def _read_pickle(archive: ArchiveReader, name: str, program: Program | None, map_location: Any, budget: Budget) -> Any:
    unpickler = _ScriptUnpickler(io.BytesIO(archive.get_record(f"{name}.pkl")), program, budget)
    unpickler.persistent_load = StorageLoader(archive, map_location, None, budget, folder=name)
    return unpickler.load()


def _read_code(archive: ArchiveReader, name: str, budget: Budget) -> str | None:
    record = f"code/{name}"
    if not archive.has_record(record):
        return None
    budget.take(archive.record_size(record))
    try:
        return archive.get_record(record).decode("utf-8")
    except UnicodeDecodeError as error:
        raise CodeError(f"{record} is no TorchScript: {error}") from None
