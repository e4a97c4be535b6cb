"""Runs op_db's entries on the meta device and in forward mode."""

from __future__ import annotations

from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.compare import Comparison
from mindtorch_testing.convert import Converter, map_structure
from mindtorch_testing.sweep.entry import EntryRunner, sample_dtype
from mindtorch_testing.sweep.outcome import EntryResult
from mindtorch_testing.sweep.overrides import GAUGE_FREE, tolerances
from mindtorch_testing.sweep.runner import SEED, ask_oracle, tensors_in


class ModeRunner(EntryRunner):
    """Judges `meta`: the geometry without bytes is that of torch's result; `forward_mode`: tangents are torch's."""

    fields = ("meta", "forward_mode")
    headline = ("meta",)

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is None:
            return
        for sample in self._samples(info, dtype, grad=False):
            self._meta(info, sample, result)
        if info.supports_forward_ad and info.name not in GAUGE_FREE and dtype in info.backward_dtypes:
            for sample in self._samples(info, dtype, grad=True):
                self._forward_mode(info, sample, result)

    def _meta(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        """Only what torch itself can do without bytes is asked for."""

        def both() -> tuple[Any, Any]:
            held = self._on_oracle(info.op, *self._oracle_copy(sample))
            inputs = self._oracle_copy(sample)
            moved = map_structure(inputs, lambda t: t.to("meta") if isinstance(t, torch.Tensor) else t)
            return held, self._on_oracle(info.op, *moved)

        given = ask_oracle(both)
        if not given:
            return

        def run() -> list[str]:
            converter = Converter(self.target)
            inputs = self._inputs(sample, converter)
            ours = map_structure(inputs, lambda t: t.to("meta") if converter.is_target_tensor(t) else t)
            actual = self._on_target(self.rebind(info.op), *ours)
            # torch's own geometry without bytes differs from that of its kernels here and there; either is torch's.
            geometries = [Comparison(converter, values=False).compare(one, actual) for one in given[0]]
            found = [[d for d in one if d.kind != "requires_grad" and "device" not in d.text] for one in geometries]
            return [str(found[0][0]) if all(found) else ""]

        self._judge([result.outcome("meta")], run)

    def _forward_mode(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        args, kwargs = self._oracle_copy(sample)
        generator = torch.Generator().manual_seed(SEED)
        tangents = [
            torch.empty(t.shape, dtype=t.dtype).normal_(generator=generator)
            for t in tensors_in((args, kwargs), torch.is_tensor)
            if t.requires_grad
        ]
        found = ask_oracle(lambda: self._tangents(torch, info.op, (args, kwargs), tangents, torch.is_tensor))
        if not found or not found[0]:
            return
        (expected,) = found

        def run() -> list[str]:
            converter = Converter(self.target)
            inputs = self._inputs(sample, converter)
            given = [converter.to_target(t) for t in tangents]
            actual = self._tangents(self.target, self.rebind(info.op), inputs, given, converter.is_target_tensor)
            found = Comparison(converter, tolerances(info.name, backward=True)).compare(expected, actual)
            found = [d for d in found if d.kind not in ("stride", "requires_grad")]
            return [str(found[0]) if found else ""]

        self._judge([result.outcome("forward_mode")], run)

    def _tangents(self, library: Any, call: Any, inputs: Any, tangents: list[Any], is_tensor: Any) -> list[Any]:
        """Return the tangents of the results, in order; zeros for a result that has none."""
        forward_ad = library.autograd.forward_ad
        remaining = iter(tangents)
        run = self._on_oracle if library is torch else self._on_target
        with forward_ad.dual_level():

            def dual(leaf: Any) -> Any:
                if not (is_tensor(leaf) and leaf.requires_grad):
                    return leaf
                return forward_ad.make_dual(leaf.detach().clone(), next(remaining))

            outputs = tensors_in(run(call, *map_structure(inputs, dual)), is_tensor)
            found = [forward_ad.unpack_dual(one) for one in outputs if one.is_floating_point() or one.is_complex()]
            return [library.zeros_like(one.primal) if one.tangent is None else one.tangent.clone() for one in found]
