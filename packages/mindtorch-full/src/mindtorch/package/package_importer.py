"""`torch.package.package_importer`: loads modules and objects from an archive."""

from __future__ import annotations

import builtins
import importlib.util
import inspect
import io
import linecache
import os
import sys
from collections.abc import Callable, Iterable
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from types import CodeType, ModuleType
from typing import Any, BinaryIO
from weakref import WeakValueDictionary

import mindtorch
from mindtorch._naming import adopt
from mindtorch.serialization._locations import restorer
from mindtorch.serialization._records import PyTorchFileReader
from mindtorch_storage.storage import TypedStorage, UntypedStorage

from ._directory_reader import DirectoryReader
from ._importlib import (
    _calc___package__,
    _normalize_line_endings,
    _normalize_path,
    _resolve_name,
    _sanity_check,
    import_external,
)
from ._mangling import PackageMangler, demangle
from ._module_tree import ExternNode, PackageNode, find_node, module_tree
from ._package_unpickler import PackageUnpickler
from ._resources import _PackageResourceReader
from .file_structure_representation import Directory, _create_directory_from_file_list
from .glob_group import GlobPattern
from .importer import Importer

__all__ = ["PackageImporter"]

IMPLICIT_IMPORT_ALLOWLIST: Iterable[str] = ["numpy", "numpy.core", "numpy.core._multiarray_umath", "builtins"]
"""Modules that need not be extern: what tensors and the code of graphs import by themselves."""

EXTERN_IMPORT_COMPAT_NAME_MAPPING: dict[str, dict[str, Any]] = {"numpy": {"str": str, "bool": bool}}
"""Names that modules had when packages were made, and have no more."""

_NEEDS_LOADING: Any = object()
_SELF = "torch_package_importer"
_package_imported_modules: WeakValueDictionary[str, ModuleType] = WeakValueDictionary()


