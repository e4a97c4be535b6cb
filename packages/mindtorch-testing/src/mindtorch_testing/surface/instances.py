"""What programs read of instances without a call: attributes, texts, the state that is saved; beside torch."""

from __future__ import annotations

import importlib
import re
import types
import warnings
from typing import Any

from mindtorch_testing.surface import describe
from mindtorch_testing.surface.compare import Differences

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_CHANCE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}")
_STATE = ("state_dict", "extra_repr")
_FIELDS = (property, types.GetSetDescriptorType, types.MemberDescriptorType)
_NEEDED = """
ao.nn.intrinsic ao.nn.quantized ao.quantization distributed.checkpoint.state_dict distributed.fsdp
distributed.pipelining distributed.tensor.parallel export fx masked nn.attention.bias nn.attention.flex_attention
nn.utils.prune optim.swa_utils package profiler utils.benchmark utils.data.distributed utils.flop_counter utils.weak""".split()


def differences(expressions: list[str]) -> Differences:
    """Return in what the instances that expressions make differ, by `expression: aspect`."""
    theirs, ours = _namespace("torch"), _namespace("mindtorch")
    found: Differences = {}
    for expression in expressions:
        first, second = _made(expression, theirs), _made(expression, ours)
        for aspect, (text, mine) in _compare(first, second).items():
            found[f"{expression}: {aspect}"] = [text, mine]
    return found


def _namespace(library: str) -> dict[str, object]:
    """Return what expressions may name, all of one library."""
    torch = importlib.import_module(library)
    for one in _NEEDED:
        importlib.import_module(f"{library}.{one}")
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "optim": torch.optim}
    for module in (torch.distributions, torch.optim.lr_scheduler, torch.optim.swa_utils):
        names.update({name: getattr(module, name) for name in module.__all__})
    for name in ("constraints", "transforms", "constraint_registry"):
        names[name] = getattr(torch.distributions, name)
    names["parameters"] = lambda: [torch.nn.Parameter(torch.zeros(2, 3)), torch.nn.Parameter(torch.zeros(3))]
    names["optimizer"] = lambda: torch.optim.SGD(names["parameters"](), lr=0.1, momentum=0.9)
    return names


def _made(expression: str, names: dict[str, Any]) -> Any:
    names["torch"].manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(expression, names)
        except Exception as error:  # noqa: BLE001 - it is what is compared
            return _Raised(error)


class _Raised:
    """Stands for what could not be made or read."""

    def __init__(self, error: Exception) -> None:
        self.text = f"{type(error).__name__}: {_plain(str(error))}"

    def __repr__(self) -> str:
        return self.text


def _compare(theirs: object, ours: object) -> dict[str, tuple[str, str]]:
    found = {"text": (_plain(repr(theirs)), _plain(repr(ours))), "str": (_plain(str(theirs)), _plain(str(ours)))}
    found["type"] = (type(theirs).__name__, type(ours).__name__)
    fields = vars(theirs) if hasattr(theirs, "__dict__") else {}
    mine = vars(ours) if hasattr(ours, "__dict__") else {}
    if not isinstance(theirs, types.ModuleType | types.FunctionType | type | _Raised):
        names = {*fields, *(one for one in dir(type(theirs)) if isinstance(getattr(type(theirs), one, None), _FIELDS))}
        for name in sorted(names):
            if not name.startswith("_"):
                found[f"attribute {name}"] = (_read(theirs, name), _read(ours, name))
            elif name in fields and "has no attribute" in _read(ours, name):
                found[f"attribute {name}"] = ("there", "missing")
        found["more"] = ("", " ".join(sorted(one for one in mine if one[0] != "_" and one not in names)))
        for name in _STATE:
            if callable(getattr(theirs, name, None)):
                found[name] = (_called(theirs, name), _called(ours, name))
    return {aspect: pair for aspect, pair in found.items() if pair[0] != pair[1]}


def _read(value: object, name: str) -> str:
    try:
        return _value(getattr(value, name))
    except Exception as error:  # noqa: BLE001 - it is what is compared
        return repr(_Raised(error))


def _called(value: object, name: str) -> str:
    try:
        return _value(getattr(value, name)())
    except Exception as error:  # noqa: BLE001 - it is what is compared
        return repr(_Raised(error))


def _value(value: object) -> str:
    """Return the text of a value: of tensors what they are like, of objects their types."""
    shown = describe.constant(value)
    if shown is not None:
        return _plain(shown)
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_value(one)}' for key, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({', '.join(_value(one) for one in value)})"
    if type(value).__name__ in ("Tensor", "Parameter", "Buffer"):
        return f"{type(value).__name__} {value.dtype} {tuple(value.shape)}"
    return "<function>" if callable(value) else f"<{type(value).__name__}>"


def _plain(text: str) -> str:
    """Take out addresses, numbers by chance and what tells the libraries apart by name."""
    return _CHANCE.sub("...", _ADDRESS.sub("0x", text)).replace("mindtorch", "torch")
