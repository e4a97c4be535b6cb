"""What a failed save or load raises."""

from __future__ import annotations

import traceback

from mindtorch._naming import adopt

__all__ = ["CheckpointException"]

WRAPPED_EXCEPTION = tuple[BaseException, traceback.StackSummary | None]


def _wrap_exception(exc: BaseException) -> WRAPPED_EXCEPTION:
    return exc, traceback.extract_tb(exc.__traceback__)


def _is_wrapped_exception(obj: object) -> bool:
    return isinstance(obj, tuple) and len(obj) == 2 and isinstance(obj[0], BaseException)


class CheckpointException(BaseException):
    """What went wrong, by rank."""

    def __init__(self, msg: str, failures: dict[int, WRAPPED_EXCEPTION]) -> None:
        super().__init__(msg, failures)
        self._failures = failures

    @property
    def failures(self) -> dict[int, WRAPPED_EXCEPTION]:
        """Each failed rank's exception and where it was raised."""
        return self._failures

    def __str__(self) -> str:
        lines = [f"CheckpointException ranks:{self._failures.keys()}\n"]
        for rank, (exc, trace) in self._failures.items():
            lines.append(f"Traceback (most recent call last): (RANK {rank})\n")
            if trace is not None:
                lines += traceback.format_list(trace)
            lines += traceback.format_exception_only(type(exc), value=exc)
        return "".join(lines)


adopt(globals())
