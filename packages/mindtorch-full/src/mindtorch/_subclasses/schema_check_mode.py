"""`torch._subclasses.schema_check_mode`: checks that operators write to and share what their schemas say, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any, NamedTuple

import mindtorch
from mindtorch._C._schema_info import _overlaps, _SchemaArgType, _SchemaArgument, _SchemaInfo
from mindtorch._naming import adopt
from mindtorch.utils._python_dispatch import TorchDispatchMode
from mindtorch.utils._pytree import tree_leaves, tree_map

__all__ = ["Aliasing", "Mutation", "SchemaCheckMode"]

_UNSAFE = ("aten::_unsafe_view", "aten::unsafe_split")
"""Views that do not say so, on purpose."""
_LIFTS = ("aten::lift", "aten::lift_fresh")


class Mutation(NamedTuple):
    """An argument that an operator wrote to."""

    op_name: str
    arg_name: str


class Aliasing(NamedTuple):
    """An argument that a result shares memory with."""

    op_name: str
    arg_name: str
    output_number: str


class _Before(NamedTuple):
    """A tensor before a call."""

    tensor: Any
    copy: Any
    strides: tuple[int, ...]
    storage: Any


def _inner(value: Any) -> Any:
    """What a wrapper holds."""
    return getattr(value, "elem", value) if isinstance(value, mindtorch.Tensor) else value


def _storage(tensor: Any) -> Any:
    return tensor.untyped_storage()._cdata


def _before(value: Any) -> _Before | None:
    tensor = _inner(value)
    if not isinstance(tensor, mindtorch.Tensor) or tensor.layout != mindtorch.strided:
        return None
    return _Before(value, tensor.detach().clone(), tuple(tensor.stride()), _storage(tensor))


def _is_changed(before: _Before) -> bool:
    now = _inner(before.tensor)
    same = now.shape == before.copy.shape and tuple(now.stride()) == before.strides and _storage(now) == before.storage
    return not (same and mindtorch.allclose(now, before.copy, equal_nan=True))


def _named(schema: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[int, str, Any]]:
    """The arguments of a call: place, name in Python, value."""
    for place, one in enumerate(schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(one.name, one.default_value)
        yield place, "input" if one.name == "self" else one.name, value


class SchemaCheckMode(TorchDispatchMode):
    """Raises where an operator writes to an argument or shares memory, and its schema does not say so.

    `ops`, `mutated` and `aliasing` have what was seen.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []
        self.mutated: list[Mutation] = []
        self.aliasing: list[Aliasing] = []

    def reset_cache(self) -> None:
        """Forget what was seen."""
        for seen in (self.ops, self.mutated, self.aliasing):
            seen.clear()

    def display_ops(self) -> None:
        """Print the operators that were seen."""
        print(*self.ops, sep=",")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        schema = func._schema
        self.ops.append(schema.name)
        given = list(_named(schema, args, kwargs))
        before = {place: [_before(leaf) for leaf in tree_leaves(value)] for place, _, value in given}
        result = func(*args, **kwargs)
        results = tree_map(_inner, result if isinstance(result, tuple) else (result,))
        info = _SchemaInfo(schema)
        info.add_argument_values({name: value for _, name, value in given})
        for place, name, value in given:
            if value is not None:
                self._check_sharing(info, schema.name, place, name, tree_map(_inner, value), results)
                self._check_writing(info, schema.name, place, name, before[place])
        for first, second in combinations(range(min(len(schema.returns), len(results))), 2):
            if _overlaps(results[first], results[second]) and not info.may_contain_alias(
                _SchemaArgument(_SchemaArgType.output, first), _SchemaArgument(_SchemaArgType.output, second)
            ):
                raise RuntimeError(f"Outputs {first} and {second} alias unexpectedly")
        return result

    def _check_sharing(
        self, info: _SchemaInfo, op: str, place: int, name: str, value: Any, results: tuple[Any, ...]
    ) -> None:
        argument = _SchemaArgument(_SchemaArgType.input, place)
        for number, result in enumerate(results):
            if _overlaps(result, value) and op not in _UNSAFE:
                if not info.may_contain_alias(_SchemaArgument(_SchemaArgType.output, number), argument):
                    raise RuntimeError(f"Argument {name} is not defined to alias output but was aliasing")
                self.aliasing.append(Aliasing(op, name, f"output_{number}"))
            is_argument = result is value and isinstance(value, mindtorch.Tensor)
            if is_argument and not info.is_mutable(argument) and op not in _LIFTS:
                raise RuntimeError(
                    "Dispatcher operators below autograd are not allowed to directly return inputs.\n"
                    f"However, we found that `outputs[{number}] is {name}"
                )

    def _check_writing(self, info: _SchemaInfo, op: str, place: int, name: str, before: list[_Before | None]) -> None:
        if not any(one is not None and _is_changed(one) for one in before):
            return
        if not info.is_mutable(_SchemaArgument(_SchemaArgType.input, place)):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")
        self.mutated.append(Mutation(op, name))


adopt(globals())
