"""Calls that differ in sizes alone, those of their tensors and the integers among their arguments: what is planned once.

Which overload a call means, which keys it passes, whose function answers and what autograd saves follow from the kinds of
its tensors (`Signature.kind`), the places of its integers and all its other arguments. A program whose batches or graphs are
all of different sizes makes such calls without end; of each only the geometry is worked out. What is not surely of this sort
has no family, and is planned in full every time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import complex32
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.tensor_base import TensorBase

from ..arguments.bound import Bound
from ..arguments.parameter import INT64
from ..execute import executor
from ..interface.autograd import PlanRequest
from ..keys import DispatchKey
from ..meta.rule import Outputs, View
from ..state import Mode, fresh_signature
from ..table import OpRow, kernels
from .call import Call
from .determinism import ALERTS
from .meta import describe_results
from .notices import NOTED
from .plan import Plan, plain_types
from .record import attach_recorder
from .results import allocator
from .routing import fill_plan, route_values, varying
from .targets import check_target, look_at_memory, refuse_recorded_write
from .writes import route_written

_SPARSE = 1 << DispatchKey.Sparse
_VIEWS = (executor.run_view, executor.run_views)
_COMPOSED = (executor.run_composite, executor.run_composite_opaque)
_RUNS = (executor.run_kernel, executor.run_kernel_outputs, executor.run_dynamic, executor.run_inplace, *_VIEWS)


def family_key(key: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Return what the plan keys of a family, calls of `count` values, have in common; no plan has such a key itself."""
    return ("family", count, *map(_kind, key))


def _kind(part: Any) -> Any:
    kind = type(part)
    if kind is Signature:
        return part.kind
    if kind is int:
        return int if part in INT64 else part
    return tuple(map(_kind, part)) if kind is tuple else part


