"""Runs one op_db entry on torch and on the target, sample by sample, and judges every field."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.compare import Comparison, call_for_error, error_difference
from mindtorch_testing.convert import Converter, map_structure
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.overrides import GAUGE_FREE, UNINITIALISED, tolerances
from mindtorch_testing.sweep.rebind import MissingName, Rebinder
from mindtorch_testing.sweep.runner import SEED, Runner, ask_oracle, seed_generators, spread, tensors_in

SAMPLE_POOL = 64
"""How many of an entry's samples are generated; the ones that run are spread evenly over these."""


def unwritten(plain: Any, written: Any) -> bool:
    """Return whether torch itself left `out=` as it was, all zeros: its `ihfftn` over one dimension does."""
    # Some forms with out= return None.
    pairs = zip(tensors_in(plain, torch.is_tensor), tensors_in(written, torch.is_tensor), strict=False)
    dense = (pair for pair in pairs if pair[0].layout is torch.strided)
    return any(bool(one.any()) and not bool(other.any()) for one, other in dense)


class Call:
    """One callable on both sides."""

    def __init__(self, oracle: Callable[..., Any], rebind: Rebinder) -> None:
        self.oracle = oracle
        self.target = rebind(oracle)


def sample_dtype(info: OpInfo) -> torch.dtype | None:
    """Return the dtype the entry is run in: float32 where torch takes it, else int64, else bool, else any."""
    preferred = (torch.float32, torch.int64, torch.bool, torch.complex64)
    return next(itertools.chain((d for d in preferred if d in info.dtypes), info.dtypes), None)


