"""Compiled modules of members: taken where they are built and fit, by one switch.

`MINDTORCH_NATIVE=0` ignores them, `1` demands them, unset takes those that are there. They change speed and nothing else.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

from .lazy_import import load


def load_native(name: str, member: str, built_from: tuple[str, str], without: str, hint: str = "") -> Any:
    """Return the module `name` of the distribution `member`, None where it is absent or not wanted.

    `built_from` is an attribute that says what the module was built from, and what that must be. `without` says what happens
    without the module, `hint` what to do about a library that it lacks.

    Raises ValueError for a value that the variable cannot have, ImportError where it is 1 and no module loads.
    """
    wanted = os.environ.get("MINDTORCH_NATIVE", "")
    if wanted not in ("", "0", "1"):
        raise ValueError(f"MINDTORCH_NATIVE is 0, 1 or unset, not {wanted!r}")
    if wanted == "0":
        return None
    try:
        module = load(name)
    except ModuleNotFoundError:
        if wanted == "1":
            raise ImportError(f"MINDTORCH_NATIVE=1, but {member} was installed without its native module") from None
        return None
    except ImportError as error:  # it is there, but a library of the system's that it needs is not
        if wanted == "1":
            raise
        text = f"{member}'s native module cannot be loaded ({error}); {without}"
        warnings.warn(f"{text}. {hint}" if hint else text, RuntimeWarning, stacklevel=3)
        return None
    attribute, value = built_from
    if getattr(module, attribute, None) == value:
        return module
    text = f"the native module of {member} was built from another version of its source: build it anew"
    if wanted == "1":
        raise ImportError(text)
    warnings.warn(f"{text}; {without}", RuntimeWarning, stacklevel=3)
    return None
