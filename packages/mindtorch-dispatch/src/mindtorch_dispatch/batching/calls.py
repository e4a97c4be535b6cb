"""What becomes of an op call that meets batched tensors.

The tensor of the innermost level decides at which level the call is batched. There the call is recorded for
differentiation inside that level, and computed on the values by the op's rule, by its parts, or by a loop over slices.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from mindtorch_storage.tensor_base import TensorBase, ViewInfo

from ..arguments.bound import tensor_leaves
from ..execute.executor import filled
from ..execute.views import follow
from ..extend.registry import registry
from ..interface.autograd import PlanRequest, hooks
from ..plan import Plan
from ..state import state
from ..table import OpRow
from . import levels
from .fallback import looped, lost_gradient
from .known import MOST, Known, geometry
from .refusals import refused_write
from .rules.random import check_loop
from .rules.table import RANDOM, Rule, find_rule
from .steps import Tape, invoke
from .wrapper import Batched, example_spec, is_unbatchable, lifted, unwrapped, without_history, wrapped

_LISTS = (list, tuple)


def run(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run a call at the level of its innermost batched tensor."""
    values = filled(plan, flat)
    return _at_level(plan, values, innermost(values))


def recorded(values: Sequence[Any]) -> bool:
    """True when a call is to be recorded at the level of its batched tensors; a loop below that has no formula."""
    if not state.mode.records:
        return False
    for value in values:
        if isinstance(value, TensorBase):
            if value._sig.requires_grad and value._wraps:
                return True
        elif isinstance(value, _LISTS) and recorded([item for item in value if isinstance(item, TensorBase)]):
            return True
    return False


def innermost(values: Sequence[Any]) -> int:
    """Return the level of the innermost batched tensor, 0 when there is none."""
    found = 0
    for value in values:
        if isinstance(value, TensorBase):
            if value._wraps:
                wrapper: Any = value._storage
                found = max(found, wrapper.level)
        elif isinstance(value, _LISTS):
            found = max(found, innermost([item for item in value if isinstance(item, TensorBase)]))
    return found


