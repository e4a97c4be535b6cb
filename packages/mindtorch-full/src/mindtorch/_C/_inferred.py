"""The TorchScript type of a value, as a tracer would take it."""

from __future__ import annotations

from typing import Any

from mindtorch._C import _types as types
from mindtorch._naming import adopt
from mindtorch_cpu.generator import Generator
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.tensor_base import TensorBase

_ALONE: tuple[tuple[Any, str], ...] = (
    (TensorBase, "TensorType"),
    (bool, "BoolType"),
    (int, "IntType"),
    (float, "FloatType"),
    (complex, "ComplexType"),
    (str, "StringType"),
    (type(None), "NoneType"),
    (Device, "DeviceObjType"),
    (Generator, "_GeneratorType"),
    ((Dtype, Layout), "IntType"),
)
"""Classes of values without parts, and the types they have; enumerations are numbers."""


class InferredType:
    """The type that was found, or the reason why there is none."""

    def __init__(self, arg0: types.Type | str) -> None:
        self._found = arg0

    def success(self) -> bool:
        """Return whether there is a type."""
        return isinstance(self._found, types.Type)

    def type(self) -> types.Type:
        """Return the type; RuntimeError where there is none."""
        if not isinstance(self._found, types.Type):
            raise RuntimeError("Tried to get the type from an InferredType but the type is null.")
        return self._found

    def reason(self) -> str:
        """Return why there is no type."""
        return self._found if isinstance(self._found, str) else ""


class _NotTyped(Exception):
    """A value has no type; the text says why."""


def _jit_try_infer_type(obj: object) -> InferredType:
    """Return the type of a value, or why it has none."""
    try:
        return InferredType(_type_of(obj))
    except _NotTyped as error:
        return InferredType(str(error))


def _type_of(value: object) -> Any:
    for kinds, name in _ALONE:
        if isinstance(value, kinds):
            return getattr(types, name).get()
    if isinstance(value, tuple):
        return types.TupleType([_type_of(one) for one in value])
    if isinstance(value, list):
        return _list_type(value)
    if isinstance(value, dict):
        return _dict_type(value)
    if hasattr(value, "_parameters"):
        raise _NotTyped("Cannot infer concrete type of torch.nn.Module")
    raise _NotTyped(
        "Only tensors and (possibly nested) tuples of tensors, lists, or dicts are supported as inputs or outputs of traced "
        f"functions, but instead got value of type {type(value).__name__}."
    )


def _list_type(value: list[object]) -> Any:
    if not value:
        raise _NotTyped("List trace inputs must have elements")
    found = None
    for one in value:
        try:
            made = _type_of(one)
        except _NotTyped as error:
            raise _NotTyped(f"Could not infer type of list element: {error}") from None
        joined = made if found is None else _joined(found, made)
        if joined is None:
            raise _NotTyped(
                f"List inputs to traced functions must have consistent element type. Found {found} and {made}"
            )
        found = joined
    return types.ListType(found)  # type: ignore[attr-defined]  # made by a loop


def _dict_type(value: dict[object, object]) -> Any:
    if not value:
        raise _NotTyped("Dictionary inputs must have entries")
    kinds: list[Any] = [None, None]
    for pair in value.items():
        for place, one in enumerate(pair):
            made = _type_of(one)
            joined = made if kinds[place] is None else _joined(kinds[place], made)
            if joined is None:
                raise _NotTyped(
                    f"Dictionary inputs to traced functions must have consistent type. Found {kinds[place]} and {made}"
                )
            kinds[place] = joined
    return types.DictType(*kinds)


def _joined(one: types.Type, two: types.Type) -> Any:
    """Return the type of what is either: the same, or one that may be None; None where there is none."""
    if one == two:
        return one
    none, optional = types.NoneType.get(), types.OptionalType  # type: ignore[attr-defined]
    for first, second in ((one, two), (two, one)):
        if first == none:
            return second if isinstance(second, optional) else optional(second)
        if isinstance(first, optional) and first.getElementType() == second:
            return first
    return None


adopt(globals())
