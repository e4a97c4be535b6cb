"""Forward-mode differentiation: tensors that carry tangents, and how an op's tangents follow from its gradient formulas.

There is no second table of forward formulas. A gradient formula is linear in the gradient, so the tangents of an op's
outputs are the gradient, with respect to a cotangent u, of the op's vector-Jacobian product with u: the formula is
differentiated once more, which is exact wherever it is made of differentiable ops. Views need no formula: the tangent of
a view is that view of the tangent. While a level is open `Mode.forward_ad` is set, so every plan of that time is made
here and programs without dual tensors pay nothing.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, cast

from mindtorch_dispatch.arguments.bound import Bound
from mindtorch_dispatch.call import aten, call_overload
from mindtorch_dispatch.execute.executor import Plan, run_composite, run_inplace_view
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.table import OpRow
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase, math_bits

from .backward import grad as reverse_grad
from .derivative import find_derivative
from .forward_switch import switch
from .node import OpNode, meta_of
from .saved import SavedResult
from .views import alias_over, leaf_over, region_of, with_bits

_ids = itertools.count()


class Level:
    """One open level: its number, a key under which tensors keep their tangents, and the tensors that have one."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.key = next(_ids)
        self.holders: list[weakref.ref[TensorBase]] = []

    def close(self) -> None:
        """Forget all tangents of the level."""
        for reference in self.holders:
            tensor = reference()
            if tensor is not None and tensor._meta.tangents is not None:
                tensor._meta.tangents.pop(self.key, None)


levels: list[Level] = []
"""The open levels of the process, as in torch; there is at most one."""


def set_enabled(enabled: bool) -> None:
    """Switch the propagation of tangents in this thread; TypeError for what is no bool."""
    if not isinstance(enabled, bool):
        raise TypeError(f"enabled must be a bool (got {type(enabled).__name__})")
    grad = switch.turn(enabled, state.mode.grad)
    state.mode = state.mode.replace(forward_ad=enabled and bool(levels), grad=grad)


def is_enabled() -> bool:
    """Return whether this thread propagates tangents."""
    return switch.enabled


def enter_level() -> int:
    """Open a level and return its number; RuntimeError when one is open."""
    if levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    levels.append(Level(len(levels)))
    state.mode = state.mode.replace(forward_ad=switch.enabled)
    return levels[-1].number


def exit_level(number: int) -> None:
    """Close the innermost level, which must be `number`."""
    if not levels or levels[-1].number != number:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    levels.pop().close()
    if not levels:
        state.mode = state.mode.replace(forward_ad=False)


def tangent_of(tensor: TensorBase) -> Any:
    """Return the tensor's tangent at the open level, None when it has none."""
    if not levels or not isinstance(tensor, TensorBase) or tensor._meta is None or tensor._meta.tangents is None:
        return None
    return tensor._meta.tangents.get(levels[-1].key)


def set_tangent(tensor: TensorBase, tangent: TensorBase) -> None:
    """Give `tensor` a tangent; one that it has is overwritten, so that views of it see the new value.

    The tangent of a view's base becomes zeros with this tangent in the view's place.
    """
    if not levels:
        return
    have = tangent_of(tensor)
    if have is not None:
        have.copy_(tangent)
        return
    view = tensor._view
    if view is not None and tangent_of(view.base) is None:
        base, spec = view.base, tensor._sig.spec
        attach(base, aten._new_zeros_with_same_feature_meta(tangent, base))
        with mode_set(forward_ad=False):
            whole = tangent_of(base)
            shift = (whole._offset - base._offset) * base._sig.spec.itemsize // spec.itemsize
            region = with_bits(region_of(whole, spec, tensor._offset + shift), math_bits(tensor))
            region.copy_(tangent)
        tangent = region
    attach(tensor, tangent)