def run_random(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run a random op at the innermost open level, whatever its tensors are."""
    values = filled(plan, flat)
    level = max(innermost(values), levels.depth())
    if levels.looping() is not None:
        check_loop(levels.looping())
    if not level:
        with levels.below(1):
            return invoke(plan.row, values)
    return _at_level(plan, values, level)


def _at_level(plan: Plan, values: list[Any], level: int) -> Any:
    row = plan.row
    if row.written:
        return _write(plan, row, values, level)
    found = None if plan.source is None else geometry(plan, values, level)
    if found is None:
        result = functional(plan, row, plan.kernel, values, level)
    else:
        key, tensors = found
        known = plan.source.get(key)
        result = (
            functional(plan, row, plan.kernel, values, level, found)
            if known is None
            else _known(row, known, values, tensors, level)
        )
    return result if plan.pack is None else plan.pack(result)


def _known(row: OpRow, known: Known, values: list[Any], tensors: list[Any], level: int) -> Any:
    """As `functional`, for a geometry that was met before."""
    with levels.below(level):
        results = known.steps.run(tensors)
    made = known.wrapped(results, level)
    recorder = known.recorder
    if known.view:
        _relate(row, values, made, recorder)
    if recorder is not None:
        for index in known.lifts:
            values[index] = _lift_one(values[index], level)
        recorder.after(tuple(values), tuple(made) if known.many else made[0])
    return made if known.many else made[0]


def _keep(plan: Plan, key: Any, known: Known) -> None:
    if len(plan.source) >= MOST:
        plan.source.clear()
    plan.source[key] = known


def _lift(values: Sequence[Any], level: int) -> list[Any]:
    return [_lift_one(value, level) for value in values]


def _lift_one(value: Any, level: int) -> Any:
    if isinstance(value, TensorBase):
        return lifted(value, level)
    if type(value) in _LISTS:
        return type(value)(lifted(item, level) if isinstance(item, TensorBase) else item for item in value)
    return value


def _open(values: Sequence[Any], level: int) -> tuple[list[Any], list[Any]]:
    """Return the values and batch dimensions of a call's arguments; lists for lists of tensors."""
    opened, dims = [], []
    dim: Any
    for value in values:
        if isinstance(value, TensorBase):
            inner, dim = unwrapped(value, level)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
            pairs = [unwrapped(item, level) if isinstance(item, TensorBase) else (item, None) for item in value]
            inner, dim = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        else:
            inner, dim = value, None
        opened.append(inner)
        dims.append(dim)
    return opened, dims


def _batch_dims(dims: Sequence[Any]) -> list[bool]:
    return [any(one is not None for one in dim) if isinstance(dim, list) else dim is not None for dim in dims]


def compute(
    row: OpRow, rule: Rule | None, values: Sequence[Any], level: int, tape: Tape | None = None
) -> tuple[Any, Any]:
    """Return the result of a call at `level` and its batch dimensions, computed by rule or slice by slice."""
    batch = levels.batch_at(level)
    opened, dims = _open(values, level)
    with levels.below(level), tape or nullcontext():
        if (rule is None or rule.kind != RANDOM) and not any(_batch_dims(dims)):
            result = invoke(row, opened)
            return result, [None] * len(result) if isinstance(result, (tuple, list)) else None
        if rule is not None:
            result, places = rule.fn(row, batch, opened, dims)
            return result, _of_parts(result, places) if batch.size else places
        return looped(row, batch, opened, dims)


def _of_parts(result: Any, places: Any) -> Any:
    """Return the batch dimensions of a result; what stands for a part that was not asked for, an empty vector, has none."""
    if not isinstance(result, (tuple, list)):
        return places
    each = places if isinstance(places, (tuple, list)) else [places] * len(result)
    return [
        None if isinstance(one, TensorBase) and tuple(one.shape) == (0,) else at
        for one, at in zip(result, each, strict=True)
    ]


def _recorder(plan: Plan, values: list[Any], specs: Any, written: bool) -> Any:
    """Return what records a call whose tensors are all of one level, None when nothing is to be recorded."""
    mode = state.mode
    if hooks.recorder is None or not recorded(values):
        return None
    made = plan.outputs  # a plan holds for one geometry of the examples, but their results may be laid out differently
    key = tuple(specs) if isinstance(specs, list) else specs
    if key not in made:
        made[key] = hooks.recorder(PlanRequest(plan.row, values, range(len(values)), specs, written, mode))
    return made[key]


def functional(
    plan: Plan, row: OpRow, rule: Rule | None, values: list[Any], level: int, found: tuple[Any, list[Any]] | None = None
) -> Any:
    """Compute a call and record it; where its geometry is `found`, keep what is known of it now."""
    tape = None if found is None else Tape(found[1])
    result, dims = compute(row, rule, values, level, tape)
    many = isinstance(result, (tuple, list))
    outputs = list(result) if many else [result]
    steps = None if tape is None else tape.finished(outputs)
    known = None if steps is None else Known(steps, _is_view(row))
    places = list(dims) if isinstance(dims, (tuple, list)) else [dims] * len(outputs)
    if not recorded(values):
        made = [
            one if one is None or (at is None and not isinstance(one, TensorBase)) else wrapped(one, at, level)
            for one, at in zip(outputs, places, strict=True)
        ]
        _relate(row, values, made, None)
        if known is not None and found is not None:
            known.describe(outputs, made, many)
            _keep(plan, found[0], known)
        return made if many else made[0]
    inputs = _lift(values, level)
    made = [None if one is None else wrapped(one, at, level) for one, at in zip(outputs, places, strict=True)]
    specs = [None if one is None else one._sig.spec for one in made]
    recorder = _recorder(plan, inputs, specs if many else specs[0], False)
    _relate(row, values, made, recorder)
    if recorder is not None:
        chosen = recorder.differentiable
        for number, one in enumerate(made):
            if one is None or (chosen is not None and number not in chosen):
                continue
            dtype = one._sig.spec.dtype
            if dtype.is_floating_point or dtype.is_complex:
                one._sig = one._sig.spec.tracked
        recorder.after(tuple(inputs), tuple(made) if many else made[0])
    if known is not None and found is not None:
        known.recorder = recorder
        known.lifts = [at for at, (one, value) in enumerate(zip(inputs, values, strict=True)) if one is not value]
        known.describe(outputs, made, many)
        _keep(plan, found[0], known)
    return made if many else made[0]


def _is_view(row: OpRow) -> bool:
    view = getattr(row.meta, "view", False) and "detach" not in row.tags
    return bool(view) and row.schema.returns[0].alias is not None


def _relate(row: OpRow, values: Sequence[Any], made: Sequence[Any], recorder: Any) -> None:
    """Let views of a batched tensor share its version, and know it as their base."""
    if not _is_view(row):
        return
    base = values[0]
    if not base._wraps:
        return
    creation = "no_grad" if not state.mode.records else "default" if len(row.schema.returns) == 1 else "multi_output"
    above = base._view
    root = base if above is None else above.base
    for view in made:
        view._counter = base._counter
        view._view = ViewInfo(root, base._counter[0], creation)
        if creation != "no_grad" and not base._sig.requires_grad:
            follow(root, view)


def run_opaque(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Compute a composed op by its parts without recording them, and record it as one node by its own formula."""
    values = filled(plan, flat)
    row = plan.row
    assert row.composite is not None, "a composed op"
    level = innermost(values)
    inputs = _lift(values, level)
    bare = [
        without_history(v) if isinstance(v, TensorBase)
        else [without_history(i) if isinstance(i, TensorBase) else i for i in v] if isinstance(v, (list, tuple))
        and any(isinstance(i, TensorBase) for i in v)
        else v
        for v in inputs
    ]  # fmt: skip
    try:
        result = row.composite(*bare)
    except RuntimeError as error:
        if not is_unbatchable(error):
            raise
        result = functional(plan, row, None, bare, level)
    many = isinstance(result, (tuple, list))
    made = [lifted(one, level) if isinstance(one, TensorBase) else one for one in (result if many else [result])]
    recorder = _recorder(plan, inputs, None, False)
    if recorder is not None:
        for one in made:
            if isinstance(one, TensorBase) and (one.dtype.is_floating_point or one.dtype.is_complex):
                one._sig = one._sig.spec.tracked
                one._view = None
        recorder.after(tuple(inputs), tuple(made) if many else made[0])
    answer = tuple(made) if many else made[0]
    return answer if plan.pack is None else plan.pack(answer)


def _write(plan: Plan, row: OpRow, values: list[Any], level: int) -> Any:
    """Run an in-place op: write the value of the first argument, in which every example has its part."""
    target = values[0]
    rule = plan.kernel
    if not isinstance(target, TensorBase):
        raise RuntimeError(
            f"Batching rule not implemented for {row.aten_name}; the fallback path doesn't work on out= or view ops."
        )
    if getattr(row.meta, "view", False):
        return _turn(plan, row, values)
    wrapper: Any = target._storage if target._wraps else None
    held = wrapper if wrapper is not None and wrapper.level == level else None
    others = tensor_leaves(values[1:])
    if (held is None or held.dim is None) and any(unwrapped(other, level)[1] is not None for other in others):
        raise refused_write(row, target, others, level)
    if held is None and recorded([other for other in others if innermost([other]) == level]):
        raise lost_gradient(row.aten_name)
    inputs = values if held is None else _lift(values, level)
    recorder = _recorder(plan, inputs, None, True) if held is not None else None
    kept = recorder.before(tuple(inputs)) if recorder is not None else None
    _compute_write(plan, row, rule, values, level)
    if held is not None:
        target._counter[0] += 1
        if recorder is not None:
            target._sig = target._sig.spec.tracked
            recorder.after(tuple(inputs), target, kept)
    return target


def _compute_write(plan: Plan, row: OpRow, rule: Rule | None, values: list[Any], level: int) -> None:
    """Let the rule write, or do anew what it did for the same geometry."""
    found = None if plan.source is None else geometry(plan, values, level)
    if found is None:
        compute(row, rule, values, level)
        return
    key, tensors = found
    known = plan.source.get(key)
    if known is not None:
        with levels.below(level):
            known.steps.run(tensors)
        return
    tape = Tape(tensors)
    compute(row, rule, values, level, tape)
    steps = tape.finished(())
    if steps is not None:
        _keep(plan, key, Known(steps, False))


def _turn(plan: Plan, row: OpRow, values: list[Any]) -> Any:
    """Give a batched tensor another geometry over its own value, as `squeeze_` does; the change is in its history."""
    target = values[0]
    packet = row.packet.removesuffix("_")
    found = registry.get(packet + (f".{row.overload}" if row.overload else ".int" if packet == "transpose" else "")).row
    held = target._storage
    assert found is not None, row.name
    result, dim = compute(found, find_rule(found), values, held.level)
    spec = example_spec(result, dim)
    recorder = _recorder(plan, values, spec, False)
    if recorder is not None:
        recorder.after_view(tuple(values), target, recorder.before(tuple(values)))
    target._storage = Batched(result, dim, held.level)
    target._offset = result._offset
    target._sig = spec.tracked if target._sig.requires_grad else spec.plain
    target._counter[0] += 1
    if target._view is not None:
        target._view.attr_version = target._counter[0]
    return target
