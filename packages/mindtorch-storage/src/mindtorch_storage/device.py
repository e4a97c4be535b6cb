"""Devices: interned pairs of a type name and an index, parsed with torch's rules and texts."""

from __future__ import annotations

import builtins
import re
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch_storage._pickling import is_importable_as
from mindtorch_storage.annotations import bind_annotations

# Names in the order of torch's own message; the numbers are those of its C++ enumeration.
_TYPE_NUMBERS: dict[str, int] = {
    "cpu": 0,
    "cuda": 1,
    "ipu": 18,
    "xpu": 12,
    "mkldnn": 2,
    "opengl": 3,
    "opencl": 4,
    "ideep": 5,
    "hip": 6,
    "ve": 16,
    "fpga": 7,
    "maia": 8,
    "xla": 9,
    "lazy": 17,
    "vulkan": 10,
    "mps": 13,
    "meta": 14,
    "hpu": 15,
    "mtia": 19,
    "privateuseone": 20,
}
_EXPECTED = ", ".join(_TYPE_NUMBERS)
# `npu` is torch's "privateuseone" slot under the name that the Ascend plugin gives it; torch's text does not list it.
_TYPE_NUMBERS["npu"] = 20
_STRING = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?\Z")
_LARGEST_INDEX = 2**31 - 1
_MOST_DIGITS = 10  # Python refuses to read a few thousand
_interned: dict[tuple[str, int], device] = {}
_by_argument: dict[str, device] = {}
_stands_for: dict[str, str] = {}


def name_device(name: str) -> None:
    """Let `name` be a device type from now on; ValueError for what is no name."""
    if not re.fullmatch("[a-zA-Z_]+", name):
        raise ValueError(f"a device type consists of letters and underscores, not {name!r}")
    _TYPE_NUMBERS.setdefault(name, _TYPE_NUMBERS["privateuseone"])


def let_stand_for(name: str, target: str | None) -> None:
    """Let device type `name` mean `target` from now on, for programs written for another device; None ends it."""
    if target is None:
        _stands_for.pop(name, None)
    else:
        _stands_for[name] = target
    for text in [text for text in _by_argument if text.partition(":")[0] == name]:
        del _by_argument[text]


def meant_by(name: Any) -> Any:
    """Return the device type that a name stands for: itself, unless `let_stand_for` said otherwise."""
    return _stands_for.get(name, name) if isinstance(name, str) else name


class _Context:
    """What the layers above plug in: the accelerator of this process and the `with device:` behaviour."""

    accelerator: str | None = None
    look: Callable[[], str | None] | None = None
    enter: Callable[[device], None] | None = None
    exit: Callable[[device], None] | None = None


def set_accelerator(name: str | None) -> None:
    """Name the device type that a bare index such as `device(0)` means; None when there is no accelerator."""
    _Context.accelerator = name


def find_accelerator(look: Callable[[], str | None]) -> None:
    """Let `look` say which devices are there, each time that it is asked for and none was named."""
    _Context.look = staticmethod(look)


def accelerator() -> str | None:
    """The device type that a bare index means, None without an accelerator."""
    return _Context.accelerator or (_Context.look() if _Context.look is not None else None)


def set_context_hooks(enter: Callable[[device], None], leave: Callable[[device], None]) -> None:
    """Install what `with device(...):` does; the layer that owns the factory functions calls this once."""
    _Context.enter, _Context.exit = enter, leave


