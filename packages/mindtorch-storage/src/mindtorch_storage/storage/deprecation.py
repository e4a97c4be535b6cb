"""The warning that typed storages are on their way out."""

from __future__ import annotations

import warnings

_state = {"warned": False, "always": False}


def warn_deprecated(stacklevel: int = 2) -> None:
    """Say once per process that typed storages are on their way out, as torch does; always where that is asked for."""
    if _state["always"] or not _state["warned"]:
        _state["warned"] = True
        warnings.warn(
            "TypedStorage is deprecated. It will be removed in the future and UntypedStorage will be the only storage "
            "class. This should only matter to you if you are using storages directly.  To access UntypedStorage "
            "directly, use tensor.untyped_storage() instead of tensor.storage()",
            UserWarning,
            stacklevel=stacklevel + 1,
        )


def forget_warning() -> None:
    """Let `warn_deprecated` warn once more."""
    _state["warned"] = False


def always_warns() -> bool:
    """Return whether `warn_deprecated` warns at every call."""
    return _state["always"]


def set_always_warns(always: bool) -> None:
    """Let `warn_deprecated` warn at every call, or once."""
    _state["always"] = bool(always)
