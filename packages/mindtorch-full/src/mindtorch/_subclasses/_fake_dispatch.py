"""One operator call on fake tensors: which device it is on, what it runs on, and what its results become."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._subclasses._fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensorDeviceMismatchError,
    UnsupportedOperatorException,
)
from mindtorch.tensor import printing
from mindtorch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.defaults import get_default_device
from mindtorch_dispatch.override.handlers import PYTHON_MASK
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.table import DYNAMIC
from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase, is_bare, make_tensor

CONSTANT_LIMIT = 1
"""Up to so many elements of a literal are remembered, so that `torch.tensor(3).item()` works under the mode."""

_META = Device("meta")
_LITERALS = frozenset(("lift_fresh", "lift_fresh_copy", "lift"))
_NEEDS_VALUES = frozenset(("_local_scalar_dense", "equal", "allclose", "is_nonzero", "item"))
_SHOWN = {"_index_masked": ("nonzero", "default"), "_unique_runs": ("_unique2", "default")}
"""Our operators whose shapes depend on data, and the operator that torch names instead."""


def fake_call(mode: Any, fake_class: type, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return the results of `func` as fakes of `mode`; raises what its data or devices forbid."""
    name = func._opname
    leaves, spec = tree_flatten((args, kwargs))
    fakes = [leaf for leaf in leaves if isinstance(leaf, fake_class)]
    for fake in fakes:
        if fake.fake_mode is not mode:
            raise AssertionError(f"Mixing fake modes NYI x.fake_mode={fake.fake_mode!r} vs self={mode!r}")
    real = [leaf for leaf in leaves if isinstance(leaf, TensorBase) and not isinstance(leaf, fake_class)]
    if name in _LITERALS and real:
        return _literal(mode, fake_class, func, real[0])
    if real and not mode.allow_non_fake_inputs:
        raise AssertionError(
            "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. "
            f"Found in {_call_text(func, args, kwargs)}"
        )
    if real:
        given = {id(leaf) for leaf in real}
        leaves = [mode.from_tensor(leaf) if id(leaf) in given else leaf for leaf in leaves]
        fakes = [leaf for leaf in leaves if isinstance(leaf, fake_class)]
    constant = _constant(func, leaves, spec, fakes)
    if constant is not None and not isinstance(constant, TensorBase):
        return constant
    _refuse_values(func, name, leaves)
    if constant is None:
        for fake in _written(func, leaves, spec):
            if fake.constant is not None:
                mode.fake_tensor_converter.forget_constants({fake.constant.untyped_storage()._cdata})
    return _run(mode, fake_class, func, leaves, spec, constant)


def _literal(mode: Any, fake_class: Any, func: Any, value: Any) -> Any:
    fake = mode.from_tensor(value)
    if value.numel() <= CONSTANT_LIMIT:
        mode.fake_tensor_converter.keep_constant(fake, value)
    return fake


def _constant(func: Any, leaves: list[Any], spec: Any, fakes: list[Any]) -> Any:
    """Return what the call gives on remembered literals, which it may write to; None where an operand is none.

    Where the result is too large to be remembered, literals that it shares memory with are forgotten: it may be written.
    """
    if not fakes or any(fake.constant is None for fake in fakes) or torch.Tag.nondeterministic_seeded in func.tags:
        return None
    values = [leaf.constant if isinstance(leaf, type(fakes[0])) else leaf for leaf in leaves]
    args, kwargs = tree_unflatten(values, spec)
    converter = fakes[0].fake_mode.fake_tensor_converter
    memory = {fake.constant.untyped_storage()._cdata for fake in fakes}
    with mode_set(dispatch_modes=()):
        made = func(*args, **kwargs)
    if isinstance(made, TensorBase):
        if made._sig.spec.numel <= CONSTANT_LIMIT and made._sig.spec.device.type == "cpu":
            return made
        converter.forget_constants(memory & {made.untyped_storage()._cdata})
        return None
    return made if isinstance(made, (bool, int, float, complex)) else None


def _refuse_values(func: Any, name: str, leaves: list[Any]) -> None:
    """Raise where the answer, or its shape, depends on data."""
    if name in _NEEDS_VALUES:
        raise DataDependentOutputException(func)
    row = func.row
    if DYNAMIC in row.tags:
        shown = _SHOWN.get(name)
        if shown is None:
            raise DynamicOutputShapeException(func)
        packet = getattr(aten, shown[0], None)
        raise DynamicOutputShapeException(
            getattr(packet, shown[1]) if packet is not None else f"aten.{'.'.join(shown)}"
        )
    if name == "index" and any(_is_mask(leaf) for leaf in leaves[1:]):
        raise DynamicOutputShapeException(aten.nonzero.default)


