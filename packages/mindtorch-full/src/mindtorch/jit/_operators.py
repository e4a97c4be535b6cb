"""Operators of TorchScript: those of ATen, and those on numbers, strings, lists and dictionaries.

In compiled code `torch.add` adds tensors, numbers, lists and strings alike: on plain values the functions here answer.
"""

import math
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch
from mindtorch._ops import OpOverloadPacket
from mindtorch.jit._overloads import Operator, to_dtype, to_memory_format
from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase

from . import _errors


def _format(text: str, *values: Any) -> str:
    parts = text.split("{}")
    if len(parts) > len(values) + 1:
        raise RuntimeError(f"Too few arguments for format string: {text}")
    filled = [piece for pair in zip(parts, map(str, values), strict=False) for piece in pair]
    return "".join([*filled, *parts[len(values) :]])


def _slice(values: Any, *bounds: Any) -> Any:
    return values[slice(*bounds)] if bounds else values[:]


def _set_item(values: Any, key: Any, value: Any) -> Any:
    values[key] = value
    return values


def _delete(values: Any, key: Any) -> None:
    del values[key]


def _changed(method: str) -> Callable[..., Any]:
    def change(values: Any, *args: Any) -> Any:
        result = getattr(values, method)(*args)
        return values if result is None else result

    return change


def _listed(method: str) -> Callable[..., Any]:
    return lambda values: list(getattr(values, method)())


def _sorted(values: list[Any], reverse: bool = False) -> list[Any]:
    return sorted(values, reverse=reverse)


def _sort(values: list[Any], reverse: bool = False) -> None:
    values.sort(reverse=reverse)


def _of_tensor(name: str) -> Callable[..., Any]:
    return lambda value, *args, **kwargs: getattr(value, name)(*args, **kwargs)


def _as_list(name: str) -> Callable[..., Any]:
    def ask(value: Any, *dim: int) -> Any:
        answer = getattr(value, name)(*dim)
        return answer if dim else list(answer)

    return ask


def _attribute(name: str) -> Callable[[Any], Any]:
    return lambda value: getattr(value, name)


def _to(value: Any, *args: Any, **kwargs: Any) -> Any:
    """`Tensor.to` with a device, an element type, both or another tensor; then whether to wait and to copy, and a memory
    format. Numbers stand for element types and formats, None for what stays."""
    given = dict(kwargs)
    rest = list(args)
    if rest and isinstance(rest[0], TensorBase):
        given["other"] = rest.pop(0)
    elif rest and type(rest[0]) is int:
        given["dtype"] = rest.pop(0)
    elif rest and type(rest[0]) is not bool:
        given["device"] = rest.pop(0)
        if rest and type(rest[0]) is not bool:
            given["dtype"] = rest.pop(0)
    given.update(zip(("non_blocking", "copy", "memory_format"), rest, strict=False))
    given["dtype"] = to_dtype(given.get("dtype"))
    given["memory_format"] = to_memory_format(given.get("memory_format"))
    return value.to(**{name: one for name, one in given.items() if one is not None})


