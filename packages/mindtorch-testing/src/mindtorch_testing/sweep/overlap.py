"""Runs op_db's entries with `out=` over the memory of an operand, or over itself: what torch refuses is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.compare import Comparison, call_for_error, error_difference
from mindtorch_testing.convert import Converter, map_structure
from mindtorch_testing.sweep.entry import EntryRunner, sample_dtype
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.overrides import GAUGE_FREE, UNINITIALISED, tolerances
from mindtorch_testing.sweep.rebind import MissingName
from mindtorch_testing.sweep.runner import ask_oracle, tensors_in

OPERANDS, RESULTS = 4, 3
"""How many operands and results of a sample take part."""


REPEATED = "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
"""How torch's error begins for an output over itself."""


@dataclass(frozen=True)
class Placing:
    """Which operand of a call shares memory with which of its results, and how."""

    field: str
    operand: int
    result: int

    def __str__(self) -> str:
        return f"{self.field} of operand {self.operand} and result {self.result}"


class OverlapRunner(EntryRunner):
    """Judges `full` (`out=` begins where an operand does), `partial` (an element later), `within` (`out=` over itself).

    Where torch refuses, the error is compared; where it answers, ours has to write what torch writes or what it returns
    without `out=`: what a kernel reads of what it has already written is not defined. Nor is what stays where several
    elements are written over one another, so that ours may refuse `within` where torch does not look.
    """

    fields = ("full", "partial", "within")
    headline = ("full",)

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is None or info.name.startswith("__"):  # that reflected operators of torch take `out=` is an accident
            return
        for sample in self._samples(info, dtype, grad=False):
            plain = ask_oracle(lambda sample=sample: self._written(info, sample))
            if plain:
                for placing in self._placings(sample, plain[0]):
                    self._overlap(info, sample, plain[0], placing, result)

    def _written(self, info: OpInfo, sample: SampleInput) -> Any:
        """Return what torch returns; an error where it has no `out=`."""
        plain = self._on_oracle(info.op, *self._oracle_copy(sample))
        args, kwargs = self._oracle_copy(sample)
        out = map_structure(plain, lambda t: torch.zeros_like(t) if isinstance(t, torch.Tensor) else t)
        self._on_oracle(info.op, args, {**kwargs, "out": out})
        return plain

    def _placings(self, sample: SampleInput, plain: object) -> Iterator[Placing]:
        operands = tensors_in(self._oracle_copy(sample), torch.is_tensor)
        results = tensors_in(plain, torch.is_tensor)
        if any(one.layout is not torch.strided for one in (*operands, *results)):
            return
        for result in range(min(len(results), RESULTS)):
            if results[result].numel() > 1:
                yield Placing("within", 0, result)
            for field, operand in itertools.product(("full", "partial"), range(min(len(operands), OPERANDS))):
                if operands[operand].numel() and results[result].numel():
                    yield Placing(field, operand, result)

    def _overlap(self, info: OpInfo, sample: SampleInput, plain: object, placing: Placing, result: EntryResult) -> None:
        args, kwargs, out = arranged(torch, self._oracle_copy(sample), plain, placing, Converter(torch))
        expected = call_for_error(lambda: self._on_oracle(info.op, args, {**kwargs, "out": out}))

        def run() -> list[str]:
            converter = Converter(self.target)
            given = self._inputs(sample, converter)
            args, kwargs, ours = arranged(self.target, given, plain, placing, converter)
            op = self.rebind(info.op)
            actual = call_for_error(lambda: self._on_target(op, args, {**kwargs, "out": ours}))
            if isinstance(actual, MissingName) or type(actual) is NotImplementedError is not type(expected):
                raise actual
            if expected is not None:
                reason = error_difference(expected, actual)
            elif placing.field == "within" and str(actual).startswith(REPEATED):
                reason = ""
            elif actual is not None:
                reason = f"torch answers, ours raises {type(actual).__name__}: {actual}"
            else:
                reason = self._difference(info, converter, placing, (plain, out), ours)
            return [f"{placing}: {reason}" if reason else ""]

        self._judge([result.outcome(placing.field)], run)

    def _difference(
        self, info: OpInfo, converter: Converter, placing: Placing, allowed: tuple[object, ...], ours: object
    ) -> str:
        if info.name in GAUGE_FREE or info.name in UNINITIALISED or placing.field == "within":
            return ""
        every = [Comparison(converter, tolerances(info.name)).compare(one, ours) for one in allowed]
        found = [[d for d in one if d.kind == "value"] for one in every]
        return str(found[0][0]) if all(found) else ""


def arranged(
    library: ModuleType, given: object, plain: object, placing: Placing, converter: Converter
) -> tuple[Any, Any, Any]:
    """Return arguments and `out=` of a call whose operand and result lie in one memory."""
    results = tensors_in(plain, torch.is_tensor)
    operands = tensors_in(given, lambda value: isinstance(value, library.Tensor))
    target = results[placing.result]
    if placing.field == "within":
        # As many elements as the result lie behind it: some kernels of torch write as if it were contiguous.
        fresh = library.zeros(target.numel(), dtype=getattr(library, str(target.dtype).removeprefix("torch.")))
        out, replaced = fresh[:1].expand(tuple(target.shape)), None
    else:
        replaced, out = _sharing(library, operands[placing.operand], target, placing.field == "partial")
    moved = _replace(operands[placing.operand], replaced) if replaced is not None else lambda leaf: leaf
    args, kwargs = map_structure(given, moved)
    counter = itertools.count()

    def as_out(leaf: object) -> object:
        if not isinstance(leaf, torch.Tensor):
            return leaf
        return out if next(counter) == placing.result else converter.to_target(torch.zeros_like(leaf))

    return args, kwargs, map_structure(plain, as_out)


def _replace(old: object, new: object) -> Callable[[Any], Any]:
    return lambda leaf: new if leaf is old else leaf


def _sharing(library: ModuleType, operand: torch.Tensor, result: torch.Tensor, shifted: bool) -> tuple[Any, Any]:
    """Return the operand and an output of the result's geometry that begins with it, or a bit later."""
    dtype = getattr(library, str(result.dtype).removeprefix("torch."))
    shape, same = tuple(result.shape), operand.dtype == dtype
    if same and tuple(operand.shape) == shape and not shifted:
        return operand, operand
    shift = max(operand.element_size(), result.element_size()) if shifted else 0
    read, written = operand.numel() * operand.element_size(), result.numel() * result.element_size()
    memory = library.zeros(max(read, shift + written), dtype=library.uint8)
    moved = memory[:read].view(operand.dtype).view(tuple(operand.shape))
    moved.copy_(operand)
    return moved, memory[shift : shift + written].view(dtype).view(shape)
