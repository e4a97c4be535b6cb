"""Finds pyACL, the vendor's module `acl`, or says precisely why there is none.

`acl` is part of the CANN toolkit, not of any package index: it lies in `<CANN root>/python/site-packages`, which the
toolkit's `set_env.sh` puts on PYTHONPATH together with the libraries it needs.
"""

import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from mindtorch_npu.acl.missing import guard

ROOT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
SIMULATOR = "MINDTORCH_NPU_SIMULATOR"
INSTALL_FOLDER = Path("/usr/local/Ascend")

NOT_INSTALLED = "not installed"  # no CANN toolkit on this host
NOT_SOURCED = "environment not sourced"  # CANN is there, its set_env.sh has not been run
DRIVER = "driver missing"  # the driver's libraries are not found
PERMISSION = "permission"  # a file may not be read
VERSION = "version"  # CANN, driver, Python or the C library do not fit each other
INCOMPLETE = "incomplete"  # the module does not load for another reason, or lacks its parts
FOREIGN = "another module"  # a module called `acl` that is not the vendor's


@dataclass(frozen=True)
class Absence:
    """Why pyACL cannot be used: the kind, one of the constants above, and a text that says what to do."""

    kind: str
    text: str


class AclNotFoundError(ImportError):
    """pyACL cannot be used; the text says what is missing and what to do, ``kind`` the kind of reason."""

    def __init__(self, absence: Absence) -> None:
        super().__init__(absence.text, name="acl")
        self.kind = absence.kind

    def __reduce__(self) -> tuple[type["AclNotFoundError"], tuple[Absence]]:
        return type(self), (Absence(self.kind, str(self)),)


def cann_roots(environment: Mapping[str, str] = os.environ, folder: Path = INSTALL_FOLDER) -> Iterator[Path]:
    """Yield the CANN installations, those of the environment first, then the newest first. The first is the active one."""
    seen = set()
    named = [Path(environment[v]) for v in ROOT_VARIABLES if environment.get(v)]
    newest = sorted(folder.glob("cann-*"), key=lambda root: version_key(root.name), reverse=True)
    for root in [*named, *newest, folder / "ascend-toolkit" / "latest"]:
        real = root.resolve()
        if real.is_dir() and real not in seen:
            seen.add(real)
            yield root


def version_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return what a version sorts by: numbers as numbers, and a release after its candidates (8.10 > 8.5 > 8.5.RC1)."""
    parts = re.findall(r"\d+|[A-Za-z]+", text.removeprefix("cann-"))
    # A number stands above a word and above the end, a word such as RC, alpha or beta below the end.
    return (*((1, int(part), "") if part.isdecimal() else (-1, 0, part.upper()) for part in parts), (0, 0, ""))


def absence(environment: Mapping[str, str] = os.environ, folder: Path = INSTALL_FOLDER) -> Absence | None:
    """Return why pyACL cannot be imported, None when it is on the path. Imports and initialises nothing."""
    if simulated() or "acl" in sys.modules or importlib.util.find_spec("acl") is not None:
        return None
    root = next(cann_roots(environment, folder), None)
    if root is None:
        looked = f"looked at {', '.join(ROOT_VARIABLES)} and {folder}"
        return Absence(NOT_INSTALLED, f"the CANN toolkit is not installed ({looked})")
    packages = root / "python" / "site-packages"
    if packages.is_dir() and not os.access(packages, os.R_OK | os.X_OK):
        return Absence(PERMISSION, f"CANN is at {root} but this user may not read {packages}")
    return Absence(
        NOT_SOURCED,
        f"CANN is at {root} but its Python module `acl` is not on the path; run `source {root}/set_env.sh`",
    )


def why_not(environment: Mapping[str, str] = os.environ, folder: Path = INSTALL_FOLDER) -> str | None:
    """Return the text of :func:`absence`."""
    found = absence(environment, folder)
    return found.text if found is not None else None


_absences: dict[tuple[object, ...], Absence] = {}


def _absence_here() -> Absence | None:
    """Return the absence for this process, looked up once for a path and environment: programs ask at every `fork_rng`."""
    if "acl" in sys.modules:
        return None
    place = (*sys.path, INSTALL_FOLDER, *map(os.environ.get, ROOT_VARIABLES))
    known = _absences.get(place)
    if known is None:
        known = absence()
        if known is not None:
            _absences.clear()
            _absences[place] = known
    return known


def load() -> ModuleType:
    """Return pyACL, or the simulated one where the environment asks for that.

    Raises AclNotFoundError where it is missing, incomplete, or its libraries do not load.
    """
    if simulated():
        return guard(simulator().load())
    found = _absence_here()
    if found is not None:
        raise AclNotFoundError(found)
    try:
        module = importlib.import_module("acl")
    except (ImportError, OSError) as error:
        raise AclNotFoundError(classify_import_error(str(error))) from error
    # Attributes, not submodules: the vendor makes `acl.rt` in C, and `import acl.rt` is not guaranteed to work.
    if not (hasattr(module, "rt") and hasattr(module, "init")):
        where = getattr(module, "__file__", None) or "an unknown place"
        raise AclNotFoundError(Absence(FOREIGN, f"the module `acl` at {where} is not Ascend's: it has no `rt`"))
    return guard(module)


def simulated() -> bool:
    """Return whether the environment asks for the simulator in place of the vendor's libraries."""
    return bool(os.environ.get(SIMULATOR))


def simulator() -> Any:
    """Return the simulator's package."""
    return importlib.import_module("mindtorch_npu.simulator")  # which a host with devices never loads


def classify_import_error(text: str) -> Absence:
    """Return what an error of importing `acl` means, from the loader's or Python's words."""
    missing = re.search(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file(.*)", text)
    if missing is not None:
        library, tail = missing.groups()
        if "Permission denied" in tail:
            return Absence(PERMISSION, f"pyACL needs {library}, which this user may not read: {text}")
        # Libraries of the driver, not of the toolkit.
        if re.match(r"lib(ascend_hal|drv\w*|devdrv\w*|c_sec|mmpa)\.so", library):
            return Absence(
                DRIVER,
                f"pyACL needs {library} of the Ascend driver: install the driver, map it into the container, or add "
                f"its lib64/driver and lib64/common folders to LD_LIBRARY_PATH ({text})",
            )
        return Absence(
            NOT_SOURCED,
            f"pyACL needs {library} of CANN, which is not on LD_LIBRARY_PATH; run CANN's set_env.sh ({text})",
        )
    if "Permission denied" in text or "Operation not permitted" in text:
        return Absence(PERMISSION, f"pyACL may not be read: {text}")
    if "undefined symbol" in text and re.search(r"undefined symbol: _?Py", text):
        return Absence(VERSION, f"this pyACL was built for another version of Python: {text}")
    if "undefined symbol" in text:
        return Absence(VERSION, f"the versions of CANN and driver do not fit each other: {text}")
    if re.search(r"version `[\w.]+' not found", text):
        return Absence(VERSION, f"this system's C or C++ library is too old for CANN: {text}")
    return Absence(INCOMPLETE, f"pyACL is installed but does not load: {text}")
