"""Runs one optim_db entry: the same parameters, gradients and steps on torch and on the target."""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import torch
from torch.testing._internal.common_optimizers import OptimizerErrorEnum, OptimizerInfo

from mindtorch_testing.compare import TOLERANCES, Comparison, error_difference
from mindtorch_testing.convert import Converter
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.rebind import MissingName
from mindtorch_testing.sweep.runner import SEED, Runner, seed_generators
from mindtorch_testing.sweep.suites import OPTIMIZER_FIELDS

STEPS = 10
CLOSE = {**TOLERANCES, torch.float32: (1e-6, 1e-6), torch.float64: (1e-9, 1e-9)}
"""Relative and absolute tolerance of parameters after the steps."""

STATE_CLOSE = {**CLOSE, torch.float32: (1.3e-5, 1e-6)}
"""Of the state: RMSprop's centred square is a difference of nearly equal numbers."""

HALVED = dict.fromkeys(CLOSE, (1e-6, 1e-5))
"""Of Muon, which rounds its update to bfloat16: a last bit of the gradient may move it by one step of that."""

FLAGS = ("foreach", "fused", "capturable", "differentiable", "maximize")
SHAPES = ((4, 3), (3, 5))
"""Two matrices: Muon takes nothing else."""


class Descent:
    """A fixed problem on one side: parameters, an optimizer over them, and its steps."""

    def __init__(self, side: ModuleType, dtype: torch.dtype, sparse: bool) -> None:
        self.side = side
        self.sparse = sparse
        self._convert = Converter(side)
        generator = torch.Generator().manual_seed(SEED)
        values = [torch.randn(shape, generator=generator, dtype=dtype) for shape in SHAPES]
        goals = [torch.randn(shape, generator=generator, dtype=dtype) for shape in SHAPES]
        self.parameters = [side.nn.Parameter(self._convert.to_target(v)) for v in values]
        self._goals = [self._convert.to_target(goal) for goal in goals]

    def closure(self) -> Any:
        """Return the loss, its gradients left in the parameters (every second row of them where sparse)."""
        pairs = list(zip(self.parameters, self._goals, strict=True))
        for parameter in self.parameters:
            parameter.grad = None
        loss = sum(((p - goal) ** 2).sum() + (p.sin() * goal).sum() for p, goal in pairs)
        loss.backward()
        if self.sparse:
            for parameter in self.parameters:
                rows = self.side.arange(0, parameter.shape[0], 2)
                taken = parameter.grad[rows]
                parameter.grad = self.side.sparse_coo_tensor(rows[None], taken, tuple(parameter.shape))
        return loss

    def step(self, optimizer: Any, closure: bool) -> Any:
        """Make one step; returns what `step` returns."""
        if closure:
            return optimizer.step(self.closure)
        self.closure()
        return optimizer.step()


Trace = Callable[[ModuleType], list[Any]]


