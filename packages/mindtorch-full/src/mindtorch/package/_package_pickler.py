"""Pickles of a package: names are those that an importer knows."""

from __future__ import annotations

import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any, BinaryIO, ClassVar

from mindtorch.serialization._names import TorchPickler, torch_name_of

from .importer import Importer, ObjMismatchError, ObjNotFoundError, sys_importer


class PackagePickler(TorchPickler):
    """Asks an importer for the name of every object that a pickle refers to, and keeps the names."""

    dispatch: ClassVar[dict[type, Any]] = dict(TorchPickler.dispatch)

    def __init__(self, importer: Importer, file: BinaryIO, *, protocol: int) -> None:
        super().__init__(file, protocol=protocol)
        self.importer = importer
        self.references: dict[tuple[str, str], None] = {}

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """Write a reference to an object."""
        module_name, name = self._place(obj, name)
        self.references[(module_name, name)] = None
        parent, _, last = name.rpartition(".")
        if self.proto < 4 and parent and torch_name_of(obj, name) is None:
            found: Any = self.importer.import_module(module_name)
            for part in parent.split("."):
                found = getattr(found, part)
            self.save_reduce(getattr, (found, last))
        else:
            self.write_global(module_name, name)
        self.memoize(obj)

    def _place(self, obj: Any, name: str | None) -> tuple[str, str]:
        ours = torch_name_of(obj, name)
        if ours is not None:
            return ours
        try:
            return self.importer.get_name(obj, name)
        except (ObjNotFoundError, ObjMismatchError) as error:
            if self.importer is sys_importer and "<locals>" in getattr(obj, "__qualname__", ""):
                raise AttributeError(f"Can't pickle local object {obj.__qualname__!r}") from None
            raise pickle.PicklingError(f"Can't pickle {obj}: {error}") from error

    dispatch[FunctionType] = save_global
    dispatch[BuiltinFunctionType] = save_global


def create_pickler(data_buf: BinaryIO, importer: Importer, protocol: int = 4) -> PackagePickler:
    """Return a pickler; its `persistent_id` is the caller's to set."""
    return PackagePickler(importer, data_buf, protocol=protocol)
