"""`torch.sparse.check_sparse_tensor_invariants`: whether indices are looked at when sparse tensors are made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class _Switch:
    """The switch of the process."""

    checked = False
    chosen = False

    def set(self, checked: bool) -> None:
        """Say whether indices are looked at from now on."""
        self.checked, self.chosen = checked, True


invariants = _Switch()


class check_sparse_tensor_invariants:
    """Context manager and decorator that switches the check on or off; `enable` and `disable` do so from now on.

    >>> with torch.sparse.check_sparse_tensor_invariants():
    ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
    True
    """

    def __init__(self, enable: bool = True) -> None:
        self.state = enable
        self.saved_state: bool | None = None

    @staticmethod
    def is_enabled() -> bool:
        """Return whether indices are checked."""
        return invariants.checked

    @staticmethod
    def enable() -> None:
        """Check indices from now on."""
        invariants.set(True)

    @staticmethod
    def disable() -> None:
        """Check indices no more."""
        invariants.set(False)

    def __enter__(self) -> None:
        if self.saved_state is not None:
            raise RuntimeError(
                "This context manager instance is already activated. Use a different context manager instance for "
                "context nesting."
            )
        self.saved_state = invariants.checked
        invariants.set(self.state)

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        invariants.set(bool(self.saved_state))
        self.saved_state = None

    def __call__(self, mth: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(mth)
        def checked(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.state):
                return mth(*args, **kwargs)

        return checked
