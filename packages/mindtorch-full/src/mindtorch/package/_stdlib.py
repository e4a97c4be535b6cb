"""Which modules are Python's own."""

import sys


def is_stdlib_module(module: str) -> bool:
    """Whether the package that a module is in belongs to Python's standard library."""
    return module.partition(".")[0] in sys.stdlib_module_names
