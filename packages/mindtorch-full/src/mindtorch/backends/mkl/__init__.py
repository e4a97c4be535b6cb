"""`torch.backends.mkl`: MKL is not part of this library, whatever numpy uses."""

from typing import Any, Literal

from mindtorch._naming import adopt

VERBOSE_OFF = 0
VERBOSE_ON = 1


def is_available() -> bool:
    """Return whether MKL is built in: False."""
    return False


class verbose:
    """Context manager that lets MKL report its calls; switching it on raises, there is nothing to report."""

    def __init__(self, enable: int) -> None:
        self.enable = enable

    def __enter__(self) -> Any:
        if self.enable == VERBOSE_OFF:
            return None
        raise RuntimeError("Failed to set MKL into verbose mode. Please consider to disable this verbose scope.")

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> Literal[False]:
        return False


adopt(globals())
