"""`torch.testing._utils`: calls that leave the random stream as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch.random import get_rng_state, manual_seed, set_rng_state
from mindtorch.utils._mode_utils import no_dispatch

__all__ = ["freeze_rng_state", "wrapper_set_seed"]

_SEED = 42


@contextmanager
def freeze_rng_state() -> Iterator[None]:
    """Context manager: the random stream goes on after it as if nothing had been drawn inside."""
    with no_dispatch():
        before = get_rng_state()
    try:
        yield
    finally:
        with no_dispatch():
            set_rng_state(before)


def wrapper_set_seed(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what ``op`` draws from a fixed seed."""
    with freeze_rng_state():
        manual_seed(_SEED)
        return op(*args, **kwargs)


adopt(globals())
