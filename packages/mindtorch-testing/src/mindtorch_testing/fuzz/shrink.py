"""Makes a finding's call as small as it can be and still be that finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from mindtorch_testing.fuzz.arguments import Call, Value
from mindtorch_testing.fuzz.catalog import Param
from mindtorch_testing.fuzz.judge import Finding
from mindtorch_testing.fuzz.sides import Outcome, Program
from mindtorch_testing.fuzz.tensors import Tensor

Judge = Callable[[list[Program]], list[tuple[Outcome, Outcome | None, Finding | None]]]
ROUNDS = 12


def shrunk(judge: Judge, call: Call, finding: Finding) -> tuple[Call, Finding] | None:
    """Return the smallest call found, with its finding; None where the finding does not come again."""
    again = judge([call.program()])[0][2]
    if again is None or again.kind != finding.kind:
        return None
    if finding.kind == "hang":
        return call, again
    best = call, again
    for _ in range(ROUNDS):
        tried = [c for c in candidates(best[0]) if size(c) < size(best[0])][:40]
        if not tried:
            break
        judged = judge([candidate.program() for candidate in tried])
        kept = [
            (candidate, found)
            for candidate, (_, _, found) in zip(tried, judged, strict=True)
            if found is not None and found.kind == finding.kind and alike(found, again)
        ]
        if not kept:
            break
        best = min(kept, key=lambda item: size(item[0]))
    return best


def alike(found: Finding, first: Finding) -> bool:
    """Whether a finding is still the first one: errors of the same text, values at the same place."""
    if found.kind in ("error text", "error type", "extra error", "missed error"):
        return found.signature == first.signature
    return True


def size(call: Call) -> int:
    """Measure a call: the length of its text, anything unusual counted on top."""
    setup, text, backward = call.program()
    plain = setup.replace("torch.float32", "").replace("torch.int64", "int")
    return len(plain) + 3 * len(text) + 40 * backward


def candidates(call: Call) -> Iterator[Call]:
    """Give calls that are simpler in one respect."""
    if call.backward:
        yield replace(call, backward=False)
    if call.extra:
        yield replace(call, extra="")
    for index in reversed(range(len(call.given))):
        if call.given[index][0].default:
            rest = [*call.given[:index], *((replace(p, keyword=True), v) for p, v in call.given[index + 1 :])]
            yield replace(call, given=tuple(rest))
    for given in simpler_items(call.given):
        yield replace(call, given=given)
    for inputs in simpler_items(call.inputs):
        yield replace(call, inputs=inputs)


def simpler_items(items: tuple[tuple[Param, Value], ...]) -> Iterator[tuple[tuple[Param, Value], ...]]:
    """Give arguments of which one is simpler."""
    for index, (param, value) in enumerate(items):
        for simpler in simpler_values(value):
            yield (*items[:index], (param, simpler), *items[index + 1 :])


def simpler_values(value: Value) -> Iterator[Value]:
    """Give values that are simpler than this one."""
    if isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
            for simpler in simpler_values(value[index]):
                if isinstance(simpler, Tensor):
                    yield [*value[:index], simpler, *value[index + 1 :]]
        return
    if isinstance(value, str):
        for simple in ("0", "1", "2", "1.0"):
            if len(simple) <= len(value) and simple != value:
                yield simple
        return
    if value.alias:
        return
    for change in (
        {"layout": ""}, {"gradient": False}, {"values": "ordinary"}, {"values": "zero"}, {"values": "one"},
        {"dtype": "float32"}, {"dtype": "int64"},
    ):  # fmt: skip
        if any(getattr(value, name) != new for name, new in change.items()):
            yield replace(value, **change)
    shape = value.shape
    if shape:
        yield replace(value, shape=())
        yield replace(value, shape=shape[:1])
        yield replace(value, shape=shape[1:])
        yield replace(value, shape=shape[: len(shape) // 2])
    for axis in range(min(len(shape), 6)):
        for smaller in (1, 2, shape[axis] // 2, shape[axis] - 1):
            if 0 <= smaller < shape[axis]:
                yield replace(value, shape=(*shape[:axis], smaller, *shape[axis + 1 :]))
