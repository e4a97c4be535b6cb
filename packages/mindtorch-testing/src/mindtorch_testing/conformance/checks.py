"""The rules of conformance, each over one sample of one op in one dtype."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from mindtorch_testing.conformance.values import (
    agree,
    as_array,
    geometry,
    map_tensors,
    storage_address,
    tensors_in,
)
from mindtorch_testing.samples import Call, Sample, registered, resolve_op

DIFFERENCE_STEP = 1e-6
"""Step of the central differences that analytic gradients are held against, in float64."""


class NotApplicable(Exception):
    """The rule says nothing about this op."""


@dataclass(frozen=True)
class Check:
    """One rule on one sample."""

    rule: str
    sample: Sample
    dtype: str
    device: str
    lib: ModuleType

    def run(self) -> None:
        """Hold the rule against every call of the sample."""
        judged = 0
        for call in self.sample.calls(self.lib, self.dtype, self.device):
            if not call.wrong:
                judged += RULES[self.rule](self, call)
        if not judged:
            raise NotApplicable(f"{self.rule} says nothing about {self.sample.op}")

    @property
    def op(self) -> Callable[..., Any]:
        """The callable under test."""
        return resolve_op(self.lib, self.sample.op)

    def __str__(self) -> str:
        return f"{self.rule}-{self.sample.op}-{self.sample.function.__name__}-{self.dtype}"


def checks(
    device: str, *, ops: Iterable[str] | None = None, rules: Iterable[str] | None = None, lib: ModuleType | None = None
) -> list[Check]:
    """Return the checks for a device: all registered ops or the given ones, all rules or the given ones."""
    library = importlib.import_module("mindtorch") if lib is None else lib
    found = registered()
    return [
        Check(rule, sample, dtype, device, library)
        for name in (found if ops is None else ops)
        for sample in found[name]
        for rule in (RULES if rules is None else rules)
        for dtype in _dtypes(rule, sample)
    ]


def _dtypes(rule: str, sample: Sample) -> Iterator[str]:
    if rule == "gradient":
        return iter(("float64",) if sample.gradient and "float64" in sample.dtypes else ())
    return iter(sample.dtypes)


def _moved(value: Any, device: str) -> Any:
    """Return `value` with its tensors on `device`, layout kept."""

    def move(tensor: Any) -> Any:
        fresh = tensor.new_empty_strided(tuple(tensor.shape), tensor.stride(), device=device)
        # Elements of an expanded tensor share memory and cannot be written one by one.
        return fresh if device == "meta" else tensor.to(device)

    return map_tensors(value, move)


def rule_value(check: Check, call: Call) -> int:
    """The device computes what the CPU computes."""
    if check.device == "cpu":
        return 0
    expected = check.op(*_moved(call.args, "cpu"), **_moved(call.kwargs, "cpu"))
    actual = check.op(*call.args, **call.kwargs)
    problem = agree(expected, _moved(actual, "cpu"), check.dtype)
    assert not problem, f"{check.device} differs from cpu: {problem}"
    return 1


def rule_meta(check: Check, call: Call) -> int:
    """The kernel's result has the dtype, shape and strides that the meta function promised."""
    try:
        promised = check.op(*_moved(call.args, "meta"), **_moved(call.kwargs, "meta"))
    except (NotImplementedError, RuntimeError) as error:
        if "meta" in str(error).lower():
            return 0  # the shape depends on values
        raise
    actual = check.op(*call.args, **call.kwargs)
    ours, theirs = ([geometry(t) for t in tensors_in(value)] for value in (actual, promised))
    assert ours == theirs, f"kernel gives {ours}, meta promised {theirs}"
    return 1


def rule_out(check: Check, call: Call) -> int:
    """`out=` receives the result, is resized from empty, and is what the call returns."""
    function = getattr(check.lib, check.sample.op.partition(".")[0], None)
    if function is None:
        return 0
    try:
        expected = function(*call.args, **call.kwargs)
        if len(tensors_in(expected)) != 1:
            return 0
        out = expected.new_empty(0)
        returned = function(*call.args, **call.kwargs, out=out)
    except TypeError:
        return 0  # the op has no out form
    assert returned is out, "the call does not return the tensor given as out="
    problem = agree(expected, out, check.dtype)
    assert not problem, f"out= differs from the result: {problem}"
    return 1


