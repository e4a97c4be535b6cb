"""The files of a package for `importlib.resources`."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from ._directory_reader import DirectoryReader


class _PackageResourceReader:
    """Reads the files of one module of a package, as `importlib.resources` asks for them."""

    def __init__(self, importer: Any, fullname: str) -> None:
        self.importer = importer
        self.fullname = fullname

    def open_resource(self, resource: str) -> BinaryIO:
        """Return a stream over a file."""
        return io.BytesIO(self.importer.load_binary(self.fullname, resource))

    def resource_path(self, resource: str) -> str:
        """Return the path of a file; FileNotFoundError where it has none, in an archive."""
        reader = self.importer.zip_reader
        path = self.importer._zipfile_path(self.fullname, resource)
        if isinstance(reader, DirectoryReader) and reader.has_record(path):
            return os.path.join(reader.directory, path)
        raise FileNotFoundError

    def is_resource(self, name: str) -> bool:
        """Return whether there is a file of that name."""
        return self.importer.zip_reader.has_record(self.importer._zipfile_path(self.fullname, name))

    def contents(self) -> Iterator[str]:
        """The names of all files and folders."""
        folder = PurePosixPath(self.importer._zipfile_path(self.fullname))
        names: dict[str, None] = {}
        for record in map(PurePosixPath, self.importer.zip_reader.get_all_records()):
            if record.is_relative_to(folder):
                inside = record.relative_to(folder)
                names[inside.name if len(inside.parts) == 1 else inside.parent.name] = None
        return iter(names)
