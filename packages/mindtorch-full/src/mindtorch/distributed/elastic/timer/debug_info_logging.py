"""What is written down of workers that held a timer for too long."""

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["log_debug_info_for_expired_timers"]

logger = get_logger(__name__)


def log_debug_info_for_expired_timers(run_id: str, expired_timers: dict[int, list[str]]) -> None:
    """Log which workers of a run held which timers for too long."""
    if expired_timers:
        logger.info("Run %s: timers were held for too long: %s", run_id, expired_timers)


adopt(globals())