def _tensor(data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Any:
    return mindtorch.tensor(data, dtype=to_dtype(dtype), device=device, requires_grad=requires_grad)


def _as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Any:
    return mindtorch.as_tensor(data, dtype=to_dtype(dtype), device=device)


def _warn(message: str, stacklevel: int = 2) -> None:
    warnings.warn(message, stacklevel=stacklevel + 1)


def _unwrap(value: Any) -> Any:
    if value is None:
        raise RuntimeError("Unwrapping null optional")
    return value


def _least(*values: Any) -> Any:
    return min(*values)


def _greatest(*values: Any) -> Any:
    return max(*values)


def _length(value: Any) -> int:
    return len(value)


def _derive_index(index: int, start: int, step: int) -> int:
    return start + index * step


def _range_length(start: int, stop: int, step: int) -> int:
    return len(range(start, stop, step))


def _power(base: Any, exponent: Any) -> Any:
    """Return a power as C has it: infinite or not a number where Python raises, and never by multiplying integers."""
    if isinstance(base, complex) or isinstance(exponent, complex):
        return base**exponent
    if base == 0 and exponent < 0:
        raise RuntimeError("0.0 cannot be raised to a negative power")
    with np.errstate(all="ignore"):
        return float(np.float64(base) ** np.float64(exponent))


def _as_int64(value: int) -> int:
    return (value + 2**63) % 2**64 - 2**63


def _factorial(number: int) -> int:
    if number < 0:
        raise RuntimeError("factorial() not defined for negative values")
    # 66! and all that follow are multiples of 2^64, where torch's answers are undefined.
    return _as_int64(math.factorial(min(number, 66)))


def _shift_left(value: int, places: int) -> int:
    return _as_int64(value << (places & 63))


_METHODS_OF_TEXT = (
    "capitalize casefold center endswith expandtabs find isalnum isalpha isdecimal isdigit isidentifier islower isnumeric "
    "isprintable isspace istitle isupper join ljust lower lstrip partition replace rfind rindex rjust rpartition rsplit "
    "rstrip split splitlines startswith strip swapcase title upper zfill"
).split()
_MATH = (
    "acos acosh asin asinh atan atan2 atanh copysign cos cosh degrees erf erfc exp expm1 fabs fmod frexp gamma gcd "
    "isfinite isinf isnan ldexp lgamma log log10 log1p log2 modf radians sin sinh sqrt tan tanh"
).split()
PLAIN: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in _MATH},
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge", "neg", "abs")},
    "div": operator.truediv, "floordiv": operator.floordiv, "remainder": operator.mod, "mathremainder": math.remainder,
    "floor": math.floor, "ceil": math.ceil, "round": lambda value: float(round(value)),
    "pow": _power, "factorial": _factorial, "bitwise_not": operator.invert,
    "__and__": operator.and_, "__or__": operator.or_, "__xor__": operator.xor, "__lshift__": _shift_left,
    "__rshift__": operator.rshift, "any": any, "all": all, "sum": sum, "max": _greatest, "min": _least,
    "slice": _slice, "len": _length, "index": lambda values, one: values.index(one),
    "sort": _sort, "clear": _changed("clear"), "copy": lambda values: values.copy(),
    "count": lambda values, one: values.count(one),
}  # fmt: skip
"""What answers where no operand is a tensor."""
ALWAYS: dict[str, Callable[..., Any]] = {
    **{name: _of_tensor(name) for name in _METHODS_OF_TEXT if name not in ("find",)},
    **{name: _of_tensor(name) for name in ("item", "dim", "numel", "is_contiguous", "storage_offset", "requires_grad_",
       "get_device", "is_floating_point", "is_complex", "backward", "cpu", "element_size", "is_signed",
       "cuda", "type_as")},
    **{name: _attribute(name) for name in ("mT", "mH", "is_leaf")},
    "size": _as_list("size"), "stride": _as_list("stride"), "sym_size": _as_list("size"), "numpy_T": _attribute("T"),
    "matrix_H": _attribute("H"), "find": lambda text, *args: text.find(*args),
    "__is__": operator.is_, "__isnot__": operator.is_not, "__not__": operator.not_,
    "__contains__": operator.contains, "__getitem__": operator.getitem, "_set_item": _set_item, "Delete": _delete,
    "append": _changed("append"), "extend": _changed("extend"), "insert": _changed("insert"), "reverse": _changed("reverse"),
    "remove": lambda values, one: values.remove(one), "pop": lambda values, *key: values.pop(*key),
    "keys": _listed("keys"), "values": _listed("values"), "items": _listed("items"), "popitem": lambda values: values.popitem(),
    "get": lambda values, *args: values.get(*args), "setdefault": lambda values, *args: values.setdefault(*args),
    "update": _changed("update"), "list": list, "dict": dict, "sorted": _sorted, "str": str, "ord": ord, "chr": chr,
    "hex": hex, "oct": oct, "bin": bin, "hash": hash, "format": _format, "percentFormat": lambda text, *values: text % values,
    "Int": int, "Float": float, "Bool": bool, "Complex": complex, "IntImplicit": int, "FloatImplicit": float,
    "ComplexImplicit": complex, "ScalarImplicit": lambda value: value.item(), "tensor": _tensor, "as_tensor": _as_tensor,
    "to": _to, "warn": _warn, "_unwrap_optional": _unwrap, "device": Device,
    "manual_seed": lambda seed=0: mindtorch.manual_seed(seed),
    "chalf": lambda value, memory_format=None: _to(value, 8, memory_format=memory_format),
    "is_autocast_enabled": mindtorch.is_autocast_enabled, "is_grad_enabled": mindtorch.is_grad_enabled,
    "set_grad_enabled": mindtorch._C._set_grad_enabled,
    "__derive_index": _derive_index, "__range_length": _range_length, "is_scripting": lambda: True,
    "__interpolate": mindtorch.nn.functional.interpolate, "__upsample": mindtorch.nn.functional.interpolate,
}  # fmt: skip
"""What answers for every value: no operator of ATen, or one that Python asks a tensor for."""
PRIMS: dict[str, Callable[..., Any]] = {
    **{name: _attribute(name) for name in ("device", "is_cuda", "is_cpu", "is_quantized", "is_sparse", "is_meta", "is_nested",
       "is_mps", "is_xpu", "is_mkldnn", "requires_grad", "grad", "data", "itemsize", "nbytes", "name", "type", "index", "H", "T",
       "mT", "mH")},
    "dtype": lambda value: value.dtype.index, "layout": lambda value: value.layout.index,
    "shape": lambda value: list(value.shape),
    "NumToTensor": lambda number: mindtorch.tensor(number), "RaiseException": _errors.raise_error, "Print": print,
    "min": _least, "max": _greatest, "abs": abs, "sum": sum, "rangelist": lambda count: list(range(count)),
    "unchecked_unwrap_optional": _unwrap, "tolist": lambda value, *_: value.tolist(), "id": id,
    "is_autocast_enabled": mindtorch.is_autocast_enabled,
}  # fmt: skip


