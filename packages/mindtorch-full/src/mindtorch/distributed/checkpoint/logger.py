"""The logger of checkpoints: nobody hears it unless a handler is put in place."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from mindtorch._naming import adopt
from mindtorch.distributed import c10d_logger
from mindtorch.distributed.checkpoint.logging_handlers import DCP_LOGGER_NAME

__all__: list[str] = []

logger = logging.getLogger("torch.distributed.checkpoint.logger")

_dcp_logger = c10d_logger._get_or_create_logger(DCP_LOGGER_NAME)


def _msg_dict_from_dcp_method_args(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """Say which checkpoint a call is about."""
    writer, reader = kwargs.get("storage_writer"), kwargs.get("storage_reader")
    identity = getattr(writer, "checkpoint_id", getattr(reader, "checkpoint_id", kwargs.get("checkpoint_id")))
    planner = kwargs.get("save_planner", kwargs.get("planner"))
    uuid = getattr(planner, "_logging_uuid", None) or str(uuid4().int)
    return {"checkpoint_id": str(identity) if identity else identity, "uuid": uuid}


def _get_msg_dict(func_name: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    """Say so, and which process calls what."""
    return {**_msg_dict_from_dcp_method_args(*args, **kwargs), **c10d_logger._get_msg_dict(func_name, **kwargs)}


def _dcp_method_logger(log_exceptions: bool = False, **wrapper_kwargs: Any) -> Callable[[Callable[..., Any]], Any]:
    """Tell when a function begins, ends, and how long it took."""

    def decorator(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            told = _get_msg_dict(func.__name__, *args, **{**wrapper_kwargs, **kwargs})
            _dcp_logger.debug({**told, "event": "start", "time": time.time_ns(), "log_exceptions": log_exceptions})
            start = time.time_ns()
            try:
                result = func(*args, **kwargs)
            except BaseException as error:
                if log_exceptions:
                    _dcp_logger.error({**told, "event": "exception", "error": f"{error}", "time": time.time_ns()})
                raise
            now = time.time_ns()
            _dcp_logger.debug({**told, "event": "end", "time": now, "times_spent": now - start})
            return result

        return wrapper

    return decorator


def _init_logger(rank: int) -> None:
    """Let the process' log say which rank it is of."""
    logging.basicConfig(level=logging.INFO, format=f"[%(asctime)s] [%(levelname)s] [rank{rank}] %(message)s")


adopt(globals())
