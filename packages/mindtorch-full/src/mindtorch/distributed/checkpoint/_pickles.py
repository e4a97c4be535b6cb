"""Pickles that name torch's classes, whatever `torch` means in this process."""

from __future__ import annotations

import io
import pickle
from typing import IO, Any, NoReturn

from mindtorch.serialization._names import TorchPickler, is_torch_name, resolve

_PLAIN = frozenset(
    {
        ("builtins", name)
        for name in "dict list tuple set frozenset str int float bool bytes bytearray complex slice range".split()
    }
    | {("collections", "OrderedDict"), ("collections", "defaultdict"), ("pathlib", "PosixPath"), ("pathlib", "Path")}
    | {("pathlib", "WindowsPath"), ("pathlib._local", "PosixPath"), ("pathlib._local", "Path")}
)
_OF_TORCH = frozenset({"torch", "torch.serialization", "torch._utils"})
_CHECKPOINT = ("torch.distributed.checkpoint.", "torch.distributed._shard.")
"""Modules whose classes metadata may have: older checkpoints have properties of sharded tensors."""


class _Unpickler(pickle.Unpickler):
    """Finds torch's names in our modules."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what a pickle names."""
        return resolve(module, name) if is_torch_name(module) else super().find_class(module, name)


class _MetadataUnpickler(_Unpickler):
    """Finds what a checkpoint's metadata consists of, and nothing that runs a program's code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return what a pickle names."""
        if (module, name) in _PLAIN or module.startswith(_CHECKPOINT):
            found = super().find_class(module, name)
            if isinstance(found, type):
                return found
        elif module in _OF_TORCH and name in ("Size", "_get_layout", "dtype", "device"):
            return super().find_class(module, name)
        elif module == "torch" and name.isidentifier():
            found = super().find_class(module, name)
            if not callable(found):
                return found
        return _refuse(module, name)


def _refuse(module: str, name: str) -> NoReturn:
    raise pickle.UnpicklingError(f"a checkpoint's metadata cannot hold {module}.{name}")


def dump(value: object, stream: IO[bytes]) -> None:
    """Write a pickle."""
    TorchPickler(stream, protocol=4).dump(value)


def load_metadata(stream: IO[bytes]) -> Any:
    """Read a checkpoint's metadata."""
    return _MetadataUnpickler(stream).load()


def dumps(value: object) -> bytes:
    """Return a pickle."""
    stream = io.BytesIO()
    dump(value, stream)
    return stream.getvalue()


def loads(content: bytes) -> Any:
    """Read a pickle of a process that we trust."""
    return _Unpickler(io.BytesIO(content)).load()