class Family:
    """What one planned call tells about the others of its family. It holds no tensor of that call.

    `values` are the call's, None where tensors were; `given` are (index, source) of those that each call brings itself,
    `made` those of lists made of the integers that it gives; `fixed` are indices of the former that kernels
    take as constants. `dtypes` are those of the results, None for one that is not made; `tracked` says which of them
    require grad. `tensors` and `lists` are the indices of tensors and of lists with tensors; `varying` says of each value
    that the kernel may get from the call whether it does. Where that holds, members share the routing of `plan`.
    """

    tensors: list[int]
    lists: list[int]
    values: list[Any]

    __slots__ = (
        "answer",
        "device",
        "dtypes",
        "fixed",
        "function",
        "given",
        "kernel",
        "keys",
        "lists",
        "made",
        "plan",
        "recorder",
        "row",
        "settle",
        "settled",
        "single",
        "sources",
        "tensors",
        "tracked",
        "values",
        "varying",
        "views",
        "wrapped",
    )

    def __init__(self, call: Call, made: list[tuple[int, Any, int]]) -> None:
        bound = call.bound
        self.row = call.row
        self.plan = call.plan
        self.device, self.keys = call.device, call.keys
        self.kernel = call.kernel
        self.recorder = call.recorder
        self.function = call.function
        self.settle = getattr(call.composed, "settled", None)
        self.settled = call.settled is not None
        self.single = isinstance(call.answer.specs, (Spec, View))
        self.sources = bound.sources
        self.given = [(index, source) for index, source in enumerate(bound.sources) if source is not None]
        self.made = made
        self.tensors, self.lists, self.values = [], [], list(bound.values)
        for index, value in enumerate(bound.values):
            if _has_tensors(value):
                (self.tensors if isinstance(value, TensorBase) else self.lists).append(index)
                self.values[index] = None
        scalars = {index for index, _ in call.plan.scalars}
        self.varying = [(index, index in scalars) for index in varying(bound)]
        brought = [index for index, _ in self.given] + [index for index, _, _ in made]
        self.fixed = [index for index in brought if self.values[index] is not None and index not in scalars]
        self.views = call.plan.run in _VIEWS
        answer = call.answer
        cast: Any = answer.cast
        self.wrapped = isinstance(cast, Dtype) and cast.np.kind in "iu"
        self.answer = Outputs(None, answer.cast, None if answer.values is None else ())
        results = [] if call.function is not None or call.plan.run is executor.run_inplace else _listed(answer.specs)
        self.dtypes = [
            None if one is None else one.spec.dtype if isinstance(one, View) else one.dtype for one in results
        ]
        self.tracked = _tracked(call.plan) if results else []

    def member(self, flat: tuple[Any, ...], mode: Mode) -> Plan | None:
        """Return the plan of another call of the family; None where it has to be planned in full."""
        values = self.values.copy()
        for index, source in self.given:
            values[index] = flat[source]
        for index, place, count in self.made:
            values[index] = (flat[place],) * count if count else tuple(flat[place])
        run = self.plan.run
        if run in _COMPOSED:
            return self._composed(values, flat, mode)
        if run is executor.run_inplace:
            return self._written(values, flat, mode)
        return self._sized(values, flat, mode)

    def _is_same(self, values: list[Any]) -> bool:
        """Whether the constants among the kernel's arguments are those of the call that was planned."""
        known = self.values
        return all(values[index] is known[index] or values[index] == known[index] for index in self.fixed)

    def _composed(self, values: list[Any], flat: tuple[Any, ...], mode: Mode) -> Plan:
        same = self._is_same(values)
        settled = None if self.settle is None else self.settle(values)
        if same and self.settle is None and self.recorder is None:
            return self.plan
        plan = self.plan.copied()
        bound = Bound(self.row, values, self.sources, flat)
        if settled is not None:
            plan.kernel, plan.values = settled
            plan.tensors, plan.scalars, plan.lists = [(0, bound.first_source)], [], []
        elif self.settled:
            fill_plan(plan, bound, self.answer, None)
            plan.kernel = self.function
        elif not same:
            self._fill(plan, values, flat, self.answer)
        self._record(plan, values, None, mode)
        return plan

    def _record(self, plan: Plan, values: list[Any], specs: Any, mode: Mode) -> None:
        if self.recorder is not None:
            plan.record = self.recorder.resized(PlanRequest(self.row, values, self.sources, specs, False, mode)).after

    def _written(self, values: list[Any], flat: tuple[Any, ...], mode: Mode) -> Plan:
        """Return the plan of a call that writes its first argument, whose geometry the later stages look at."""
        call = Call(Bound(self.row, values, self.sources, flat), mode)
        call.device, call.keys, call.kernel = self.device, self.keys, self.kernel
        refuse_recorded_write(call)
        try:
            self._describe_written(call, values, flat)
        except Exception:
            look_at_memory(call)
            raise
        return call.plan

    def _describe_written(self, call: Call, values: list[Any], flat: tuple[Any, ...]) -> None:
        describe_results(call)
        if call.answer.cast == self.answer.cast:
            call.plan = self.plan.copied()
            self._fill(call.plan, values, flat, call.answer)
            route_written(call)
        else:
            route_values(call)
        attach_recorder(call)
        check_target(call)
        if call.answer.refused is not None:
            raise call.answer.refused

    def _sized(self, values: list[Any], flat: tuple[Any, ...], mode: Mode) -> Plan | None:
        specs = values.copy()
        for index in self.tensors:
            specs[index] = values[index]._sig.spec
        for index in self.lists:
            specs[index] = [item._sig.spec if isinstance(item, TensorBase) else item for item in values[index]]
        answer = self.row.meta.fn(*specs)
        answer = answer if type(answer) is Outputs else Outputs(answer)
        if answer.refused is not None or not (answer.cast is self.answer.cast or answer.cast == self.answer.cast):
            return None
        if isinstance(answer.specs, (Spec, View)) is not self.single:
            return None
        results = [answer.specs] if self.single else answer.specs
        if not self.views and [None if one is None else one.dtype for one in results] != self.dtypes:
            return None
        plan = self.plan.copied()
        if answer.values is not None or self.answer.values is not None or (self.fixed and not self._is_same(values)):
            self._fill(plan, values, flat, answer)
        if self.views:
            self._size_views(plan, results)
        else:
            self._size_results(plan, results)
        self._record(plan, values, answer.specs, mode)
        return plan

    def _fill(self, plan: Plan, values: list[Any], flat: tuple[Any, ...], answer: Outputs) -> None:
        """Give a copy of the plan this call's constants; what the kernel gets from calls is routed as in all the family."""
        constants = list(values if answer.values is None else answer.values)
        count = len(constants)
        routed = not self.wrapped and all(
            (index < count and constants[index] is values[index]) is varies for index, varies in self.varying
        )
        if not routed:
            kernel = None if self.views or plan.run in _COMPOSED else self.kernel
            fill_plan(plan, Bound(self.row, values, self.sources, flat), answer, kernel)
            return
        for index in self.tensors:
            constants[index] = None  # plans outlive calls and must not keep their tensors
        for index in self.lists:
            constants[index] = None
        plan.values = constants

    def _size_views(self, plan: Plan, views: Sequence[View]) -> None:
        if plan.run is executor.run_view:
            plan.sig, plan.offset = plan.sig.on(views[0].spec), views[0].offset
        else:
            sig = plan.outputs[0][0]
            plan.outputs = [(sig.on(view.spec), view.offset) for view in views]

    def _size_results(self, plan: Plan, specs: Sequence[Spec | None]) -> None:
        sigs = [
            None if spec is None else fresh_signature(spec, tracked)
            for spec, tracked in zip(specs, self.tracked, strict=True)
        ]
        if plan.run is executor.run_dynamic:
            plan.outputs = list(zip(specs, sigs, strict=True))
            return
        made = [None if spec is None else allocator(spec, self.row.name) for spec in specs]
        plan.outputs = list(zip(sigs, made, strict=True))
        if plan.pack is None:
            spec = specs[0]
            assert spec is not None, self.row.name
            plan.spec, plan.shape = spec, tuple(spec.shape)
            plan.sig, plan.alloc = plan.outputs[0]


