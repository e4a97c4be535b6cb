"""The arguments of ``Module.to``, bound by torch's rules and refused in torch's words."""

from typing import Any

from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.schema import parse_schema

_OPTIONS = "bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None) -> ()"

_PARSER = ArgumentParser(
    "to",
    [
        parse_schema("to.device(Device? device=None, ScalarType? dtype=None, " + _OPTIONS),
        parse_schema("to.dtype(ScalarType dtype, " + _OPTIONS),
        parse_schema("to.other(Tensor tensor, " + _OPTIONS),
    ],
)


def parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Return device, dtype, non_blocking and memory_format; device and dtype are None where not given."""
    parsed = _PARSER.parse(args, kwargs)
    if parsed.index == 0:
        device, dtype, non_blocking, _, memory_format = parsed.values
        return device, dtype, non_blocking, memory_format
    target, non_blocking, _, memory_format = parsed.values
    if parsed.index == 1:
        return None, target, non_blocking, memory_format
    return target.device, target.dtype, non_blocking, memory_format