def rule_inplace(check: Check, call: Call) -> int:
    """The in-place form writes the functional result into its input, returns it and counts a version."""
    name = check.sample.op.partition(".")[0]
    target = call.args[0] if call.args else None
    if name.endswith("_") or not hasattr(target, f"{name}_") or not hasattr(target, name):
        return 0
    expected = getattr(target, name)(*call.args[1:], **call.kwargs)
    fresh = target.clone()
    version = fresh._version
    try:
        returned = getattr(fresh, f"{name}_")(*call.args[1:], **call.kwargs)
    except RuntimeError:
        return 0  # a broadcast or promoted result does not fit the input
    assert returned is fresh, "the in-place form does not return its input"
    assert fresh._version == version + 1, f"version went from {version} to {fresh._version}"
    problem = agree(expected.to(fresh.dtype), fresh, check.dtype)
    assert not problem, f"in-place differs from functional: {problem}"
    return 1


def rule_aliasing(check: Check, call: Call) -> int:
    """A view shares its input's storage; every other op leaves its inputs alone and shares nothing."""
    inputs = tensors_in((call.args, call.kwargs))
    if not inputs or check.sample.op.partition(".")[0].endswith("_"):
        return 0
    before = [as_array(tensor).copy() for tensor in inputs]
    addresses = {storage_address(tensor) for tensor in inputs if tensor.numel()}
    results = tensors_in(check.op(*call.args, **call.kwargs))
    for result in results:
        if not result.numel() or any(result is tensor for tensor in inputs):
            continue
        shares, is_view = storage_address(result) in addresses, result._is_view()
        # A result may be a view of something made on the way; then it must not share with an input.
        of_input = is_view and any(result._base is base for t in inputs for base in (t, t._base))
        assert shares == of_input or (shares and is_view), f"shares its input's storage: {shares}; view: {is_view}"
    for tensor, values in zip(inputs, before, strict=True):
        assert np.array_equal(as_array(tensor), values, equal_nan=values.dtype.kind in "fc"), "an input was changed"
    return 1


def rule_gradient(check: Check, call: Call) -> int:
    """Analytic gradients agree with central differences."""
    leaves = [t for t in tensors_in((call.args, call.kwargs)) if str(t.dtype) == "torch.float64" and t.numel()]
    if not leaves or any(not np.isfinite(as_array(t)).all() for t in leaves):
        return 0
    places = {id(tensor): tensor.detach().clone() for tensor in leaves}
    for fresh in places.values():
        fresh.requires_grad_(True)
    args, kwargs = map_tensors((call.args, call.kwargs), lambda tensor: places.get(id(tensor), tensor))
    outputs = [t for t in tensors_in(check.op(*args, **kwargs)) if t.requires_grad]
    if not outputs:
        return 0
    random = np.random.default_rng(0)
    weights = [np.asarray(random.standard_normal(tuple(t.shape))) for t in outputs]
    cotangents = [check.lib.tensor(w.tolist(), dtype=check.lib.float64, device=check.device) for w in weights]
    cotangents = [c.reshape(tuple(t.shape)) for c, t in zip(cotangents, outputs, strict=True)]
    analytic = check.lib.autograd.grad(outputs, list(places.values()), cotangents, allow_unused=True)

    def objective() -> float:
        with check.lib.no_grad():
            found = [as_array(t) for t in tensors_in(check.op(*args, **kwargs)) if t.dtype == check.lib.float64]
        return sum(float((one * weight).sum()) for one, weight in zip(found, weights, strict=True))

    for fresh, gradient in zip(places.values(), analytic, strict=True):
        numeric, smooth = _differences(check, fresh, objective)
        found = np.zeros_like(numeric) if gradient is None else as_array(gradient)
        same = np.allclose(found[smooth], numeric[smooth], rtol=1e-4, atol=1e-5)
        assert same, f"gradient {found} is not {numeric}"
    return 1


def _differences(check: Check, tensor: Any, objective: Callable[[], float]) -> tuple[np.ndarray, np.ndarray]:
    """Return central differences, and where both one-sided ones agree: at a kink there is no one gradient."""
    numeric = np.zeros(tuple(tensor.shape))
    smooth = np.ones(numeric.shape, dtype=bool)
    middle = objective()
    for index in np.ndindex(*numeric.shape):
        ends = []
        for step in (DIFFERENCE_STEP, -DIFFERENCE_STEP):
            with check.lib.no_grad():
                tensor[index] += step
                ends.append((objective() - middle) / step)
                tensor[index] -= step
        numeric[index] = sum(ends) / 2
        smooth[index] = abs(ends[0] - ends[1]) < 1e-3 * max(1.0, abs(ends[0]))
    return numeric, smooth


RULES: dict[str, Callable[[Check, Call], int]] = {
    "value": rule_value,
    "meta": rule_meta,
    "out": rule_out,
    "inplace": rule_inplace,
    "aliasing": rule_aliasing,
    "gradient": rule_gradient,
}
"""The rules by name; each returns how many judgements it made of one call."""