class PackageImporter(Importer):
    """Imports modules from a package, without those of this process, and loads objects that they make.

    Two importers have modules of their own, though of one package.

    Args:
        file_or_buffer: a path, that of a folder with the unpacked package too, or a binary stream.
        module_allowed: says of a module that is imported from outside whether it may be; ImportError where not.

    >>> import io
    >>> kept = io.BytesIO()
    >>> with torch.package.PackageExporter(kept) as exporter:
    ...     exporter.save_pickle("model", "weights.pkl", {"w": torch.ones(2)})
    >>> _ = kept.seek(0)
    >>> torch.package.PackageImporter(kept).load_pickle("model", "weights.pkl")
    {'w': tensor([1., 1.])}
    """

    modules: dict[str, ModuleType]

    def __init__(
        self,
        file_or_buffer: str | PyTorchFileReader | os.PathLike[str] | BinaryIO,
        module_allowed: Callable[[str], bool] = lambda module_name: True,
    ) -> None:
        self.filename, self.zip_reader = _opened(file_or_buffer)
        externs = self.zip_reader.get_record(".data/extern_modules").decode()
        self.extern_modules = externs.splitlines(keepends=False)
        for name in self.extern_modules:
            if not module_allowed(name):
                raise ImportError(
                    f"package '{file_or_buffer}' needs the external module '{name}' but that module has been disallowed"
                )
        self.root = module_tree(self.zip_reader.get_all_records(), self.extern_modules)
        self.patched_builtins = {**vars(builtins), "__import__": self.__import__}
        self.modules = {_SELF: self}  # type: ignore[dict-item]
        self._mangler = PackageMangler()
        self.storage_context: Any = None
        self.last_map_location: Any = None
        self.Unpickler = lambda *args, **kwargs: PackageUnpickler(self, *args, **kwargs)

    def id(self) -> str:
        """Return the prefix of the names of this importer's modules, `<torch_package_0>` and so on."""
        return self._mangler.parent_name()

    def python_version(self) -> str | None:
        """Return the version of Python that the package was made with, None where it does not say."""
        name = ".data/python_version"
        return self.zip_reader.get_record(name).decode().strip() if self.zip_reader.has_record(name) else None

    def file_structure(self, *, include: GlobPattern = "**", exclude: GlobPattern = ()) -> Directory:
        """Return the files of the package as a tree, those whose paths match."""
        return _create_directory_from_file_list(self.filename, self.zip_reader.get_all_records(), include, exclude)

    # Resources

    def load_binary(self, package: str, resource: str) -> bytes:
        """Return the bytes of a file."""
        return self.zip_reader.get_record(self._zipfile_path(package, resource))

    def load_text(self, package: str, resource: str, encoding: str = "utf-8", errors: str = "strict") -> str:
        """Return the text of a file."""
        return self.load_binary(package, resource).decode(encoding, errors)

    def load_pickle(self, package: str, resource: str, map_location: Any = None) -> Any:
        """Return an object, with the modules of its class from this package.

        Args:
            map_location: as for `torch.load`.
        """
        data = self.zip_reader.get_record(self._zipfile_path(package, resource))
        unpickler = self.Unpickler(io.BytesIO(data))
        found = _PersistentObjects(self, map_location)
        unpickler.persistent_load = found  # type: ignore[method-assign,assignment]
        self.storage_context, self.last_map_location = found, map_location
        try:
            return unpickler.load()
        finally:
            self.storage_context = self.last_map_location = None

    def _zipfile_path(self, package: Any, resource: Any = None) -> str:
        module = self._get_package(package)
        if module.__loader__ is not self:
            raise AssertionError(f"package.__loader__ must be self, got {module.__loader__}")
        folder = demangle(module.__name__).replace(".", "/")
        return folder if resource is None else f"{folder}/{_normalize_path(resource)}"

    def _get_package(self, package: Any) -> Any:
        """Return a package, by name or as the module itself; TypeError for a module that is none."""
        given = hasattr(package, "__spec__")
        module = package if given else self.import_module(package)
        if module.__spec__.submodule_search_locations is None:
            raise TypeError(f"{package.__spec__.name if given else package!r} is not a package")
        return module

    # Modules

    def import_module(self, name: str, package: Any = None) -> ModuleType:
        """Return a module of the package, loaded once; it is in `modules` and not in `sys.modules`."""
        # The name may be that of a loaded object's module, which has this importer's prefix.
        return self._gcd_import(self._mangler.demangle(name))

    def _make_module(self, name: str, filename: str | None, is_package: bool, parent: str) -> ModuleType:
        spec = ModuleSpec(name, self, origin="<package_importer>", is_package=is_package)  # type: ignore[arg-type]
        module = importlib.util.module_from_spec(spec)
        shown = self._mangler.mangle(filename) if filename else None
        module.__name__ = self._mangler.mangle(name)
        vars(module).update(
            __spec__=spec,
            __loader__=self,
            __file__=shown,
            __cached__=None,
            __builtins__=self.patched_builtins,
            __torch_package__=True,
        )
        self.modules[name] = module
        _package_imported_modules[module.__name__] = module
        self._install_on_parent(parent, name, module)  # before it runs: it may import itself through its parent
        if filename is not None and shown is not None:
            linecache.lazycache(shown, vars(module))
            exec(self._compile_source(filename, shown), vars(module))
        return module

    def _load_module(self, name: str, parent: str) -> ModuleType:
        node = find_node(self.root, name)
        if isinstance(node, ExternNode) or (node is None and name in IMPLICIT_IMPORT_ALLOWLIST):
            module = self.modules[name] = import_external(name)
            for old, value in EXTERN_IMPORT_COMPAT_NAME_MAPPING.get(name, {}).items():
                vars(module).setdefault(old, value)
            return module
        if node is None:
            raise ModuleNotFoundError(
                f'No module named "{name}" in self-contained archive "{self.filename}" and the module is also not in '
                f"the list of allowed external modules: {self.extern_modules}",
                name=name,
            )
        return self._make_module(name, node.source_file, isinstance(node, PackageNode), parent)

    def _compile_source(self, fullpath: str, mangled_filename: str) -> CodeType:
        source = _normalize_line_endings(self.zip_reader.get_record(fullpath))
        return compile(source, mangled_filename, "exec", dont_inherit=True)

    def get_source(self, module_name: str) -> str:
        """Return the source of a module, as `linecache` asks its loader for it."""
        module = self.import_module(demangle(module_name))
        return self.zip_reader.get_record(demangle(str(module.__file__))).decode()

    def get_resource_reader(self, fullname: str) -> _PackageResourceReader | None:
        """Return what `importlib.resources` reads a module's files with."""
        try:
            package = self._get_package(fullname)
        except ImportError:
            return None
        return _PackageResourceReader(self, fullname) if package.__loader__ is self else None

    def _install_on_parent(self, parent: str, name: str, module: ModuleType) -> None:
        if parent and self.modules[parent].__loader__ is self:
            setattr(self.modules[parent], name.rpartition(".")[2], module)

    # What Python's import statement does, for the modules of this importer

    def _do_find_and_load(self, name: str) -> ModuleType:
        parent = name.rpartition(".")[0]
        if parent:
            if parent not in self.modules:
                self._gcd_import(parent)
            if name in self.modules:  # the parent imported it
                return self.modules[name]
            self._check_has_submodules(parent, name)
        module = self._load_module(name, parent)
        self._install_on_parent(parent, name, module)
        return module

    def _check_has_submodules(self, parent: str, name: str) -> None:
        module = self.modules[parent]
        if hasattr(module, "__path__"):
            return
        if not isinstance(module.__loader__, ExtensionFileLoader):
            raise ModuleNotFoundError(f"No module named {name!r}; {parent!r} is not a package", name=name)
        if name not in self.extern_modules:
            raise ModuleNotFoundError(
                f"No module named {name!r}; {name!r} is a c extension module which was not externed. C extension modules "
                "                            need to be externed by the PackageExporter in order to be used as we do not "
                "support interning them.}.",
                name=name,
            )
        if not isinstance(vars(module).get(name.rpartition(".")[2]), ModuleType):
            raise ModuleNotFoundError(
                f"No module named {name!r}; {parent!r} is a c extension package which does not contain {name!r}.",
                name=name,
            )

    def _find_and_load(self, name: str) -> ModuleType:
        module = self.modules.get(name, _NEEDS_LOADING)
        if module is _NEEDS_LOADING:
            return self._do_find_and_load(name)
        if module is None:
            raise ModuleNotFoundError(f"import of {name} halted; None in sys.modules", name=name)
        # Python puts modules below these that are no files.
        if name == "os":
            self.modules["os.path"] = module.path  # type: ignore[attr-defined]
        elif name == "typing" and sys.version_info < (3, 13):
            self.modules["typing.io"] = module.io  # type: ignore[attr-defined]
            self.modules["typing.re"] = module.re  # type: ignore[attr-defined]
        return module

    def _gcd_import(self, name: str, package: str | None = None, level: int = 0) -> ModuleType:
        _sanity_check(name, package, level)
        return self._find_and_load(_resolve_name(name, package, level) if level > 0 else name)

    def _handle_fromlist(self, module: Any, fromlist: Iterable[str], *, recursive: bool = False) -> Any:
        """Import those names of `from module import names` that are submodules."""
        if not hasattr(module, "__path__"):
            return module
        module_name = demangle(module.__name__)
        for one in fromlist:
            if not isinstance(one, str):
                where = f"{module_name}.__all__" if recursive else "``from list''"
                raise TypeError(f"Item in {where} must be str, not {type(one).__name__}")
            if one == "*":
                if not recursive and hasattr(module, "__all__"):
                    self._handle_fromlist(module, module.__all__, recursive=True)
            elif not hasattr(module, one):
                self._import_submodule(f"{module_name}.{one}")
        return module

    def _import_submodule(self, name: str) -> None:
        try:
            self._gcd_import(name)
        except ModuleNotFoundError as error:
            if error.name != name or self.modules.get(name, _NEEDS_LOADING) is None:
                raise  # another module is missing; where it is this one, the statement itself says so

    def __import__(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Iterable[str] = (), level: int = 0
    ) -> ModuleType:
        if level == 0:
            module = self._gcd_import(name)
        else:
            module = self._gcd_import(name, _calc___package__(globals or {}), level)
        if fromlist:
            return self._handle_fromlist(module, fromlist)
        if level == 0:
            return self._gcd_import(name.partition(".")[0])
        if not name:
            return module
        # What is bound is the first part of a relative name.
        own = demangle(module.__name__)
        return self.modules[own[: len(own) - len(name) + len(name.partition(".")[0])]]


