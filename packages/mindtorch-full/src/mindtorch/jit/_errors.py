"""Errors of compiled code."""

import builtins
from typing import NoReturn


class Error(Exception):
    """An error raised by compiled code.

    >>> issubclass(torch.jit.Error, RuntimeError)
    False
    """


Error.__module__ = "torch.jit"


def raise_error(message: str, kind: str = "builtins.Exception") -> NoReturn:
    """Raise what `raise` in compiled code raises: Error, with the exception's own class in the last line of its text."""
    known = getattr(builtins, kind.rpartition(".")[2], None)
    named = kind if known is not None and kind != "builtins.Exception" else "RuntimeError"
    raise Error(f"The following operation failed in the TorchScript interpreter.\n{named}: {message}\n")
