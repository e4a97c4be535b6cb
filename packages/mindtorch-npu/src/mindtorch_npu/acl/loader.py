"""Finds pyACL, the vendor's module `acl`, or says why there is none.

`acl` is part of the CANN toolkit, not of any package index: it lies in `<CANN root>/python/site-packages`, which the
toolkit's `set_env.sh` puts on PYTHONPATH together with the libraries it needs.
"""

import importlib
import importlib.util
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

ROOT_VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME")
INSTALL_FOLDER = Path("/usr/local/Ascend")


class AclNotFoundError(ImportError):
    """pyACL cannot be used; the text says what is missing and what to do."""


def cann_roots(environment: Mapping[str, str] = os.environ, folder: Path = INSTALL_FOLDER) -> Iterator[Path]:
    """Yield the CANN installations, those of the environment first, then the newest layout first."""
    seen = set()
    named = [Path(environment[v]) for v in ROOT_VARIABLES if environment.get(v)]
    for root in [*named, *sorted(folder.glob("cann-*"), reverse=True), folder / "ascend-toolkit" / "latest"]:
        real = root.resolve()
        if real.is_dir() and real not in seen:
            seen.add(real)
            yield root


def why_not(environment: Mapping[str, str] = os.environ, folder: Path = INSTALL_FOLDER) -> str | None:
    """Return why pyACL cannot be imported, None when it is on the path. Imports and initialises nothing."""
    if importlib.util.find_spec("acl") is not None:
        return None
    root = next(cann_roots(environment, folder), None)
    if root is None:
        return f"the CANN toolkit is not installed (looked at {', '.join(ROOT_VARIABLES)} and {folder})"
    return f"CANN is at {root} but its Python module `acl` is not on the path; run `source {root}/set_env.sh`"


def load() -> ModuleType:
    """Import pyACL. Raises AclNotFoundError where it is missing, incomplete, or its libraries do not load."""
    reason = why_not()
    if reason is not None:
        raise AclNotFoundError(reason)
    try:
        module = importlib.import_module("acl")
    except ImportError as error:
        raise AclNotFoundError(f"pyACL is installed but does not load: {error}") from error
    if not (hasattr(module, "rt") and hasattr(module, "init")):
        raise AclNotFoundError(f"the module `acl` at {module.__file__} is not Ascend's: it has no `rt`")
    return module