def family_of(call: Call) -> Family | None:
    """Return the family of a call that was planned, None where another size may come to something else."""
    made = _made_of_integers(call.bound)
    if made is None or not _is_ordinary(call) or call.row.packet in ALERTS or call.row.packet in NOTED:
        return None
    run = call.plan.run
    if call.function is not None:
        composed = call.composed is not None and call.composed is call.row.composite and not _has_kernel(call)
        return Family(call, made) if composed and run in _COMPOSED and not call.row.kind.writes else None
    if run not in _RUNS or (call.kernel is not None and call.kernel.takes is not None):
        return None
    if call.row.kind.writes is not (run is executor.run_inplace) or (
        run is executor.run_views and not call.plan.outputs
    ):
        return None
    if call.answer.cast is not None and any(tensor.dtype.is_complex for tensor in call.tensors):
        return None
    return Family(call, made)


def _made_of_integers(bound: Bound) -> list[tuple[int, Any, int]] | None:
    """Return of each list of integers that is not as the call gives it (index, place, how often the integer there is meant).

    None where another value was converted of which integers are part.
    """
    found = []
    first = 1 if bound.sources[:1] == [0] else 0
    for index, value in enumerate(bound.values):
        if type(value) not in (int, tuple, list) or bound.sources[index] is not None:
            continue
        argument = bound.row.schema.arguments[index]
        if value is argument.default:
            continue
        place = bound.places.get(argument.name)
        if place is None or type(value) is not tuple:
            return None
        part: Any = slice(first, first + len(value)) if place is ... else place
        given = bound.flat[part]
        count = len(value) if type(given) is int else 0
        if not count and not isinstance(given, (tuple, list)):
            return None  # numpy's integers, members of enumerations
        if any(type(item) is not int for item in value):
            return None  # numbers that a tracer follows, too
        if value != ((given,) * count if count else tuple(given)):
            return None
        found.append((index, part, count))
    return found


def _is_ordinary(call: Call) -> bool:
    """True for a call of plain tensors of the processor under no mode that has a say in plans, of an op as it comes."""
    bound, mode = call.bound, call.mode
    if not bound.cacheable or bound.out is not None or mode.default_device is not None:
        return False
    if bound.requires_grad and call.function is not None:
        return False
    if (
        mode.forward_ad
        or mode.watching
        or mode.profiling
        or mode.include
        or mode.overriding
        or mode.autocast is not None
    ):
        return False
    if call.intercepted or call.registered is not None or _is_changed(call.row) or call.device.type != "cpu":
        return False
    if call.keys.mask & _SPARSE:
        return False
    for value, source in zip(bound.values, bound.sources, strict=True):
        if isinstance(value, Device) and value.type != "cpu":
            return False
        if source is None and _has_tensors(value):
            return False
    return all([_is_plain(tensor) for tensor in call.tensors])


def _is_changed(row: OpRow) -> bool:
    """True where a kernel or a rule is registered that may answer for the table's; casts of autocast say nothing here."""
    own = row.__dict__
    return "boxed" in own or bool(own.get("fallthrough")) or bool(own.get("python_rules"))


def _is_plain(tensor: TensorBase) -> bool:
    spec = tensor._sig.spec
    ordinary = type(spec) is Spec and spec.device.type == "cpu" and spec.dtype is not complex32
    return ordinary and type(tensor) in plain_types and not tensor._wraps


def _has_kernel(call: Call) -> bool:
    """Whether the device has a kernel that did not take this call, but may take another one."""
    return (call.row.base or call.row).name in kernels[call.device.type]


def _has_tensors(value: Any) -> bool:
    if isinstance(value, TensorBase):
        return True
    return isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value)


def _listed(specs: Any) -> list[Any]:
    return [specs] if isinstance(specs, (Spec, View)) else list(specs)


def _tracked(plan: Plan) -> list[bool]:
    """Return of each result of a planned call whether it requires grad."""
    if plan.run in _VIEWS:
        return []
    place = 1 if plan.run is executor.run_dynamic else 0
    return [output[place] is not None and output[place].requires_grad for output in plan.outputs]