class OptimizerRunner(Runner):
    """Runs entries of optim_db."""

    fields: ClassVar[tuple[str, ...]] = OPTIMIZER_FIELDS
    headline: ClassVar[tuple[str, ...]] = OPTIMIZER_FIELDS[:2]

    def _run(self, info: OptimizerInfo, result: EntryResult) -> None:
        configurations = [given.kwargs for given in info.optim_inputs_func("cpu")]
        for kwargs, dtype in itertools.product(configurations, _dtypes(info)):
            self._field(result, "steps", lambda side, k=kwargs, d=dtype: self._steps(info, side, k, d))
            self._field(result, "state", lambda side, k=kwargs, d=dtype: self._state(info, side, k, d), STATE_CLOSE)
        for kwargs in configurations:
            self._flags(info, kwargs, result)
            self._field(result, "groups", lambda side, k=kwargs: self._groups(info, side, k))
            if "differentiable" in info.supported_impls:
                self._field(result, "differentiable", lambda side, k=kwargs: self._differentiated(info, side, k))
        for schedulers, way in itertools.product(info.scheduler_inputs, (0, 1)):
            self._field(result, "schedulers", lambda side, s=schedulers, w=way: self._schedulers(info, side, s, w))
        seed_generators()
        for error in info.optim_error_inputs_func("cpu", torch.float32):
            on_step = error.error_on is OptimizerErrorEnum.STEP_ERROR
            sample = error.optimizer_error_input
            self._field(result, "errors", lambda side, s=sample, o=on_step: self._error(info, side, s, o))

    def _field(self, result: EntryResult, name: str, trace: Trace, tolerances: Any = None) -> None:
        """Run one trace on both sides; equal values, or equal errors, agree."""
        expected, refusal = _attempt(trace, torch)
        allowed = HALVED if result.name == "Muon" else tolerances or CLOSE

        def judged() -> list[str]:
            actual, error = _attempt(trace, self.target)
            if isinstance(error, MissingName) or (error is not None and refusal is None):
                raise error
            if refusal is not None:
                return [error_difference(refusal, error)]
            found = Comparison(Converter(self.target), allowed).compare(expected, actual)
            found = [difference for difference in found if difference.kind != "stride"]
            return [str(found[0]) if found else ""]

        self._judge([result.outcome(name)], judged)

    def _optimizer(self, info: OptimizerInfo, side: ModuleType, params: Any, kwargs: dict[str, Any]) -> Any:
        return self._class(info, side)(params, **Converter(side).to_target(kwargs))

    def _class(self, info: OptimizerInfo, side: ModuleType) -> Any:
        return info.optim_cls if side is torch else self.rebind(info.optim_cls)

    def _steps(self, info: OptimizerInfo, side: ModuleType, kwargs: dict[str, Any], dtype: torch.dtype) -> list[Any]:
        descent = Descent(side, dtype, info.only_supports_sparse_grads)
        optimizer = self._optimizer(info, side, descent.parameters, kwargs)
        trace = []
        for number in range(STEPS):
            loss = descent.step(optimizer, info.step_requires_closure or number % 3 == 2)
            trace.append([None if loss is None else loss.detach(), [p.detach().clone() for p in descent.parameters]])
        return trace

    def _state(self, info: OptimizerInfo, side: ModuleType, kwargs: dict[str, Any], dtype: torch.dtype) -> list[Any]:
        first = Descent(side, dtype, info.only_supports_sparse_grads)
        optimizer = self._optimizer(info, side, first.parameters, kwargs)
        for _ in range(3):
            first.step(optimizer, info.step_requires_closure)
        saved = optimizer.state_dict()
        again = Descent(side, dtype, info.only_supports_sparse_grads)
        with side.no_grad():
            for parameter, value in zip(again.parameters, first.parameters, strict=True):
                parameter.copy_(value)
        successor = self._optimizer(info, side, again.parameters, {})
        successor.load_state_dict(saved)
        for _ in range(2):
            again.step(successor, info.step_requires_closure)
        return [_plain(saved), _plain(successor.state_dict()), [p.detach() for p in again.parameters]]

    def _flags(self, info: OptimizerInfo, kwargs: dict[str, Any], result: EntryResult) -> None:
        known = [flag for flag in FLAGS if flag in inspect.signature(info.optim_cls).parameters]
        chosen = [{flag: True} for flag in known] + [
            {one: True, other: True} for one, other in itertools.combinations(known, 2)
        ]
        chosen.append({"foreach": False} if "foreach" in known else {})
        for flags in chosen:
            given = {**kwargs, **flags}
            self._field(result, "flags", lambda side, k=given: self._steps(info, side, k, _dtypes(info)[0]))

    def _groups(self, info: OptimizerInfo, side: ModuleType, kwargs: dict[str, Any]) -> list[Any]:
        descent = Descent(side, _dtypes(info)[0], info.only_supports_sparse_grads)
        one, other = descent.parameters
        groups: list[dict[str, Any]] = [{"params": [("one", one)], "lr": 0.005}]
        optimizer = self._optimizer(info, side, groups, kwargs)
        optimizer.add_param_group({"params": [("other", other)]})
        for _ in range(3):
            descent.step(optimizer, info.step_requires_closure)
        optimizer.zero_grad()
        options = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
        defaults = dict(optimizer.defaults)
        return [repr(optimizer), options, defaults, [p.detach() for p in descent.parameters], one.grad is None]

    def _differentiated(self, info: OptimizerInfo, side: ModuleType, kwargs: dict[str, Any]) -> list[Any]:
        """Differentiate three steps by the parameters they start from and by their gradients."""
        generator = torch.Generator().manual_seed(SEED)
        values = [torch.randn(SHAPES[0], generator=generator, dtype=torch.float64) for _ in range(2)]
        start, slope = (value.requires_grad_(True) for value in Converter(side).to_target(values))
        moved = start.clone()
        optimizer = self._optimizer(info, side, [moved], {**kwargs, "differentiable": True})
        for _ in range(3):
            moved.grad = slope * 1.0
            optimizer.step()
        return [moved.detach(), *side.autograd.grad(moved.sum(), [start, slope], allow_unused=True)]

    def _schedulers(self, info: OptimizerInfo, side: ModuleType, schedulers: list[Any], way: int) -> list[Any]:
        descent = Descent(side, _dtypes(info)[0], info.only_supports_sparse_grads)
        optimizer = self._optimizer(info, side, descent.parameters, {} if way else {"lr": 0.01})
        made = [scheduler if side is torch else self.rebind(scheduler) for scheduler in schedulers]
        running = [make(optimizer) for make in made]
        trace: list[Any] = []
        for number in range(STEPS * 2):
            descent.step(optimizer, info.step_requires_closure)
            for scheduler in running:
                plateau = type(scheduler).__name__ == "ReduceLROnPlateau"
                scheduler.step(*([1.0 + number] if plateau else []))
                trace.append(scheduler.get_last_lr())
        trace.extend(_scheduler_state(scheduler) for scheduler in running)
        return [*trace, [p.detach() for p in descent.parameters]]

    def _error(self, info: OptimizerInfo, side: ModuleType, sample: Any, on_step: bool) -> list[Any]:
        params = sample.params
        if params is None:
            params = [torch.nn.Parameter(torch.randn(2, 3, generator=torch.Generator().manual_seed(SEED)))]
        given = _shared(Converter(side), params)
        optimizer = self._optimizer(info, side, given, sample.kwargs)
        if on_step:
            for parameter in given:
                parameter.grad = side.rand_like(parameter)
            optimizer.step()
        return [repr(optimizer)]