class EntryRunner(Runner):
    """Runs entries of op_db."""

    @staticmethod
    def name_of(info: OpInfo) -> str:
        """Return the entry's name with its variant."""
        return info.full_name

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is None:
            return
        samples = self._values_and_gradients(info, dtype, result)
        for sample in samples[: self.limits.form_samples]:
            self._forms(info, sample, result)
        if info.error_inputs_func is not None:
            self._errors(info, result)

    def _values_and_gradients(self, info: OpInfo, dtype: torch.dtype, result: EntryResult) -> list[SampleInput]:
        samples = self._samples(info, dtype, grad=False)
        for sample in samples:
            self._forward(info, sample, result)
        if info.supports_autograd and dtype in info.backward_dtypes:
            for sample in self._samples(info, dtype, grad=True):
                self._backward(info, sample, result)
        return samples

    def _samples(self, info: OpInfo, dtype: torch.dtype, *, grad: bool) -> list[SampleInput]:
        seed_generators()
        pools = ask_oracle(
            lambda: list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=grad), SAMPLE_POOL))
        )
        return spread(pools[0], self.limits.samples) if pools else []

    # --- calling both sides

    def _inputs(self, sample: SampleInput, converter: Converter) -> tuple[Any, Any]:
        args, kwargs = converter.to_target(((sample.input, *sample.args), dict(sample.kwargs)))
        return map_structure(args, self.rebind_function), map_structure(kwargs, self.rebind_function)

    # --- fields

    def _forward(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        oracle_inputs = self._oracle_copy(sample)
        given = ask_oracle(lambda: self._on_oracle(info.op, *oracle_inputs))
        if not given:
            return
        (expected,) = given
        gauge = sample.output_process_fn_grad if info.name in GAUGE_FREE else None

        def run() -> list[str]:
            converter = Converter(self.target)
            actual = self._on_target(self.rebind(info.op), *self._inputs(sample, converter))
            return self._value_and_strides(info, converter, expected, actual, gauge)

        self._judge([result.outcome("forward"), result.outcome("strides")], run)

    def _value_and_strides(
        self, info: OpInfo, converter: Converter, expected: Any, actual: Any, gauge: Callable[[Any], Any] | None
    ) -> list[str]:
        values = info.name not in UNINITIALISED
        found = Comparison(converter, tolerances(info.name), values=values and gauge is None).compare(expected, actual)
        if gauge is not None and values:
            ours = self.rebind(gauge)(actual)
            found = found + [
                d
                for d in Comparison(converter, tolerances(info.name)).compare(gauge(expected), ours)
                if d.kind == "value"
            ]
        strides = [d for d in found if d.kind == "stride"]
        others = [d for d in found if d.kind not in ("stride", "requires_grad")]
        return [str(others[0]) if others else "", str((strides or others)[0]) if strides or others else ""]

    def _oracle_copy(self, sample: SampleInput) -> tuple[Any, Any]:
        return Converter(torch).to_target(((sample.input, *sample.args), dict(sample.kwargs)))

    def _forms(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        forms: list[tuple[str, Callable[..., Any] | None]] = [("method", info.method_variant)]
        if not sample.broadcasts_input:
            forms.append(("inplace", info.inplace_variant))
        for name, fn in forms:
            if callable(fn):
                self._form(info, name, fn, sample, result)
        if info.supports_out:
            self._out(info, sample, result)

    def _form(self, info: OpInfo, name: str, fn: Callable[..., Any], sample: SampleInput, result: EntryResult) -> None:
        given = ask_oracle(lambda: self._on_oracle(fn, *self._oracle_copy(sample)))
        if not given:
            return
        (expected,) = given

        def run() -> list[str]:
            converter = Converter(self.target)
            args, kwargs = self._inputs(sample, converter)
            actual = self._on_target(self.rebind(fn), args, kwargs)
            reason = self._value_and_strides(info, converter, expected, actual, None)[0]
            if name == "inplace" and not reason and converter.is_target_tensor(args[0]) and actual is not args[0]:
                reason = "identity: the in-place form does not return its input"
            return [reason]

        if info.name not in GAUGE_FREE:
            self._judge([result.outcome(name)], run)

    def _out(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        def write() -> tuple[Any, Any, Any]:
            plain = self._on_oracle(info.op, *self._oracle_copy(sample))
            out = map_structure(plain, lambda t: torch.zeros_like(t) if isinstance(t, torch.Tensor) else t)
            args, kwargs = self._oracle_copy(sample)
            return plain, out, self._on_oracle(info.op, args, {**kwargs, "out": Converter(torch).to_target(out)})

        given = ask_oracle(write)
        if not given:
            return
        plain, out, expected = given[0]
        if unwritten(plain, expected):
            return

        def run() -> list[str]:
            converter = Converter(self.target)
            args, kwargs = self._inputs(sample, converter)
            ours = converter.to_target(out)
            actual = self._on_target(self.rebind(info.op), args, {**kwargs, "out": ours})
            reason = self._value_and_strides(info, converter, expected, actual, None)[0]
            if not reason and converter.is_target_tensor(ours) and actual is not ours:
                reason = "identity: the result is not the tensor given as out="
            return [reason]

        if info.name not in GAUGE_FREE:
            self._judge([result.outcome("out")], run)

    def _backward(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        given = self._expected_gradients(info, sample)
        if given is None:
            return
        expected, cotangents = given

        def run() -> list[str]:
            converter = Converter(self.target)
            inputs = self._inputs(sample, converter)
            actual = self._gradients(info, sample, converter, inputs, [converter.to_target(c) for c in cotangents])
            if isinstance(actual, str):
                return [actual]
            found = Comparison(converter, tolerances(info.name, backward=True)).compare(list(expected), actual)
            found = [d for d in found if d.kind != "stride"]
            return [str(found[0]) if found else ""]

        self._judge([result.outcome("backward")], run)

    def _expected_gradients(self, info: OpInfo, sample: SampleInput) -> tuple[Any, Any] | None:
        """Return torch's gradients and the cotangents that they are of; None where there are none."""
        inputs = self._oracle_copy(sample)
        given = ask_oracle(lambda: self._oracle_gradients(info, sample, inputs))
        return given[0] if given and given[0][0] else None

    def _gradients(
        self, info: OpInfo, sample: SampleInput, converter: Converter, inputs: tuple[Any, Any], cotangents: list[Any]
    ) -> list[Any] | str:
        """Return the target's gradients, or what is wrong with its outputs."""
        process = self.rebind(sample.output_process_fn_grad)
        outputs = process(self._on_target(self.rebind(info.op), *inputs))
        roots = [t for t in tensors_in(outputs, converter.is_target_tensor) if t.requires_grad]
        if len(roots) != len(cotangents):
            return f"{len(roots)} outputs require grad where torch has {len(cotangents)}"
        leaves = [t for t in tensors_in(inputs, converter.is_target_tensor) if t.requires_grad]
        return list(self.target.autograd.grad(roots, leaves, cotangents, allow_unused=True))

    def _oracle_gradients(self, info: OpInfo, sample: SampleInput, inputs: tuple[Any, Any]) -> tuple[Any, Any]:
        outputs = sample.output_process_fn_grad(self._on_oracle(info.op, *inputs))
        roots = [t for t in tensors_in(outputs, torch.is_tensor) if t.requires_grad]
        leaves = [t for t in tensors_in(inputs, torch.is_tensor) if t.requires_grad]
        if not roots or not leaves:
            return [], []
        generator = torch.Generator().manual_seed(SEED)
        cotangents = [
            torch.empty(t.shape, dtype=t.dtype).normal_(generator=generator)
            if t.layout is torch.strided
            else torch.ones_like(t)
            for t in roots
        ]
        given = [Converter(torch).to_target(c) for c in cotangents]
        return torch.autograd.grad(roots, leaves, given, allow_unused=True), cotangents

    def _errors(self, info: OpInfo, result: EntryResult) -> None:
        seed_generators()
        for samples in ask_oracle(lambda: [error.sample_input for error in info.error_inputs("cpu")]):
            for sample in samples:
                self._error(info, sample, result)

    def _error(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        copies = ask_oracle(lambda: self._oracle_copy(sample))
        if not copies:
            return  # e.g. on a device that this machine does not have
        args, kwargs = copies[0]
        expected = call_for_error(lambda: self._on_oracle(info.op, args, kwargs))
        if expected is None:
            return

        def run() -> list[str]:
            args, kwargs = self._inputs(sample, Converter(self.target))
            actual = call_for_error(lambda: self._on_target(self.rebind(info.op), args, kwargs))
            if isinstance(actual, MissingName):
                raise actual
            return [error_difference(expected, actual)]

        self._judge([result.outcome("errors")], run)
