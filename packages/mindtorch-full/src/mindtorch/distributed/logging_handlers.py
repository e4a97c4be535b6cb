"""Who hears what collectives tell, by the name of the destination."""

import logging
from collections import defaultdict

__all__: list[str] = []

_log_handlers: dict[str, logging.Handler] = defaultdict(logging.NullHandler, {"default": logging.NullHandler()})
