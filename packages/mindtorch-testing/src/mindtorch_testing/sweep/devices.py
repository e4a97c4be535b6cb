"""Runs op_db's entries on the simulated Ascend device: values and gradients are those of torch's CPU."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from mindtorch_testing.compare import Comparison
from mindtorch_testing.convert import Converter, is_namedtuple, map_structure
from mindtorch_testing.sweep.entry import EntryRunner, sample_dtype
from mindtorch_testing.sweep.outcome import EntryResult, Outcome
from mindtorch_testing.sweep.overrides import GAUGE_FREE, UNINITIALISED, tolerances
from mindtorch_testing.sweep.runner import Limits, ask_oracle, tensors_in

SIMULATOR = "MINDTORCH_NPU_SIMULATOR"
CHIP = "Ascend910B3:1,memory=2GiB"
HOST = "npu: a host kernel was run in the device's place: "
RANDOM = frozenset(
    "bernoulli cauchy exponential geometric log_normal multinomial normal nn.functional.alpha_dropout "
    "nn.functional.dropout nn.functional.dropout2d nn.functional.dropout3d "
    "nn.functional.feature_alpha_dropout nn.functional.multi_head_attention_forward "
    "nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool3d nn.functional.rrelu "
    "rand_like randint randint_like randn randn_like svd_lowrank pca_lowrank uniform".split()
)
"""Entries whose results come from the random stream, which is the device's own: the geometry is compared."""


class NpuRunner(EntryRunner):
    """Judges `forward` and `backward` with every tensor on the device; a result elsewhere is a failure."""

    def __init__(self, target: ModuleType, limits: Limits) -> None:
        os.environ.setdefault(SIMULATOR, CHIP)
        super().__init__(target, limits)
        self._watched = _watch_host() if target is not torch else []

    def _run(self, info: OpInfo, result: EntryResult) -> None:
        dtype = sample_dtype(info)
        if dtype is not None:
            self._values_and_gradients(info, dtype, result)

    def _inputs(self, sample: SampleInput, converter: Converter) -> tuple[Any, Any]:
        moved: dict[int, Any] = {}

        def move(leaf: Any) -> Any:
            if converter.is_target_tensor(leaf):
                if id(leaf) not in moved:
                    moved[id(leaf)] = self._moved(leaf)
                return moved[id(leaf)]
            if isinstance(leaf, self.target.device) and leaf.type == "cpu":
                return self.target.device("npu")
            return leaf

        args, kwargs = super()._inputs(sample, converter)
        if kwargs.get("device") == "cpu":
            kwargs["device"] = "npu"
        return map_structure(args, move), map_structure(kwargs, move)

    def _judge(self, outcomes: list[Outcome], run: Callable[[], list[str]]) -> None:
        """Run one sample; what it leaves behind on the device is forgotten, and its failure is told in full."""

        def told() -> list[str]:
            try:
                return run()
            except RuntimeError as error:
                if type(error).__name__ != "AclError":
                    raise
                return ["raised AclError: " + " | ".join(str(error).splitlines())[:300]]

        super()._judge(outcomes, told)
        if self.target is not torch:
            importlib.import_module("mindtorch_npu.simulator").machine().forget_errors(0)

    def _moved(self, tensor: Any) -> Any:
        """Return the tensor on the device with its strides: a view of a copy of its whole storage."""
        plain = tensor.detach()
        if plain.layout is not self.target.strided or plain.numel() == 0:
            made = plain.to("npu")
        else:
            size = plain.untyped_storage().nbytes() // plain.element_size()
            block = plain.as_strided((size,), (1,), 0).to("npu")
            made = block.as_strided(plain.shape, plain.stride(), plain.storage_offset())
        if isinstance(tensor, self.target.nn.Parameter):
            return self.target.nn.Parameter(made, requires_grad=tensor.requires_grad)
        return made.requires_grad_(tensor.requires_grad)

    def _home(self, value: Any, converter: Converter) -> Any:
        """Return a result with its tensors on the host, where they are compared."""
        if is_namedtuple(value) and not hasattr(value, "_fields"):
            return type(value)([self._home(item, converter) for item in value])
        return map_structure(value, lambda t: t.detach().cpu() if converter.is_target_tensor(t) else t)

    def _misplaced(self, info: OpInfo, value: Any, converter: Converter, given: Any) -> str:
        if not any(t.device.type == "npu" for t in tensors_in(given, converter.is_target_tensor)):
            return ""
        wrong = [t for t in tensors_in(value, converter.is_target_tensor) if t.device.type != "npu"]
        return f"device: a result is on {wrong[0].device}" if wrong else ""

    def _forward(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        given = ask_oracle(lambda: self._on_oracle(info.op, *self._oracle_copy(sample)))
        if not given:
            return
        (expected,) = given
        gauge = sample.output_process_fn_grad if info.name in GAUGE_FREE else None

        def run() -> list[str]:
            converter = Converter(self.target)
            inputs = self._inputs(sample, converter)
            self._watched.clear()
            actual = self._on_target(self.rebind(info.op), *inputs)
            ran = self._ran()
            home = self._home(actual, converter)
            expected_values = expected
            if gauge is not None:
                home, expected_values = self._home(self.rebind(gauge)(actual), converter), gauge(expected)
            values = info.name not in UNINITIALISED and not _draws(info, sample)
            found = Comparison(converter, tolerances(info.name), values=values).compare(expected_values, home)
            found = [d for d in found if d.kind not in ("stride", "requires_grad") and "device" not in d.text]
            misplaced = self._misplaced(info, actual, converter, inputs)
            return [str(found[0]) if found else misplaced or ran]

        self._judge([result.outcome("forward")], run)

    def _ran(self) -> str:
        return HOST + ", ".join(sorted(set(self._watched))[:5]) if self._watched else ""

    def _backward(self, info: OpInfo, sample: SampleInput, result: EntryResult) -> None:
        given = self._expected_gradients(info, sample)
        if given is None:
            return
        expected, cotangents = given

        def run() -> list[str]:
            converter = Converter(self.target)
            inputs = self._inputs(sample, converter)
            directions = [converter.to_target(c).to("npu") for c in cotangents]
            self._watched.clear()
            actual = self._gradients(info, sample, converter, inputs, directions)
            if isinstance(actual, str):
                return [actual]
            ran = self._ran()
            values = not _draws(info, sample)
            home = self._home(actual, converter)
            found = Comparison(converter, tolerances(info.name, backward=True), values=values).compare(
                list(expected), home
            )
            found = [d for d in found if d.kind not in ("stride", "requires_grad") and "device" not in d.text]
            return [str(found[0]) if found else self._misplaced(info, actual, converter, inputs) or ran]

        self._judge([result.outcome("backward")], run)


def _draws(info: OpInfo, sample: SampleInput) -> bool:
    """Return whether the results come from the random stream."""
    return info.name in RANDOM or sample.kwargs.get("dropout_p", 0.0) > 0


def _watch_host() -> list[str]:
    """Note every kernel of the host that is run from now on in the list that is returned."""
    importlib.import_module("mindtorch_cpu.ops")
    kernels = importlib.import_module("mindtorch_dispatch.table").kernels["cpu"]
    ran: list[str] = []
    for name, kernel in kernels.items():
        kernel.fn = _noted(kernel.fn, name, ran)
    return ran


def _noted(fn: Any, name: str, ran: list[str]) -> Any:
    def run(*values: Any) -> Any:
        ran.append(name)
        return fn(*values)

    return run