class device:
    """A device type with an optional index. Equal devices are the same object.

    >>> device = torch.device("cuda:1")
    >>> device.type, device.index
    ('cuda', 1)
    >>> torch.device("cpu") == torch.device("cpu")
    True
    """

    __slots__ = ("_hash", "_text", "index", "type")
    __module__ = "torch"

    type: str
    index: builtins.int | None
    _hash: int
    _text: str

    def __new__(cls, *args: Any, **kwargs: Any) -> device:
        if len(args) == 1 and not kwargs:
            first = args[0]
            if first.__class__ is str:
                found = _by_argument.get(first)
                return _from_string(first) if found is None else found
            if first.__class__ is device:
                return first
        return _parse_arguments(args, kwargs)

    def __init_subclass__(cls, **kwargs: object) -> NoReturn:
        raise TypeError("type 'torch.device' is not an acceptable base type")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        if name in ("type", "index"):
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __repr__(self) -> str:
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index & 0xFFFF})"

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other

    def __lt__(self, other: object) -> NoReturn:
        raise TypeError("comparison not implemented")

    __le__ = __gt__ = __ge__ = __lt__

    def __reduce__(self) -> tuple[Any, ...]:
        args = (self.type,) if self.index is None else (self.type, self.index)
        return (device if is_importable_as("torch", "device", device) else _named), args

    def __copy__(self) -> device:
        return self

    def __deepcopy__(self, memo: object) -> device:
        return self

    def __enter__(self) -> device:
        if _Context.enter is None:
            raise RuntimeError("`with torch.device(...)` needs the mindtorch package; only its value types are loaded")
        _Context.enter(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if _Context.exit is not None:
            _Context.exit(self)


bind_annotations(device, __name__)


def _named(type_name: str, index: int | None = None) -> device:
    return intern_device(type_name, index)


def intern_device(type_name: str, index: int | None = None) -> device:
    """The one device object for a known type name and index, with no parsing."""
    type_name = _stands_for.get(type_name, type_name)
    number = -1 if index is None else _as_int8(index)
    found = _interned.get((type_name, number))
    if found is None:
        found = object.__new__(device)
        object.__setattr__(found, "type", type_name)
        object.__setattr__(found, "index", None if number == -1 else number)
        object.__setattr__(found, "_text", type_name if number < 0 else f"{type_name}:{number}")
        object.__setattr__(found, "_hash", _TYPE_NUMBERS[type_name] << 16 | number & 0xFF)
        found = _interned.setdefault((type_name, number), found)
    return found


def _as_int8(index: int) -> int:
    # torch keeps the index in a signed byte without a range check; programs see the wrapped number.
    return (index + 128) % 256 - 128


def _split(text: str) -> tuple[str, int | None]:
    if not text:
        raise RuntimeError("Device string must not be empty")
    match = _STRING.match(text)
    if match is None:
        raise RuntimeError(f"Invalid device string: '{text}'")
    name, digits = match.groups()
    if digits is not None and (len(digits) > _MOST_DIGITS or int(digits) > _LARGEST_INDEX):
        raise RuntimeError(f"Could not parse device index '{digits}' in device string '{text}'")
    if name not in _TYPE_NUMBERS:
        raise RuntimeError(
            f"Expected one of {_EXPECTED} device type at start of device string: {name}",
        )
    if name == "mkldnn":
        warnings.warn(
            "'mkldnn' is no longer used as device type. So torch.device('mkldnn') will be deprecated and removed in "
            "the future. Please use other valid device types instead.",
            stacklevel=4,
        )
    return name, None if digits is None else int(digits)


def _from_string(text: str) -> device:
    found = intern_device(*_split(text))
    if found.type != "mkldnn":
        _by_argument[text] = found
    return found


def _from_index(index: int) -> device:
    if not -(2**63) <= index < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    kind = accelerator()
    if kind is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return intern_device(kind, index)


def _type_name(value: object) -> str:
    kind = value.__class__
    return f"torch.{kind.__name__}" if kind.__module__ == "torch" else kind.__name__


def _type_in_detail(value: object) -> str:
    if isinstance(value, list | tuple):
        inner = ", ".join(map(_type_name, value)) + ("," if isinstance(value, tuple) and len(value) == 1 else "")
        return f"list of [{inner}]" if isinstance(value, list) else f"tuple of ({inner})"
    return _type_name(value)


_SIGNATURES = (" * (torch.device device)\n", " * (str type, int index = -1)\n")


def _invalid(args: tuple[Any, ...], kwargs: dict[str, Any], why: str = "") -> TypeError:
    got = ", ".join(_type_name(value) for value in args)
    if kwargs:
        got += ", " if args else ""
        got += "".join(f"{name}={_type_name(value)}, " for name, value in kwargs.items())
        got = got if not args else got.removesuffix(", ")
    return TypeError(
        f"device() received an invalid combination of arguments - got ({got}), but expected one of:\n"
        f"{_SIGNATURES[0]}{why}{_SIGNATURES[1]}"
    )


def _is_index(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (hasattr(value, "__index__") and not isinstance(value, str))


def _parse_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> device:
    count = len(args) + len(kwargs)
    if count == 1:
        value = args[0] if args else kwargs.get("device", kwargs.get("type"))
        if isinstance(value, bytes):
            value = value.decode()
        if (args or "device" in kwargs) and isinstance(value, device):
            return value
        if isinstance(value, str):
            return _from_string(value)
        if value is not None and _is_index(value) and (args or "device" in kwargs):
            return _from_index(int(value))
        if args:
            reason = "types"
            detail = f"(!{_type_in_detail(value)}!)"
            line = f"      didn't match because some of the arguments have invalid {reason}: {detail}\n"
        else:
            line = f"      didn't match because some of the keywords were incorrect: {next(iter(kwargs))}\n"
        raise _invalid(args, kwargs, line)
    if count != 2 or len(args) + ("index" in kwargs) + ("type" in kwargs) < count - (len(kwargs) > 0):
        raise _invalid(args, kwargs)
    return _from_type_and_index(args, kwargs)


def _from_type_and_index(args: tuple[Any, ...], kwargs: dict[str, Any]) -> device:
    for name in kwargs:
        if name not in ("type", "index") or (name == "type" and args):
            raise TypeError(f"device() got an unexpected keyword argument '{name}'")
    name = args[0] if args else kwargs["type"]
    index = args[1] if len(args) == 2 else kwargs["index"]
    if not isinstance(name, str):
        where = " (position 1)" if args else ""
        raise TypeError(f"device(): argument 'type'{where} must be str, not {_type_name(name)}")
    if index is None:
        return _from_string(name)
    if not _is_index(index):
        where = " (position 2)" if len(args) == 2 else ""
        raise TypeError(f"device(): argument 'index'{where} must be int, not {_type_name(index)}")
    number = int(index)
    if not -(2**63) <= number < 2**63:
        raise ValueError("Overflow when unpacking long long")
    if number < 0:
        raise RuntimeError("Device index must not be negative")
    kind, explicit = _split(name)
    if explicit is not None:
        raise RuntimeError(f"type (string) must not include an index because index was passed explicitly: {name}")
    return intern_device(kind, number)