def check_tangent(tensor: TensorBase, tangent: TensorBase) -> None:
    """Raise torch's error for a tangent of another size than its tensor's, or with a tangent of its own."""
    if tangent_of(tangent) is not None:
        raise RuntimeError(
            f"Setting a forward grad that itself has a forward gradient at the same level{levels[-1].number} is not "
            "supported."
        )
    want, given = tensor._sig.spec.shape, tangent._sig.spec.shape
    if want != given:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(want)} while the given forward gradient is of size {list(given)}."
        )


def attach(tensor: TensorBase, tangent: TensorBase) -> None:
    """Make `tangent` the tangent of `tensor` alone, whatever it is a view of.

    It has the tensor's layout and bits, so that every view of the tensor has its counterpart among those of the tangent.
    """
    spec, given = tensor._sig.spec, tangent._sig.spec
    stride = spec.stride if spec.shape == given.shape and spec.numel > 1 else given.stride
    if given.stride != stride or math_bits(tensor) is not math_bits(tangent):
        with mode_set(forward_ad=False):
            made = aten.new_empty_strided(tangent, list(given.shape), list(stride))
            tangent = with_bits(made, math_bits(tensor)).copy_(tangent)
    meta = meta_of(tensor)
    if meta.tangents is None:
        meta.tangents = {}
    meta.tangents[levels[-1].key] = tangent
    levels[-1].holders.append(weakref.ref(tensor))


def any_tangent(values: Sequence[Any]) -> bool:
    """True when a tensor among the values, or in a list of them, has a tangent."""
    return any(
        any_tangent(value) if isinstance(value, (list, tuple)) else tangent_of(value) is not None for value in values
    )


def _plain(tensor: TensorBase) -> Any:
    return alias_over(tensor, tensor._sig.spec.plain)


