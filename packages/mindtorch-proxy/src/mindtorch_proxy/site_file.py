"""The opt-in `.pth` file: with it, every interpreter of the environment starts with the proxy."""

import sysconfig
from pathlib import Path

# `site` reads these files in the order of their names; last, so that every directory that may hold a real torch, or
# the proxy itself, is on the path by then.
NAME = "zzz_mindtorch_proxy.pth"

# One line, because `site` executes lines; without effect when the proxy has been removed from the environment.
LINE = (
    "import importlib, importlib.util; "
    "importlib.util.find_spec('mindtorch_proxy') and importlib.import_module('mindtorch_proxy.startup')\n"
)


def site_file(directory: Path | None = None) -> Path:
    """Return the path of the `.pth` file in ``directory``, by default the running environment's `site-packages`."""
    return (directory or Path(sysconfig.get_path("purelib"))) / NAME


def enable(directory: Path | None = None) -> Path:
    """Write the `.pth` file and return its path.

    Raises:
        OSError: the directory cannot be written to.
    """
    path = site_file(directory)
    path.write_text(LINE, encoding="utf-8")
    return path


def disable(directory: Path | None = None) -> Path | None:
    """Remove the `.pth` file and return its path, None when there was none.

    Raises:
        OSError: the file cannot be removed.
    """
    path = site_file(directory)
    if not path.exists():
        return None
    path.unlink()
    return path
