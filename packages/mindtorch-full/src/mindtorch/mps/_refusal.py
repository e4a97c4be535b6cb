"""The error of everything that needs MPS."""

from typing import NoReturn


def refuse(hook: str) -> NoReturn:
    """Raise that ``hook``, torch's name for the missing function, has no backend."""
    raise RuntimeError(f"Cannot execute {hook}() without MPS backend.")
