"""`torch._C._nn`: the ops behind `torch.nn.functional`, and the argument parser of `Module.to`."""

from typing import Any

from mindtorch._naming import missing_attribute
from mindtorch._overridable import as_given, make_overridable
from mindtorch.functions.bound import bind_nn_functions
from mindtorch.tensor.absent_ops import absent
from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.schema import parse_schema

_OPTIONS = "bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None) -> ()"

_TO = ArgumentParser(
    "to",
    [
        parse_schema("to.device(Device? device=None, ScalarType? dtype=None, " + _OPTIONS),
        parse_schema("to.dtype(ScalarType dtype, " + _OPTIONS),
        parse_schema("to.other(Tensor other, " + _OPTIONS),
    ],
)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Return device, dtype, non_blocking and memory_format; device and dtype are None where not given."""
    parsed = _TO.parse(args, kwargs)
    if parsed.index == 0:
        device, dtype, non_blocking, _, memory_format = parsed.values
        return device, dtype, non_blocking, memory_format
    target, non_blocking, _, memory_format = parsed.values
    if parsed.index == 1:
        return None, target, non_blocking, memory_format
    return target.device, target.dtype, non_blocking, memory_format


make_overridable(globals(), ("_parse_to",), as_given)
bind_nn_functions(globals())

_missing = missing_attribute(__name__)


def __getattr__(name: str) -> Any:
    found = absent(name, "_nn")
    return found if found is not None else _missing(name)
