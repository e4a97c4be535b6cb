"""The logger of collectives: nobody hears it unless a handler is put in place."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.logging_handlers import _log_handlers

__all__: list[str] = []

_DEFAULT_DESTINATION = "default"


def _get_logging_handler(destination: str = _DEFAULT_DESTINATION) -> tuple[logging.Handler, str]:
    """Return the handler of a destination, and its name."""
    handler = _log_handlers[destination]
    return handler, f"{type(handler).__name__}-{destination}"


def _get_or_create_logger(destination: str = _DEFAULT_DESTINATION) -> logging.Logger:
    """Return the logger of a destination."""
    handler, name = _get_logging_handler(destination)
    logger = logging.getLogger(f"c10d-{name}")
    logger.setLevel(logging.DEBUG)
    handler.setFormatter(
        logging.Formatter(
            "%(asctime)s %(filename)s:%(lineno)s %(levelname)s p:%(processName)s t:%(threadName)s: %(message)s"
        )
    )
    logger.propagate = False
    logger.addHandler(handler)
    return logger


_c10d_logger = _get_or_create_logger()


def _get_msg_dict(func_name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Say which process of which group calls what."""
    if not dist.is_initialized():
        return {"func_name": f"{func_name}"}
    group = kwargs.get("group") or kwargs.get("process_group")
    return {
        "func_name": f"{func_name}",
        "pg_name": f"{dist.distributed_c10d._get_process_group_name(kwargs.get('pg'))}",
        "backend": f"{dist.get_backend(group)}",
        "world_size": f"{dist.get_world_size()}",
        "group_size": f"{dist.get_world_size(group)}",
        "global_rank": f"{dist.get_rank()}",
        "local_rank": f"{dist.get_rank(group)}",
    }


def _exception_logger(func: Callable[..., Any]) -> Callable[..., Any]:
    """Tell what a function raises."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return func(*args, **kwargs)
        except Exception as error:
            _c10d_logger.debug({**_get_msg_dict(func.__name__, *args, **kwargs), "error": f"{error}"})
            raise

    return wrapper


def _time_logger(func: Callable[..., Any]) -> Callable[..., Any]:
    """Count a function's time: nobody asks for it here."""

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapper


adopt(globals())