class _Inputs:
    """The call's tensors with tangents, replaced by stand-ins that gradients can be taken of."""

    def __init__(self, values: Sequence[Any], recording: bool) -> None:
        self.recording = recording
        self.stand_ins: list[Any] = []
        self.tangents: list[Any] = []
        self.values = [self._replaced(value) for value in values]

    def _replaced(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(self._replaced(item) for item in value) if type(value) in (list, tuple) else value
        tangent = tangent_of(value)
        if tangent is None:
            return value
        if self.recording and value._sig.requires_grad:
            stand_in = aten.view(value, list(value.shape)) if value._sig.spec.is_contiguous else aten.clone(value)
        else:
            stand_in = _plain(value)
            stand_in._sig = stand_in._sig.spec.tracked
        self.stand_ins.append(stand_in)
        self.tangents.append(tangent)
        return stand_in


class _NoFormula(NotImplementedError):
    """The op has no gradient formula that its tangents could follow from."""


def pushforward(call: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return `call(*values)` and the tangents of its outputs (None where nothing flows), for values with tangents."""
    recording = state.mode.grad
    with mode_set(forward_ad=False, grad=True, saved_hooks=None):
        inputs = _Inputs(values, recording)
        result = call(*inputs.values)
        outputs = list(result) if isinstance(result, (list, tuple)) else [result]
        tracked = [one for one in outputs if isinstance(one, TensorBase) and one._sig.requires_grad]
        tangents = iter(_tangents(tracked, inputs, recording))
        found = [next(tangents) if any(one is other for other in tracked) else None for one in outputs]
    if recording and any(isinstance(v, TensorBase) and v._sig.requires_grad for v in _leaves(values)):
        _give_saved(inputs, outputs, found)
        return result, found
    if recording and any(tangent._sig.requires_grad for tangent in inputs.tangents):
        return _without_history(result), found
    return _without_history(result), _without_history(found)


def _give_saved(inputs: _Inputs, outputs: Sequence[Any], tangents: Sequence[Any]) -> None:
    """Give what the node saved its tangents, so that the tangents of gradients come out of its formulas."""
    for stand_in, tangent in zip(inputs.stand_ins, inputs.tangents, strict=True):
        attach(stand_in, tangent)
    for output, tangent in zip(outputs, tangents, strict=True):
        node = None if tangent is None else output._grad_fn  # an output that was not asked for is None
        if not isinstance(node, OpNode):
            continue
        for item in node._saved or ():
            if isinstance(item, SavedResult) and item.number == output._output_nr:
                attach(item.alias, tangent)


def _leaves(values: Sequence[Any]) -> list[Any]:
    return [leaf for value in values for leaf in (_leaves(value) if isinstance(value, (list, tuple)) else [value])]


def _without_history(result: Any) -> Any:
    if isinstance(result, TensorBase):
        return _plain(result) if result._sig.requires_grad else result
    if hasattr(result, "_fields"):
        return type(result)([_without_history(one) for one in result])
    return type(result)(_without_history(one) for one in result) if isinstance(result, (list, tuple)) else result


def _tangents(outputs: list[Any], inputs: _Inputs, recording: bool) -> list[Any]:
    if not outputs:
        return []
    cotangents = [leaf_over(aten.zeros_like(_plain(one))) for one in outputs]
    try:
        products = reverse_grad(outputs, inputs.stand_ins, cotangents, create_graph=True, allow_unused=True)
    except NotImplementedError as error:
        raise _NoFormula from error
    pairs = [
        (product, tangent)
        for product, tangent in zip(products, inputs.tangents, strict=True)
        if product is not None and product.requires_grad
    ]
    if not pairs:
        return [aten.zeros_like(_plain(one)) for one in outputs]
    found = reverse_grad(
        [product for product, _ in pairs],
        cotangents,
        [tangent for _, tangent in pairs],
        retain_graph=True,
        create_graph=recording,
        allow_unused=True,
    )
    taken = {id(tangent._counter) for tangent in inputs.tangents}
    return [
        aten.zeros_like(_plain(one)) if tangent is None else _own(tangent, taken)
        for one, tangent in zip(outputs, found, strict=True)
    ]


def _own(tangent: Tensor, taken: set[int]) -> Any:
    """Return the tangent, copied where it has the memory of another: writes to its tensor will write to it."""
    if id(tangent._counter) in taken:
        tangent = aten.clone(tangent)
    taken.add(id(tangent._counter))
    return tangent


def plan_forward(bound: Bound, inner: Plan) -> Plan:
    """Return the plan that runs `inner` and, where an argument has a tangent, gives tangents to its results.

    The pieces of a composed op give the tangents, unless the op has a formula of its own.
    """
    if bound.out is not None:
        plan = Plan(bound.row, _run_out)
        plan.kernel = inner
        return plan
    if "detach" in bound.row.tags or (inner.run is run_composite and not _gives_tangents(bound.row)):
        return inner
    plan = Plan(bound.row, _run)
    plan.kernel = inner
    plan.source = bound.sources
    plan.values = [None if source is not None else v for v, source in zip(bound.values, bound.sources, strict=True)]
    return plan


def _run_out(plan: Plan, flat: tuple[Any, ...]) -> Any:
    if any_tangent(flat):
        raise NotImplementedError(
            f"Trying to use forward AD with {plan.row.packet}_out that does not support it because it is an out= function"
        )
    return plan.kernel.run(plan.kernel, flat)


def _gives_tangents(row: OpRow) -> bool:
    entry = find_derivative(row)
    fresh = all(one.alias is None for one in row.schema.returns)
    return entry is not None and (entry.tangent is not None or (bool(entry.formulas) and fresh))


def _call(row: OpRow, values: Sequence[Any]) -> Any:
    """Call an overload with its arguments in schema order."""
    arguments = row.schema.arguments
    by_name = {a.name: v for a, v in zip(arguments, values, strict=True) if a.kwarg_only}
    return call_overload(row, tuple(v for a, v in zip(arguments, values, strict=True) if not a.kwarg_only), by_name)


def _run(plan: Plan, flat: tuple[Any, ...]) -> Any:
    inner, row = plan.kernel, plan.row
    values = [v if at is None else flat[at] for v, at in zip(plan.values, plan.source, strict=True)]
    if not any_tangent(values):
        return inner.run(inner, flat)
    entry = find_derivative(row)
    if row.kind.writes:
        if inner.run is run_inplace_view:
            return _turn(inner, flat, values)
        if entry is not None and entry.non_differentiable:
            return _overwrite(inner, flat, values[0])
        return _write(row, values)
    own = None if entry is None else entry.tangent
    if own is not None or (row.meta is not None and row.meta.view):
        result = inner.run(inner, flat)
        with mode_set(forward_ad=False):
            tangent = tangent_of(values[0])
            tangents = _call(row, [tangent, *values[1:]]) if own is None else own(tangent, *values)
        found = list(tangents) if isinstance(tangents, (list, tuple)) else [tangents]
    else:
        result, found = _pushed(row, lambda *given: _call(row, given), values)
        if type(result) is tuple and inner.pack is not None:
            result = inner.pack(result)
    outputs = list(result) if isinstance(result, (list, tuple)) else [result]
    for output, tangent in zip(outputs, found, strict=True):
        if tangent is not None:
            attach(output, tangent)
    return result


def _pushed(row: OpRow, call: Callable[..., Any], values: Sequence[Any]) -> tuple[Any, list[Any]]:
    try:
        return pushforward(call, values)
    except _NoFormula as error:
        raise NotImplementedError(
            f"Trying to use forward AD with {row.packet} that does not support it because it has not been implemented "
            "yet.\nPlease file an issue to PyTorch at "
            "https://github.com/pytorch/pytorch/issues/new?template=feature-request.yml so that we can prioritize its "
            "implementation or submit a PR adding the implementation to derivatives.yaml"
        ) from error


def _turn(inner: Plan, flat: tuple[Any, ...], values: list[Any]) -> Any:
    """Give the target another geometry, and its tangent the same one."""
    tangent = tangent_of(values[0])
    target = inner.run(inner, flat)
    if tangent is not None:
        with mode_set(forward_ad=False):
            attach(target, _call(inner.row, [aten.alias(tangent), *values[1:]]))
    return target


def _overwrite(inner: Plan, flat: tuple[Any, ...], target: TensorBase) -> Any:
    """Run an op through which no gradient flows: the tangent of what it writes into becomes zeros."""
    result = inner.run(inner, flat)
    if tangent_of(target) is not None:
        with mode_set(forward_ad=False):
            set_tangent(target, aten.zeros_like(_plain(target)))
    return result


def _write(row: OpRow, values: list[Any]) -> Any:
    """Run an in-place op on a copy, to get its tangent, and write the copy's value and tangent into the target."""
    target = values[0]
    if not isinstance(target, TensorBase):
        raise NotImplementedError(f"Trying to use forward AD with {row.packet}, which writes into a list of tensors")

    before = tangent_of(target)
    if before is not None:
        # The write changes the target and its tangent; what the gradients of the new tangent need are those before it.
        with mode_set(forward_ad=False):
            before, held = aten.clone(before), aten.clone(target)
        attach(held, before)
        values = [held if value is target else value for value in values]

    def on_copy(first: Tensor, *rest: object) -> Any:
        return _call(row, [aten.clone(first), *rest])

    result, tangents = _pushed(row, on_copy, values)
    if before is not None and isinstance(result._grad_fn, OpNode):
        for item in result._grad_fn.saved_targets():
            attach(item, before)
    with mode_set(forward_ad=False):
        cast(Any, target).copy_(result)
    tangent = tangents[0]
    if tangent is not None or tangent_of(target) is not None:
        with mode_set(forward_ad=False):
            set_tangent(target, aten.zeros_like(_plain(target)) if tangent is None else tangent)
    return target
