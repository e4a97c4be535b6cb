"""Reads pickles of a package: names are those that an importer knows."""

from __future__ import annotations

import _compat_pickle
import pickle
from typing import Any, BinaryIO

from mindtorch.serialization._names import is_torch_name, resolve

from .importer import Importer


class PackageUnpickler(pickle._Unpickler):  # type: ignore[name-defined,misc]
    """Finds names through an importer."""

    def __init__(self, importer: Importer, file: BinaryIO, **kwargs: Any) -> None:
        super().__init__(file, **kwargs)
        self._importer = importer

    def find_class(self, module: str, name: str) -> Any:
        """Return the object of that name; modules of Python 2 have their new names."""
        if self.proto < 3 and self.fix_imports:
            module = _compat_pickle.IMPORT_MAPPING.get(module, module)
            module, name = _compat_pickle.NAME_MAPPING.get((module, name), (module, name))
        found: Any = self._importer.import_module(module)
        if is_torch_name(module):
            return resolve(module, name)
        for part in name.split("."):
            found = getattr(found, part)
        return found
