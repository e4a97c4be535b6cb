"""The environment variable `MINDTORCH`, and handing the proxy on to child processes.

`MINDTORCH=1` turns the proxy on, `0` off, `auto` on when no real torch can be imported. A plain Python process reads it
only after `python -m mindtorch_proxy enable-site`; `mindtorch run` and the pytest plugin always do.
"""

import os
from collections.abc import MutableMapping

from mindtorch_proxy.real_torch import find_real_torch
from mindtorch_proxy.switch import install

VARIABLE = "MINDTORCH"
MODES = ("1", "0", "auto")

CHILD_SITE = os.path.join(os.path.dirname(__file__), "child_site")
"""A directory whose `sitecustomize` starts the proxy in the Python processes a program starts."""


def mode_from_environment(default: str) -> str:
    """Return the value of `MINDTORCH`, ``default`` when it is unset or empty.

    Raises:
        ValueError: it is none of 1, 0, auto.
    """
    value = os.environ.get(VARIABLE) or default
    if value not in MODES:
        raise ValueError(f"{VARIABLE} must be 1, 0 or auto, got {value!r}")
    return value


def install_by_mode(mode: str) -> bool:
    """Install the proxy as ``mode`` ("1", "0" or "auto") says and return whether it was installed.

    Raises:
        ValueError: ``mode`` is none of these.
        RealTorchImportedError: the real torch is imported already.
    """
    if mode not in MODES:
        raise ValueError(f"mode must be '1', '0' or 'auto', got {mode!r}")
    if mode == "0" or (mode == "auto" and find_real_torch() is not None):
        return False
    install()
    return True


def hand_on(environment: MutableMapping[str, str]) -> None:
    """Make Python processes started with ``environment`` turn the proxy on as this one did.

    Worker processes that are spawned, not forked, unpickle classes of `torch` before any code of the program runs; so
    the proxy must be there when they start. A `sitecustomize` on PYTHONPATH is the only way in that needs no change of
    the installation; it passes on to the one it shadows.
    """
    environment[VARIABLE] = "1"
    entries = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != CHILD_SITE]
    environment["PYTHONPATH"] = os.pathsep.join([CHILD_SITE, *entries])