_REFUSED = frozenset((("aten", "from_file"), ("aten", "save")))
"""Operators that reach files: code of an archive computes."""


def _choose(name: str, plain: Callable[..., Any], packet: Any) -> Callable[..., Any]:
    on_tensors = Operator(name, packet)

    def call(*args: Any, **kwargs: Any) -> Any:
        for value in args:
            one = value[0] if type(value) is list and value else value
            if isinstance(one, TensorBase) and (
                value is one or name not in ("len", "slice", "index", "copy", "clear", "count", "add")
            ):
                return on_tensors(*args, **kwargs)
        return plain(*args, **kwargs)

    return call


def find_operator(name: str) -> Callable[..., Any]:
    """Return what `torch.add`, `ops.prim.device` or `ops.torchvision.nms` calls. Raises NotImplementedError for an operator
    that MindTorch does not have."""
    namespace, _, rest = name.removeprefix("ops.").partition(".")
    if namespace in ("prim", "prims") and rest in PRIMS:
        return PRIMS[rest]
    if namespace in ("torch", "aten") and rest in ALWAYS:
        return ALWAYS[rest]
    namespace = "aten" if namespace == "torch" else namespace
    reachable = rest.isidentifier() and not rest.endswith("__") and (namespace, rest) not in _REFUSED
    packet = getattr(getattr(mindtorch.ops, namespace, None), rest, None) if reachable else None
    if namespace == "aten" and rest in PLAIN:
        return PLAIN[rest] if packet is None else _choose(rest, PLAIN[rest], packet)
    if not isinstance(packet, OpOverloadPacket):
        raise NotImplementedError(
            f"TorchScript: MindTorch has no operator {namespace}::{rest}, which the archive calls"
        )
    return Operator(rest, packet)