def _dtypes(info: OptimizerInfo) -> tuple[torch.dtype, ...]:
    """Return the dtypes of the runs: where the last bit decides how often LBFGS iterates, it gets enough of them."""
    return (torch.float64,) if info.step_requires_closure else (torch.float32, torch.float64)


def _attempt(trace: Trace, side: ModuleType) -> tuple[list[Any] | None, Exception | None]:
    """Run a trace; warnings of the optimizers are errors only where torch's samples expect one."""
    side.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*duplicate parameters.*")
        try:
            return trace(side), None
        except Exception as error:  # noqa: BLE001 - which error it is, is the question
            return None, error


def _plain(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state dict as the plain data that is compared."""
    return {
        "state": {k: dict(v) for k, v in state["state"].items()},
        "groups": [dict(g) for g in state["param_groups"]],
    }


def _scheduler_state(scheduler: Any) -> dict[str, Any]:
    return {key: value for key, value in scheduler.state_dict().items() if not callable(value)}


def _shared(converter: Converter, params: Any) -> Any:
    """Convert parameters, the same one to the same one: duplicates are what some samples are about."""
    done: dict[int, Any] = {}

    def convert(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            if id(value) not in done:
                done[id(value)] = converter.to_target(value)
            return done[id(value)]
        if isinstance(value, dict):
            return {key: convert(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return type(value)(convert(item) for item in value)
        return converter.to_target(value)

    return convert(params)
