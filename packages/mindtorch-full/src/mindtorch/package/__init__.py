"""`torch.package`: archives of code and of the objects that it makes."""

from mindtorch._naming import adopt

from .analyze.is_from_package import is_from_package
from .file_structure_representation import Directory
from .glob_group import GlobGroup
from .importer import Importer, ObjMismatchError, ObjNotFoundError, OrderedImporter, sys_importer
from .package_exporter import EmptyMatchError, PackageExporter, PackagingError
from .package_importer import PackageImporter

__all__ = [
    "Directory",
    "EmptyMatchError",
    "GlobGroup",
    "Importer",
    "ObjMismatchError",
    "ObjNotFoundError",
    "OrderedImporter",
    "PackageExporter",
    "PackageImporter",
    "PackagingError",
    "is_from_package",
    "sys_importer",
]

adopt(globals())
