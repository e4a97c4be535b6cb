"""Runs one module_db entry: the same module built, loaded, called and differentiated on torch and on the target."""

from __future__ import annotations

import copy
import io
import itertools
import pickle
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar

import torch
from torch.nn.parameter import is_lazy
from torch.testing._internal.common_modules import FunctionInput, ModuleErrorEnum, ModuleInfo, ModuleInput

from mindtorch_testing.compare import TOLERANCES, Comparison, call_for_error, error_difference
from mindtorch_testing.convert import Converter, map_structure
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.overrides import BACKWARD, FORWARD, LOOSE
from mindtorch_testing.sweep.rebind import MissingName, resolve
from mindtorch_testing.sweep.runner import SEED, Runner, ask_oracle, seed_generators, spread, tensors_in
from mindtorch_testing.sweep.suites import MODULE_FIELDS

EXACT = dict.fromkeys(TOLERANCES, (0.0, 0.0))
"""Parameters drawn under the same seed are the same bits."""

MAGNIFYING = "nn.Transformer"
"""Stacked layer norms magnify the last bit of float32: torch and we are as far from float64, in which both agree."""

Parts = tuple[Any, dict[str, Any]]


class ModuleRunner(Runner):
    """Runs entries of module_db in float32 and float64, in training and in evaluation."""

    fields: ClassVar[tuple[str, ...]] = MODULE_FIELDS
    headline: ClassVar[tuple[str, ...]] = ("forward", "backward")

    def _run(self, info: ModuleInfo, result: EntryResult) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for dtype, training in itertools.product((torch.float32, torch.float64), (True, False)):
                for sample in self._samples(info, dtype, training):
                    self._sample(info, sample, dtype, training, result)
            if info.module_error_inputs_func is not None:
                self._errors(info, result)

    def _samples(self, info: ModuleInfo, dtype: torch.dtype, training: bool) -> list[ModuleInput]:
        seed_generators()
        found = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=training)
        return spread(list(found), self.limits.samples)

    def _sample(
        self, info: ModuleInfo, sample: ModuleInput, dtype: torch.dtype, training: bool, result: EntryResult
    ) -> None:
        made = ask_oracle(lambda: self._on_oracle(info.module_cls, *self._copied(sample.constructor_input)))
        if not made:
            return
        (theirs,) = made
        built: list[Any] = []

        def build() -> list[str]:
            converter = Converter(self.target)
            given = self._converted(sample.constructor_input, converter)
            built.append(self._on_target(self.rebind(info.module_cls), *given))
            return [
                self._state_difference(converter, theirs, built[0], EXACT),
                _differing(repr(theirs), repr(built[0])),
            ]

        self._judge([result.outcome("init"), result.outcome("repr")], build)
        if not built:
            for name in ("forward", "backward"):
                result.outcome(name).bad("the module cannot be built")
            return
        theirs, ours = theirs.to(dtype).train(training), built[0].to(self._dtype(dtype)).train(training)
        if any(map(is_lazy, theirs.parameters())):
            self._warm(theirs, ours, sample)
        self._judge([result.outcome("state")], lambda: [self._load(theirs, ours)])
        self._call(theirs, ours, sample, result)
        self._judge([result.outcome("copies")], lambda: [self._copies(ours, sample)])

    def _dtype(self, dtype: torch.dtype) -> Any:
        return resolve(self.target, str(dtype).removeprefix("torch."))

    def _warm(self, theirs: Any, ours: Any, sample: ModuleInput) -> None:
        """Let lazy modules learn their shapes: a failure of ours shows in the fields judged next."""
        self._on_oracle(theirs, *self._copied(sample.forward_input))
        call_for_error(lambda: self._on_target(ours, *self._converted(sample.forward_input, Converter(self.target))))

    def _copied(self, given: FunctionInput) -> Parts:
        return Converter(torch).to_target((given.args, given.kwargs))

    def _converted(self, given: FunctionInput, converter: Converter) -> Parts:
        args, kwargs = converter.to_target((given.args, given.kwargs))
        return map_structure(args, self.rebind_function), map_structure(kwargs, self.rebind_function)

    # --- fields

    def _state_difference(self, converter: Converter, theirs: Any, ours: Any, tolerances: Any) -> str:
        expected, actual = dict(theirs.state_dict()), dict(ours.state_dict())
        lazy = [name for name, value in expected.items() if is_lazy(value)]
        for name in lazy:
            kinds = type(expected[name]).__name__, type(actual[name]).__name__
            if kinds[0] != kinds[1]:
                return f"{name}: {kinds[1]} where torch has {kinds[0]}"
            expected[name] = actual[name] = None
        found = Comparison(converter, tolerances).compare(expected, actual)
        return str(found[0]) if found else ""

    def _load(self, theirs: Any, ours: Any) -> str:
        converter = Converter(self.target)
        keys = ours.load_state_dict(converter.to_target(dict(theirs.state_dict())))
        if keys.missing_keys or keys.unexpected_keys:
            return f"load_state_dict: {keys}"
        return self._state_difference(converter, theirs, ours, EXACT)

    def _call(self, theirs: Any, ours: Any, sample: ModuleInput, result: EntryResult) -> None:
        inputs = self._copied(sample.forward_input)
        answer = ask_oracle(lambda: self._on_oracle(theirs, *inputs))
        if not answer:
            return
        (expected,) = answer
        converter = Converter(self.target)
        outputs: list[Any] = []
        given: list[Any] = []

        def forward() -> list[str]:
            given.append(self._converted(sample.forward_input, converter))
            outputs.append(self._on_target(ours, *given[0]))
            found = Comparison(converter, _tolerances(FORWARD)).compare(expected, outputs[0])
            strides = [d for d in found if d.kind == "stride"]
            others = [str(d) for d in found if d.kind != "stride"]
            others.append(self._state_difference(converter, theirs, ours, _tolerances(FORWARD)))
            return [others[0], str(strides[0]) if strides else ""]

        self._judge([result.outcome("forward"), result.outcome("strides")], forward)
        roots = [t for t in tensors_in(expected, torch.is_tensor) if t.requires_grad]
        leaves = [*theirs.parameters(), *(t for t in tensors_in(inputs, torch.is_tensor) if t.requires_grad)]
        if not roots:
            return
        if not outputs:
            result.outcome("backward").bad("no result to differentiate")
            return
        cotangents = _cotangents(roots)
        gradients = torch.autograd.grad(roots, leaves, [c.clone() for c in cotangents], allow_unused=True)

        single = LOOSE if result.name.startswith(MAGNIFYING) else BACKWARD

        def backward() -> list[str]:
            mine = [t for t in tensors_in(outputs[0], converter.is_target_tensor) if t.requires_grad]
            if len(mine) != len(roots):
                return [f"{len(mine)} outputs require grad where torch has {len(roots)}"]
            inner = [t for t in tensors_in(given[0], converter.is_target_tensor) if t.requires_grad]
            seeds = [converter.to_target(c) for c in cotangents]
            actual = self.target.autograd.grad(mine, [*ours.parameters(), *inner], seeds, allow_unused=True)
            found = Comparison(converter, _tolerances(single)).compare(list(gradients), list(actual))
            found = [d for d in found if d.kind != "stride"]
            return [str(found[0]) if found else ""]

        self._judge([result.outcome("backward")], backward)

    def _copies(self, ours: Any, sample: ModuleInput) -> str:
        """A deep copy and a pickled copy are the same module and compute the same."""
        expected = Converter(self.target).to_oracle(self._evaluated(ours, sample))
        for way, again in (("deepcopy", copy.deepcopy(ours)), ("pickle", self._pickled(ours))):
            if repr(again) != repr(ours) or type(again) is not type(ours):
                return f"{way}: {again!r}"
            found = Comparison(Converter(self.target), EXACT).compare(expected, self._evaluated(again, sample))
            found = [difference for difference in found if difference.kind != "requires_grad"]
            if found:
                return f"{way}: {found[0]}"
        return ""

    def _evaluated(self, module: Any, sample: ModuleInput) -> Any:
        converter = Converter(self.target)
        state = {name: value.clone() for name, value in module.state_dict().items()}
        output = self._on_target(module, *self._converted(sample.forward_input, converter))
        module.load_state_dict(state)
        return [*tensors_in(output, converter.is_target_tensor), *state.values()]

    def _pickled(self, module: Any) -> Any:
        stream = io.BytesIO()
        TargetPickler(stream, self.target).dump(module)
        TargetPickler.target = self.target
        return pickle.loads(stream.getvalue())

    # --- errors

    def _errors(self, info: ModuleInfo, result: EntryResult) -> None:
        for training in (True, False):
            seed_generators()
            samples = info.module_error_inputs_func(
                info, device="cpu", dtype=torch.float32, requires_grad=False, training=training
            )
            for error in samples:
                self._error(info, error, training, result)

    def _error(self, info: ModuleInfo, error: Any, training: bool, result: EntryResult) -> None:
        sample = error.module_error_input
        call = error.error_on is ModuleErrorEnum.FORWARD_ERROR

        def attempt(cls: Any, run: Callable[..., Any], parts: Callable[[FunctionInput], Parts]) -> Exception | None:
            def steps() -> None:
                module = run(cls, *parts(sample.constructor_input))
                if call:
                    run(module.train(training), *parts(sample.forward_input))

            return call_for_error(steps)

        expected = attempt(info.module_cls, self._on_oracle, self._copied)
        if expected is None:
            return

        def judged() -> list[str]:
            converter = Converter(self.target)
            cls = self.rebind(info.module_cls)
            actual = attempt(cls, self._on_target, lambda given: self._converted(given, converter))
            if isinstance(actual, MissingName):
                raise actual
            return [error_difference(expected, actual)]

        self._judge([result.outcome("errors")], judged)


class TargetPickler(pickle.Pickler):
    """Pickles by the target's own names: its classes say that they are torch's, whose module is another one here."""

    target: ClassVar[Any] = None

    def __init__(self, stream: io.BytesIO, target: Any) -> None:
        super().__init__(stream)
        self._target = target

    def reducer_override(self, value: Any) -> Any:
        """Save a class or function of the target by its name below the target; leave the rest to pickle."""
        if isinstance(value, (type, FunctionType)) and (value.__module__ or "").split(".")[0] == "torch":
            dotted = ".".join([*value.__module__.split(".")[1:], value.__qualname__])
            if resolve(self._target, dotted) is value:
                return _find, (dotted,)
        return NotImplemented


def _find(dotted: str) -> Any:
    return resolve(TargetPickler.target, dotted)


def _tolerances(single: tuple[float, float]) -> dict[torch.dtype, tuple[float, float]]:
    return {**TOLERANCES, torch.float32: single}


def _cotangents(roots: list[torch.Tensor]) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(SEED)
    return [torch.empty(t.shape, dtype=t.dtype).normal_(generator=generator) for t in roots]


def _differing(expected: str, actual: str) -> str:
    return "" if expected == actual else f"{actual!r} != {expected!r}"
