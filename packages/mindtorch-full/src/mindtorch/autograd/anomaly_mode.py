"""`torch.autograd.anomaly_mode`: checks for nan in backward."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch_autograd import anomaly

from .._naming import adopt

__all__ = ["detect_anomaly", "set_detect_anomaly"]


def is_anomaly_enabled() -> bool:
    """Return whether anomaly detection is on.

    >>> torch.is_anomaly_enabled()
    False
    """
    return anomaly.settings()[0]


def is_anomaly_check_nan_enabled() -> bool:
    """Return whether gradients are checked for nan while anomaly detection is on.

    >>> torch.is_anomaly_check_nan_enabled()
    True
    """
    return anomaly.settings()[1]


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly detection on or off.

    >>> torch.set_anomaly_enabled(True)
    >>> torch.is_anomaly_enabled()
    True
    >>> torch.set_anomaly_enabled(False)
    """
    anomaly.set_settings(mode, check_nan)


class detect_anomaly:
    """In the block, backward raises when a node gives nan (with `check_nan`).

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> with torch.autograd.detect_anomaly():
    ...     torch.is_anomaly_enabled()
    True
    """

    def __init__(self, check_nan: bool = True) -> None:
        self._before = anomaly.settings()
        self._wanted = (True, check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        anomaly.set_settings(*self._wanted)

    def __exit__(self, *exc_info: Any) -> None:
        anomaly.set_settings(*self._before)


class set_detect_anomaly:
    """Switch anomaly detection at once; as a context manager, back at the end of the block.

    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = anomaly.settings()
        anomaly.set_settings(mode, check_nan)

    def __enter__(self) -> None:
        """The switch was made by the constructor."""

    def __exit__(self, *exc_info: Any) -> None:
        anomaly.set_settings(*self._before)


adopt(globals())
