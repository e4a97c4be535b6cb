"""Names of modules that come from a package: each importer puts a prefix of its own before them."""

from __future__ import annotations

import itertools
import re

_numbers = itertools.count()
_PREFIX = re.compile(r"<torch_package_\d+>")


class PackageMangler:
    """The prefix of one importer. Angle brackets are in no module's real name."""

    def __init__(self) -> None:
        self._mangle_parent = f"<torch_package_{next(_numbers)}>"

    def mangle(self, name: str) -> str:
        """Put the prefix before a name."""
        if not name:
            raise AssertionError("name must not be empty")
        return f"{self._mangle_parent}.{name}"

    def demangle(self, mangled: str) -> str:
        """Take this importer's prefix away; other names stay as they are."""
        return mangled.removeprefix(self._mangle_parent + ".")

    def parent_name(self) -> str:
        """The prefix."""
        return self._mangle_parent


def is_mangled(name: str) -> bool:
    """Whether a name has the prefix of some importer."""
    return _PREFIX.match(name) is not None


def demangle(name: str) -> str:
    """Take any importer's prefix away; of the prefix alone nothing is left."""
    return name.partition(".")[2] if is_mangled(name) else name


def get_mangle_prefix(name: str) -> str:
    """The prefix of a name that has one, the name itself otherwise."""
    return name.partition(".")[0] if is_mangled(name) else name
