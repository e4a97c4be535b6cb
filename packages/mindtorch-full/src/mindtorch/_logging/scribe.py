"""`torch._logging.scribe`: events for a log that only one company has; nothing is sent anywhere."""

from typing import Any

from mindtorch._naming import adopt

__all__ = ["open_source_signpost"]


def open_source_signpost(**event: Any) -> None:
    """Take note of an event; without that log, nowhere."""


adopt(globals())
