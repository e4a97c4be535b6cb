"""`torch._logging._internal`: the loggers by name."""

from __future__ import annotations

import logging

from mindtorch import _logging
from mindtorch._naming import adopt

__all__ = ["getArtifactLogger", "get_artifact_names", "get_log_names", "trace_log"]

trace_log = logging.getLogger("torch.__trace")


def get_log_names() -> list[str]:
    """Return the names of the loggers that take a level."""
    return sorted(_logging._LOGS)


def get_artifact_names() -> list[str]:
    """Return the names of the outputs that are on or off."""
    return sorted(_logging._ARTIFACTS)


def getArtifactLogger(module_qname: str, artifact_name: str) -> logging.Logger:
    """Return the logger of an output of a module. Raises ValueError for an output that is not known."""
    if artifact_name not in _logging._ARTIFACTS:
        raise ValueError(
            f"Artifact name: {artifact_name} not registered, please call register_artifact({artifact_name})"
        )
    return logging.getLogger(f"{module_qname}.__{artifact_name}")


adopt(globals())