class _PersistentObjects:
    """What a pickle of a package refers to: its storages, each read once, and objects that are made from the package."""

    def __init__(self, importer: PackageImporter, map_location: Any) -> None:
        self._importer = importer
        self._restore = restorer(map_location)
        self._storages: dict[Any, Any] = {}
        self._reduced: dict[Any, Any] = {}

    def __call__(self, saved_id: Any) -> Any:
        if not isinstance(saved_id, tuple):
            raise AssertionError(f"saved_id must be a tuple, got {type(saved_id).__name__}")
        kind, *data = saved_id
        kind = kind.decode("ascii") if isinstance(kind, bytes) else kind
        if kind == "storage":
            return self._storage(*data)
        if kind != "reduce_package":
            raise AssertionError(
                f"Unknown typename for persistent_load, expected 'storage' or 'reduce_package' but got '{kind}'"
            )
        *number, make, args = data
        if not number:  # packages of the first releases have none
            return make(self._importer, *args)
        if number[0] not in self._reduced:
            self._reduced[number[0]] = make(self._importer, *args)
        return self._reduced[number[0]]

    def _storage(self, kind: Any, key: Any, location: Any, size: int) -> TypedStorage:
        dtype = mindtorch.uint8 if kind is UntypedStorage else kind.dtype
        if key not in self._storages:
            tensor = self._importer.zip_reader.get_storage_from_record(f".data/{key}.storage", size, dtype)
            location = location.decode("ascii") if isinstance(location, bytes) else location
            self._storages[key] = self._restore(tensor.untyped_storage(), location)
        return TypedStorage._over(self._storages[key], dtype)


def _opened(file: Any) -> tuple[str, Any]:
    """Return the name of a package and the reader of its files."""
    if isinstance(file, PyTorchFileReader):
        return "<pytorch_file_reader>", file
    if not isinstance(file, (str, os.PathLike)):
        return "<binary>", PyTorchFileReader(file)
    path = os.fspath(file)
    return path, DirectoryReader(path) if os.path.isdir(path) else PyTorchFileReader(path)


_getfile = inspect.getfile


def _getfile_of_packages_too(object: Any) -> str:
    if inspect.isclass(object) and object.__module__ in _package_imported_modules:
        return str(_package_imported_modules[object.__module__].__file__)
    return _getfile(object)


# `inspect` looks for the modules of classes in `sys.modules` alone.
inspect.getfile = _getfile_of_packages_too

adopt(globals())
