"""`torch.jit.fork` and `wait`, which outside of compiled code run at once."""

from collections.abc import Callable
from typing import Any

from mindtorch.futures import Future


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """Return a future with what `func` gives, which runs before this returns; an error is raised here.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.jit.wait(torch.jit.fork(torch.add, torch.ones(1), torch.ones(1)))
    tensor([2.])
    """
    found: Future[Any] = Future()
    found.set_result(func(*args, **kwargs))
    return found


def wait(future: Any) -> Any:
    """Return the value of a future.

    Raises:
        TypeError: something else.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.jit.wait(torch.jit.fork(torch.neg, torch.ones(1)))
    tensor([-1.])
    """
    if future is None:
        raise RuntimeError("Future can't be None")
    if not isinstance(future, Future):
        raise TypeError(
            "wait(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (arg0: torch._C.Future) -> object\n\nInvoked with: {future!r}"
        )
    return future.wait()