def _is_mask(leaf: Any) -> bool:
    return isinstance(leaf, TensorBase) and leaf.dtype in (torch.bool, torch.uint8)


def _written(func: Any, leaves: list[Any], spec: Any) -> list[Any]:
    args, kwargs = tree_unflatten(leaves, spec)
    found: list[Any] = []
    for place, argument in enumerate(func._schema.arguments):
        if argument.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            found += [leaf for leaf in tree_leaves(value) if isinstance(leaf, TensorBase)]
    return found


def _run(mode: Any, fake_class: Any, func: Any, leaves: list[Any], spec: Any, constant: Any) -> Any:
    fakes: dict[int, Any] = {}
    stand_ins: dict[int, Any] = {}
    for leaf in leaves:
        if isinstance(leaf, fake_class) and id(leaf) not in fakes:
            sig = leaf._sig.requiring(False).on(leaf._sig.spec.with_(device=_META))
            fake = make_tensor(torch.Tensor, sig, None, leaf._storage, leaf._offset, [leaf._counter[0]])
            fakes[id(leaf)] = fake
            stand_ins[id(fake)] = leaf
    device = _result_device(func, leaves, spec, fake_class)
    args, kwargs = tree_unflatten([_META if isinstance(x, Device) else fakes.get(id(x), x) for x in leaves], spec)
    names = [argument.name for argument in func._schema.arguments]
    if not fakes and "device" in names:
        kwargs["device"] = _META
    exclude = state.mode.exclude | PYTHON_MASK
    try:
        with mode_set(dispatch_modes=(), exclude=exclude):
            made = func(*args, **kwargs)
    except NotImplementedError as error:
        if "there was no fake impl or Meta kernel" in str(error):
            raise UnsupportedOperatorException(func) from error
        raise

    def wrapped(value: Any) -> Any:
        if not isinstance(value, TensorBase):
            return value
        leaf = stand_ins.get(id(value))
        if leaf is not None:
            return leaf
        # Numbers alone give a real tensor, whose value is known.
        return (
            fake_class(mode, value, device) if value.device.type == "meta" else _literal(mode, fake_class, func, value)
        )

    result = tree_map(wrapped, made)
    for fake in fakes.values():
        _follow(stand_ins[id(fake)], fake)
    if isinstance(constant, TensorBase) and isinstance(result, fake_class):
        mode.fake_tensor_converter.keep_constant(result, constant)
    return result


def _follow(leaf: Any, fake: Any) -> None:
    """Give a fake the geometry that the operator gave its stand-in."""
    sig = leaf._sig
    spec = fake._sig.spec.with_(device=sig.spec.device)
    if spec is not sig.spec:
        leaf._sig = sig.on(spec)
    leaf._storage, leaf._offset = fake._storage, fake._offset


def _result_device(func: Any, leaves: list[Any], spec: Any, fake_class: type) -> Any:
    """Return the device that results are on: the one asked for, else the operands'; torch's error when they differ."""
    _, kwargs = tree_unflatten(leaves, spec)
    given = kwargs.get("device")
    if given is None:
        given = next((leaf for leaf in leaves if isinstance(leaf, Device)), None)
    if given is not None:
        return given
    found: Any = None
    scalar = False
    mixed = getattr(func.row.meta, "mixed_devices", False)
    for leaf in leaves:
        if not isinstance(leaf, fake_class):
            continue
        device, number = leaf.device, leaf.dim() == 0 and leaf.device.type == "cpu"
        if found is None or (scalar and not number):
            found, scalar = device, number
        elif device != found and not number and not mixed:
            raise FakeTensorDeviceMismatchError(
                f"Expected all tensors to be on the same device, but found at least two devices, {found} and {device}!"
            )
    return get_default_device() if found is None else found


def _call_text(func: Any, args: Any, kwargs: dict[str, Any]) -> str:
    parts = [_value_text(arg) for arg in args] + [f"{name}={_value_text(value)}" for name, value in kwargs.items()]
    return f"{func}({', '.join(parts)})"


def _value_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(_value_text, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner})"
    if not isinstance(value, TensorBase):
        return repr(value)
    spec = value._sig.spec
    if is_bare(value):
        return repr(value)
    contents = "[...]" if spec.ndim else None
    with mode_set(dispatch_modes=()):
        text = printing.tensor_text(value, contents, size=True)
    return "Parameter containing:\n" + text if isinstance(value, torch.nn.Parameter) else text


__all__ = ["fake_call"]
