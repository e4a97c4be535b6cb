"""Who hears of events, by the name of the destination."""

import logging

from mindtorch._naming import adopt

__all__ = ["get_logging_handler"]

_log_handlers: dict[str, logging.Handler] = {
    "console": logging.StreamHandler(),
    "dynamic_rendezvous": logging.NullHandler(),
    "null": logging.NullHandler(),
}


def get_logging_handler(destination: str = "null") -> logging.Handler:
    """Return the handler of a destination."""
    return _log_handlers[destination]


adopt(globals())
