"""`torch.package.package_exporter`: writes archives of code and of the objects that it makes."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from mindtorch._naming import adopt
from mindtorch.serialization._locations import location_tag
from mindtorch.serialization._record_writer import PyTorchFileWriter
from mindtorch_storage.storage import LEGACY_CLASSES, TypedStorage, UntypedStorage, storage_class_name

from ._dependencies import Dependencies
from ._importlib import _normalize_path
from ._mangling import is_mangled
from ._package_pickler import create_pickler
from ._packaging import EmptyMatchError, PackagingError, PackagingErrorReason, _ModuleProviderAction
from .importer import Importer, OrderedImporter, sys_importer

__all__ = ["EmptyMatchError", "PackageExporter", "PackagingError", "PackagingErrorReason"]

_MOCK_IMPL = """\
from _mock import MockedObject
def __getattr__(attr: str):
    return MockedObject(__name__ + '.' + attr, _suppress_err=True)
"""


class PackageExporter(Dependencies):
    """Writes a package: an archive of modules, pickled objects, and files.

    Modules are put in as source. What they import is looked for in their source, and what is done with it is said by
    patterns: `intern`, `extern`, `mock` and `deny`. An importer of the package loads no module from outside it but those
    that were `extern`.

    Args:
        f: a path, or a binary stream.
        importer: where modules are found; of several, the first one that has a module is right.
        debug: errors show the paths that led to the modules they name.

    >>> import io
    >>> file = io.BytesIO()
    >>> with torch.package.PackageExporter(file) as exporter:
    ...     exporter.save_source_string("answers", "def answer(): return 42")
    >>> _ = file.seek(0)
    >>> torch.package.PackageImporter(file).import_module("answers").answer()
    42
    """

    def __init__(
        self,
        f: str | os.PathLike[str] | BinaryIO,
        importer: Importer | Sequence[Importer] = sys_importer,
        debug: bool = False,
    ) -> None:
        super().__init__()
        self.debug = debug
        path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
        self.buffer: BinaryIO | None = None if path is not None else f  # type: ignore[assignment]
        self.zip_file = PyTorchFileWriter(f if path is None else path)
        self.zip_file.set_min_version(6)
        if isinstance(importer, Importer):
            self.importer = importer
        elif isinstance(importer, Sequence):
            self.importer = OrderedImporter(*importer)
        else:
            raise TypeError(
                f"importer arg should be an Importer or a sequence of Importers, got {type(importer)} instead."
            )
        self._written_files: set[str] = set()
        self.serialized_reduces: dict[int, tuple[Any, ...]] = {}
        self._storages: dict[int, tuple[int, UntypedStorage]] = {}
        self._unique_id = 0

    def get_unique_id(self) -> str:
        """Return a number that this package was not given before."""
        self._unique_id += 1
        return str(self._unique_id - 1)

    # Modules

    def save_source_file(self, module_name: str, file_or_directory: str, dependencies: bool = True) -> None:
        """Put a file in as the source of a module, or all files of a folder as those of a package.

        Args:
            dependencies: what the source imports comes in as well.
        """
        path = Path(file_or_directory)
        if not path.is_dir():
            self.save_source_string(module_name, _text_of(path), path.name == "__init__.py", dependencies)
            return
        # All are known before anything is looked for, so that they are not taken from elsewhere.
        files = [(file, file.relative_to(path).with_suffix("").parts) for file in path.glob("**/*.py")]
        given = [
            (".".join([module_name, *(parts[:-1] if parts[-1] == "__init__" else parts)]), _text_of(file), parts[-1])
            for file, parts in files
        ]
        for name, source, last in given:
            self.save_source_string(name, source, last == "__init__", dependencies)

    def save_source_string(
        self, module_name: str, src: str, is_package: bool = False, dependencies: bool = True
    ) -> None:
        """Put a text in as the source of a module; that of a package is its `__init__`."""
        self.dependency_graph.add_node(
            module_name, source=src, is_package=is_package, provided=True, action=_ModuleProviderAction.INTERN
        )
        if dependencies:
            self._add_dependencies_of(module_name, src, is_package)

    def save_module(self, module_name: str, dependencies: bool = True) -> None:
        """Put a module in that the importer finds."""
        if not isinstance(module_name, str):
            raise TypeError("save_module() expects a string input, did you perhaps mean to pass `__name__`?")
        self._intern_module(module_name, dependencies)

    # Resources

    def save_pickle(
        self, package: str, resource: str, obj: Any, dependencies: bool = True, pickle_protocol: int = 3
    ) -> None:
        """Put an object in, pickled; its tensors share their storages with those of other objects in the package.

        Args:
            dependencies: the modules that the pickle names come in as well.
            pickle_protocol: 3 or 4.
        """
        if pickle_protocol not in (3, 4):
            raise AssertionError(f"torch.package only supports pickle protocols 3 and 4, got {pickle_protocol}")
        stream = io.BytesIO()
        pickler = create_pickler(stream, self.importer, protocol=pickle_protocol)
        pickler.persistent_id = self._persistent_id  # type: ignore[method-assign]
        pickler.dump(obj)
        name = f"<{package}.{resource}>"
        self.dependency_graph.add_node(name, action=_ModuleProviderAction.INTERN, provided=True, is_pickle=True)
        if dependencies:
            self._add_dependencies_of_pickle(name, package, resource, pickler.references)
        self._write(self._filename(package, resource), stream.getvalue())

    def _add_dependencies_of_pickle(
        self, node: str, package: str, resource: str, references: dict[tuple[str, str], None]
    ) -> None:
        fields: dict[str, list[str]] = {}
        for module_name, field in references:
            fields.setdefault(module_name, []).append(field)
        for module_name, used in fields.items():
            self.dependency_graph.add_edge(node, module_name)
            pattern = None if self._can_implicitly_extern(module_name) else self._pattern_of(module_name)
            if pattern is None or pattern.action is not _ModuleProviderAction.MOCK:
                self.add_dependency(module_name)
                continue
            self.dependency_graph.add_node(
                module_name,
                action=_ModuleProviderAction.MOCK,
                error=PackagingErrorReason.MOCKED_BUT_STILL_USED,
                error_context=f"Object(s) '{used}' from module `{module_name}` was mocked out during packaging but is "
                f"being used in resource - `{resource}` in package `{package}`. ",
                provided=True,
            )

    def save_text(self, package: str, resource: str, text: str) -> None:
        """Put a text in."""
        self.save_binary(package, resource, text.encode())

    def save_binary(self, package: str, resource: str, binary: bytes) -> None:
        """Put bytes in."""
        self._write(self._filename(package, resource), binary)

    def _filename(self, package: str, resource: str) -> str:
        return f"{package.replace('.', '/')}/{_normalize_path(resource)}"

    def _persistent_id(self, obj: Any) -> tuple[Any, ...] | None:
        """What a pickle holds in place of a storage, and of an object that says how it is packaged."""
        if isinstance(obj, (TypedStorage, UntypedStorage)):
            return self._stored(obj)
        if not hasattr(obj, "__reduce_package__"):
            return None
        known = self.serialized_reduces.get(id(obj))
        if known is None:
            known = self.serialized_reduces[id(obj)] = ("reduce_package", id(obj), *obj.__reduce_package__(self))
        return known

    def _stored(self, obj: TypedStorage | UntypedStorage) -> tuple[Any, ...]:
        if isinstance(obj, TypedStorage):
            storage, kind, count = obj.untyped(), LEGACY_CLASSES[storage_class_name(obj.dtype)], obj.size()
        else:
            storage, kind, count = obj, UntypedStorage, obj.nbytes()
        location = location_tag(storage)
        if id(storage) not in self._storages:
            # The storage is kept so that no other one takes its identity.
            number, _ = self._storages[id(storage)] = (len(self._storages), storage)
            self.zip_file.write_record(f".data/{number}.storage", storage.host_bytes().data, storage.nbytes())
        return "storage", kind, self._storages[id(storage)][0], location, count

    # The archive

    def __enter__(self) -> PackageExporter:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if exc_type is None:
            self.close()
        else:
            self._finalize_zip()  # so that what is left can be read

    def _write(self, filename: str, str_or_bytes: str | bytes) -> None:
        if filename in self._written_files:
            raise AssertionError(
                f"Tried to write file '{filename}', but it already exists in this archive. Please file a bug."
            )
        self._written_files.add(filename)
        if is_mangled(filename):
            raise AssertionError(
                f"Tried to save a torch.package'd module as '{filename}'. Directly saving torch.package'd modules is "
                "not allowed."
            )
        data = str_or_bytes.encode() if isinstance(str_or_bytes, str) else str_or_bytes
        self.zip_file.write_record(filename, data, len(data))

    def _write_source_string(self, module_name: str, src: str, is_package: bool = False) -> None:
        self._write(module_name.replace(".", "/") + ("/__init__.py" if is_package else ".py"), src)

    def _write_mock_file(self) -> None:
        if "_mock.py" not in self._written_files:
            self._write_source_string("_mock", _text_of(Path(__file__).with_name("_mock.py")))

    def _validate_dependency_graph(self) -> None:
        if any("error" in found for found in self.dependency_graph.nodes.values()):
            raise PackagingError(self.dependency_graph, debug=self.debug)
        for pattern, info in self.patterns.items():
            if not info.allow_empty and not info.was_matched:
                raise EmptyMatchError(
                    f"Exporter did not match any modules to {pattern}, which was marked as allow_empty=False"
                )

    def _execute_dependency_graph(self) -> None:
        """Write every module as its node says."""
        self._validate_dependency_graph()
        external = []
        for name, found in self.dependency_graph.nodes.items():
            action = found["action"]
            for hook in self._hooks_of(action):
                hook(self, name)
            if action is _ModuleProviderAction.EXTERN:
                external.append(name)
            elif action is _ModuleProviderAction.MOCK:
                self._write_mock_file()
                self._write_source_string(name, _MOCK_IMPL, hasattr(self._import_module(name), "__path__"))
            elif action is _ModuleProviderAction.REPACKAGED_MOCK_MODULE:
                self._write_mock_file()
            elif action is _ModuleProviderAction.INTERN and not found.get("is_pickle"):
                self._write_source_string(name, found["source"], found["is_package"])
        self._write(".data/extern_modules", "\n".join(external) + "\n")

    def _hooks_of(self, action: _ModuleProviderAction) -> list[Any]:
        hooks: dict[_ModuleProviderAction, dict[int, Any]] = {
            _ModuleProviderAction.EXTERN: self._extern_hooks,
            _ModuleProviderAction.MOCK: self._mock_hooks,
            _ModuleProviderAction.INTERN: self._intern_hooks,
        }
        return list(hooks.get(action, {}).values())

    def close(self) -> None:
        """Write the modules and complete the archive, as leaving a `with` block does."""
        self._execute_dependency_graph()
        self._write(".data/python_version", platform.python_version())
        self._finalize_zip()

    def _finalize_zip(self) -> None:
        self.zip_file.write_end_of_file()
        if self.buffer is not None:
            self.buffer.flush()


def _text_of(path: Path) -> str:
    return path.read_bytes().decode()


adopt(globals())
