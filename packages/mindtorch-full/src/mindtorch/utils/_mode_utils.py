"""Questions about several modes, and a block without any."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from mindtorch._C import _modes
from mindtorch._naming import adopt

__all__ = ["T", "all_same_mode", "no_dispatch"]

T = TypeVar("T")


def all_same_mode(modes: Sequence[Any]) -> bool:
    """Whether all modes are one; True for none at all."""
    return all(mode == modes[0] for mode in modes)


@contextlib.contextmanager
def no_dispatch() -> Iterator[None]:
    """Run the block without asking any ``__torch_dispatch__``."""
    with _modes._DisableTorchDispatch():
        yield


adopt(globals())
