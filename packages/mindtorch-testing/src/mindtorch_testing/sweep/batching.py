"""Runs op_db's entries under `vmap`: a batch must give what its examples give one by one."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_dispatch.batching import fallback
from mindtorch_testing.compare import Comparison
from mindtorch_testing.convert import Converter, map_structure
from mindtorch_testing.sweep.entry import EntryRunner, sample_dtype
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.overrides import GAUGE_FREE, UNINITIALISED, tolerances
from mindtorch_testing.sweep.runner import ask_oracle, tensors_in

BATCH = 2
_RANDOM = "called random operation while in randomness error mode"
_LOOP = "There is a performance drop because we have not yet implemented the batching rule"


class _Form:
    """One way to map a sample: the mapped dimension of every tensor in it, None for those that stay whole."""

    def __init__(self, name: str, choose: Callable[[int, int], int | None]) -> None:
        self.name = name
        self.choose = choose


FORMS = (
    _Form("first", lambda place, count: 0),
    _Form("last", lambda place, count: -1),
    _Form("one", lambda place, count: 0 if place == 0 else None),
    _Form("others", lambda place, count: None if place == 0 and count > 1 else 0),
)


class BatchRunner(EntryRunner):
    """Judges `vmap`: results are those of a loop over the examples; `rule`: none of it was computed by a loop."""

    fields = ("vmap", "rule")
    headline = ("vmap",)

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is None:
            return
        for sample in self._samples(info, dtype, grad=False):
            for form in FORMS:
                self._mapped(info, sample, form, result)

    def _mapped(self, info: OpInfo, sample: SampleInput, form: _Form, result: EntryResult) -> None:
        if any(one.layout is not torch.strided for one in tensors_in((sample.input, sample.args), torch.is_tensor)):
            return
        theirs = _Mapped(torch, info.op, self._oracle_copy(sample), torch.is_tensor, form)
        if not theirs.tensors:
            return
        if not ask_oracle(lambda: [theirs.call(theirs.examples(number)) for number in range(BATCH)]):
            return

        def run() -> list[str]:
            converter = Converter(self.target)
            op = self.rebind(info.op)
            ours = _Mapped(self.target, op, self._inputs(sample, converter), converter.is_target_tensor, form)
            with _loops() as loops:
                try:
                    reason = self._difference(info, ours, converter)
                except Exception:
                    if ask_oracle(lambda: theirs.mapped("different")):
                        raise
                    reason = ""  # torch refuses it too
            looped = sorted(set(loops))
            return [f"{form.name}: {reason}" if reason else "", f"a loop over slices: {looped[0]}" if looped else ""]

        self._judge([result.outcome("vmap"), result.outcome("rule")], run)

    def _difference(self, info: OpInfo, ours: _Mapped, converter: Converter) -> str:
        """Return how the batch's result differs from that of the examples; "" when it does not."""
        values = info.name not in UNINITIALISED and info.name not in GAUGE_FREE
        try:
            actual = ours.mapped("error")
        except RuntimeError as error:
            if _RANDOM not in str(error):
                raise
            actual, values = ours.mapped("different"), False
        rows = [tensors_in(ours.call(ours.examples(number)), converter.is_target_tensor) for number in range(BATCH)]
        expected = [self.target.stack(list(column)) for column in zip(*rows, strict=True)]
        found = Comparison(converter, tolerances(info.name), values=values).compare(
            converter.to_oracle(expected), list(actual)
        )
        found = [one for one in found if one.kind not in ("stride", "requires_grad")]
        return str(found[0]) if found else ""


class _Mapped:
    """A call and its arguments on one side, their tensors stacked to batches."""

    def __init__(
        self, side: Any, op: Callable[..., Any], inputs: Any, is_tensor: Callable[[Any], bool], form: _Form
    ) -> None:
        self.side = side
        self.op = op
        self.inputs = inputs
        self.is_tensor = is_tensor
        tensors = tensors_in(inputs, is_tensor)
        self.tensors = [one.detach() for one in tensors]
        self.dims = [form.choose(place, len(tensors)) for place in range(len(tensors))]
        self.batches = [
            one if dim is None else side.stack([one, self._other(one)], dim)
            for one, dim in zip(self.tensors, self.dims, strict=True)
        ]

    @staticmethod
    def _other(tensor: Any) -> Any:
        """Return a second example: another value where that cannot break what the op asks for."""
        scalable = (tensor.dtype.is_floating_point and tensor.element_size() > 1) or tensor.dtype.is_complex
        return tensor * 0.875 if scalable else tensor.clone()

    def examples(self, number: int) -> list[Any]:
        """Return the arguments of one example."""
        return [
            one if dim is None else one.select(dim, number) for one, dim in zip(self.batches, self.dims, strict=True)
        ]

    def call(self, tensors: list[Any]) -> Any:
        """Call the op with these tensors in the places of its own."""
        remaining = iter(tensors)
        args, kwargs = map_structure(self.inputs, lambda leaf: next(remaining) if self.is_tensor(leaf) else leaf)
        return self.op(*args, **kwargs)

    def mapped(self, randomness: str) -> list[Any]:
        """Return the tensors of the mapped call."""

        def run(*tensors: Any) -> tuple[Any, ...]:
            return tuple(tensors_in(self.call(list(tensors)), self.is_tensor))

        found: tuple[Any, ...] = self.side.func.vmap(run, in_dims=tuple(self.dims), randomness=randomness)(
            *self.batches
        )
        return list(found)


@contextlib.contextmanager
def _loops() -> Iterator[list[str]]:
    """Collect the names of the ops that are computed by a loop in the block, each time they are."""
    found: list[str] = []
    fallback.warnings_shown().ops.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [str(one.message).split("rule for ")[1].split(".")[0] for one in caught if _LOOP in str(one.message)]
