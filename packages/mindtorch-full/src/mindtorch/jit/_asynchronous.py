"""`torch.jit.fork` and `wait`, which outside of compiled code run at once."""

from collections.abc import Callable
from typing import Any

from mindtorch.futures import Future


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Return a future with what `func` gives, which runs before this returns; an error is raised here."""
    found: Future[Any] = Future()
    found.set_result(func(*args, **kwargs))
    return found


def wait(future: Any) -> Any:
    """Return the value of a future.

    Raises:
        TypeError: something else.
    """
    if not isinstance(future, Future):
        raise TypeError(
            "wait(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}"
        )
    return future.wait()
