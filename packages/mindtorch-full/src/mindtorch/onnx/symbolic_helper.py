"""The decorator under which libraries write translations for the exporter."""

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt

__all__ = ["parse_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that notes how the exporter is to pass each argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        function._arg_descriptors = arg_descriptors  # type: ignore[attr-defined]
        return function

    return decorate


adopt(globals())
