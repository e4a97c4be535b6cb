"""Lists and dictionaries of parameters; public through ``nn.modules.container``."""

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.nn.modules._tree import typename
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


def checked_pairs(owner: str, pairs: Iterable[Any]) -> Iterator[Any]:
    """Yield the pairs that a dictionary is updated from; TypeError or ValueError at what is no pair."""
    for index, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner} update sequence element #{index} should be Iterable; is{type(pair).__name__}")
        item: Any = pair
        if len(item) != 2:
            raise ValueError(f"{owner} update sequence element #{index} has length {len(item)}; 2 is required")
        yield item[0], item[1]


def position_name(index: Any, length: int) -> str:
    """Return the name of an entry of a list of ``length`` modules or parameters, counted from the end if negative."""
    index = operator.index(index)
    if not (-length <= index < length):
        raise IndexError(f"index {index} is out of range")
    return str(index + length if index < 0 else index)


def _as_parameter(value: Any) -> Any:
    """Make a parameter of a plain tensor; leave everything else."""
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _describe(value: Any, tensor_type: str) -> str:
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    size = "x".join(str(n) for n in value.size())
    where = "" if value.device.type in ("cpu", "meta") else f" ({value.device})"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"{kind} containing: [{tensor_type} of size {size}{where}]"


class ParameterList(Module):
    """A list whose tensors are registered as parameters; other values are kept as they are.

    >>> len(torch.nn.ParameterList([torch.nn.Parameter(torch.ones(2)) for _ in range(3)]))
    3
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, index: Any) -> str:
        return position_name(index, len(self))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            result = self.__class__()
            for position in range(len(self))[idx]:
                result.append(self[position])
            return result
        return getattr(self, self._get_abs_string_index(idx))

    def __setitem__(self, index: int, param: Any) -> None:
        setattr(self, self._get_abs_string_index(index), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter(self[position] for position in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> "ParameterList":
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> "ParameterList":
        """Add ``value`` at the end; return the list."""
        position = len(self)
        self._size += 1
        self[position] = value
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Add every value at the end; return the list."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError("ParameterList.extend should be called with an iterable, but got " + type(values).__name__)
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Return one line per entry."""
        return "\n".join(
            f"  ({index}): " + _describe(value, str(value.dtype) if isinstance(value, Tensor) else "")
            for index, value in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """A list is not a layer: always raises RuntimeError."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary whose tensors are registered as parameters; other values are kept as they are.

    >>> torch.nn.ParameterDict({"scale": torch.nn.Parameter(torch.ones(2))})["scale"].requires_grad
    True
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, self._key_to_attr(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def copy(self) -> "ParameterDict":
        """Return a dictionary with the same entries."""
        return ParameterDict(OrderedDict((key, self[key]) for key in self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the entry under ``key``, adding ``default`` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Remove all entries."""
        for key in self._keys.copy():
            del self[key]

    def pop(self, key: str) -> Any:
        """Remove the entry under ``key`` and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the entry added last and return it with its key."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        value = self[key]
        del self[key]
        return key, value

    def get(self, key: str, default: Any = None) -> Any:
        """Return the entry under ``key``, or ``default``."""
        return getattr(self, key) if key in self._keys else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """Return a dictionary with ``default`` under every key."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> Any:
        """Return the keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Yield the pairs of key and entry."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """Yield the entries."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Any) -> None:
        """Add the entries of a mapping or of an iterable of pairs; plain dictionaries are taken in key order."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                + type(parameters).__name__
            )
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            for key, value in parameters.items():
                self[key] = value
        elif isinstance(parameters, Mapping):
            for key, value in sorted(parameters.items()):
                self[key] = value
        else:
            for key, value in checked_pairs("ParameterDict", parameters):
                self[key] = value

    def extra_repr(self) -> str:
        """Return one line per entry."""
        return "\n".join(f"  ({key}): " + _describe(value, typename(value)) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        """A dictionary is not a layer: always raises RuntimeError."""
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        result = other.copy()
        result.update(self)
        return result

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(other)
        return self
