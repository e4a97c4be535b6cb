"""The launcher's loggers."""

import logging
import os
import sys

from mindtorch._naming import adopt, torch_name

__all__ = ["get_log_level", "get_logger"]

_FORMAT = "%(levelname).1s%(asctime)s %(process)d %(name)s:%(lineno)d] %(message)s"


def get_log_level() -> str:
    """Return the level that the variable LOGLEVEL asks for."""
    return os.environ.get("LOGLEVEL", "WARNING")


def get_logger(name: str | None = None) -> logging.Logger:
    """Return the logger of a module, by default of that which calls, which writes warnings and errors to stderr."""
    caller = sys._getframe(1).f_globals["__name__"]
    logger = logging.getLogger(torch_name(name or caller))
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter(_FORMAT, "%m%d %H:%M:%S"))
        logger.addHandler(handler)
        logger.propagate = False
    logger.setLevel(get_log_level())
    return logger


adopt(globals())
