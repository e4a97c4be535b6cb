"""The databases of torch that a sweep runs over: their entries, their runner, their scoreboard, their page."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindtorch_testing.sweep import outcome
from mindtorch_testing.sweep.board import BOARDS
from mindtorch_testing.sweep.runner import Limits, Runner

MODULE_FIELDS = ("init", "forward", "strides", "backward", "state", "repr", "copies", "errors")
"""What is judged per module, in the order in which it is shown."""

OPTIMIZER_FIELDS = ("steps", "flags", "differentiable", "state", "groups", "schedulers", "errors")
"""What is judged per optimizer, in the order in which it is shown."""


@dataclass(frozen=True)
class Suite:
    """One database. Databases and runners are named, not held: importing torch's takes seconds."""

    name: str
    fields: tuple[str, ...]
    database: str
    runner: str
    key: str
    page: str
    text: str
    columns_of: str = ""
    """The suite whose table this one's results are columns of."""
    title: str = ""
    """The title of the one column that shows all fields; without one each field is a column."""

    @property
    def board(self) -> Path:
        """Return the path of the committed scoreboard."""
        return BOARDS / f"{self.name}.json"

    @property
    def headline(self) -> tuple[str, ...]:
        """Return the fields that an entry which crashed fails."""
        return self.fields[:2]

    def entries(self) -> dict[str, Any]:
        """Return the database's entries by name."""
        return {getattr(info, self.key): info for info in _named(self.database)}

    def make_runner(self, target: str, limits: Limits) -> Runner:
        """Return the runner of the entries against a target module."""
        return _named(self.runner)(importlib.import_module(target), limits)


def _named(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


OPS = Suite(
    "ops",
    outcome.FIELDS,
    "torch.testing._internal.common_methods_invocations:op_db",
    "mindtorch_testing.sweep.entry:EntryRunner",
    "full_name",
    "ops.md",
    """Every entry of
torch's own `op_db` runs on torch and on MindTorch with the same samples and the same seed. `forward`
compares values, dtypes and shapes, `strides` the memory layout of the results, `backward` the gradients
for random cotangents, `errors` the exact type and text for wrong input; `method`, `inplace` and `out` are
the other ways to call it. These run in float32 where torch has it; the columns named by a dtype say whether
values, strides and gradients agree in that one. `meta` compares the geometry of results without bytes,
`forward_mode` tangents. `vmap` compares the results for a
batch with those of its examples one by one, `rule` says that no loop over examples computed them.
`overlap` is `out=` that shares memory with an operand, all of it or a part, or with itself.
`layouts` has the operands transposed, permuted, channels last, every other element or a part of a larger tensor.
`npu` says whether values and gradients agree with every tensor on the simulated
Ascend device, no kernel of the host taking part; entries that draw random numbers, which come from the
device's own stream, are compared by geometry there.""",
)

MODULES = Suite(
    "modules",
    MODULE_FIELDS,
    "torch.testing._internal.common_modules:module_db",
    "mindtorch_testing.sweep.modules:ModuleRunner",
    "name",
    "modules.md",
    """Every entry of
torch's own `module_db` is built on torch and on MindTorch under the same seed, in float32 and float64, in
training and in evaluation. `init` compares the fresh parameters bit for bit, `forward` results and buffers,
`strides` the memory layout of the results, `backward` the gradients of parameters and inputs, `state` the
keys of `state_dict` and loading torch's, `repr` the text, `copies` deep copies and pickles, `errors` the
exact type and text for wrong input.""",
)

OPTIMIZERS = Suite(
    "optimizers",
    OPTIMIZER_FIELDS,
    "torch.testing._internal.common_optimizers:optim_db",
    "mindtorch_testing.sweep.optimizers:OptimizerRunner",
    "name",
    "modules.md",
    """Every configuration of
torch's own `optim_db` makes ten steps on torch and on MindTorch. `steps` compares the parameters after each,
`flags` does so (or compares the refusals) with `foreach`, `fused`, `capturable` and `differentiable`,
`differentiable` the gradients through three steps, `state` the state and what a loaded state goes on with,
`groups` parameter groups with options of their own and the text, `schedulers` the learning rates and their
state, `errors` the exact type and text for wrong input.""",
)

DTYPES = tuple(
    Suite(
        f"ops-{dtype.lower()}",
        ("forward", "strides", "backward"),
        OPS.database,
        f"mindtorch_testing.sweep.dtypes:{dtype}Runner",
        OPS.key,
        OPS.page,
        "",
        OPS.name,
        dtype.lower(),
    )
    for dtype in ("Float64", "BFloat16", "Int32", "Complex64")
)
"""op_db again, in other dtypes than the sweep's own; they are columns of its page."""

MODES = Suite(
    "ops-modes",
    ("meta", "forward_mode"),
    OPS.database,
    "mindtorch_testing.sweep.modes:ModeRunner",
    OPS.key,
    OPS.page,
    "",
    OPS.name,
)
"""op_db without bytes and with tangents; columns of its page as well."""

NPU = Suite(
    "ops-npu",
    ("forward", "backward"),
    OPS.database,
    "mindtorch_testing.sweep.devices:NpuRunner",
    OPS.key,
    OPS.page,
    "",
    OPS.name,
    "npu",
)
"""op_db on the simulated Ascend device; a column of its page."""

VMAP = Suite(
    "ops-vmap",
    ("vmap", "rule"),
    OPS.database,
    "mindtorch_testing.sweep.batching:BatchRunner",
    OPS.key,
    OPS.page,
    "",
    OPS.name,
)
"""op_db under `vmap`; a column of its page."""

OVERLAP = Suite(
    "ops-overlap",
    ("full", "partial", "within"),
    OPS.database,
    "mindtorch_testing.sweep.overlap:OverlapRunner",
    OPS.key,
    OPS.page,
    "",
    OPS.name,
    "overlap",
)
"""op_db with `out=` over the memory of an operand, or over itself; a column of its page."""

LAYOUTS = Suite(
    "ops-layouts",
    ("forward", "strides", "backward", "errors"),
    OPS.database,
    "mindtorch_testing.sweep.layouts:LayoutRunner",
    OPS.key,
    OPS.page,
    "",
    OPS.name,
    "layouts",
)
"""op_db with operands that lie otherwise in memory; a column of its page."""

SUITES = {suite.name: suite for suite in (OPS, *DTYPES, MODES, NPU, VMAP, OVERLAP, LAYOUTS, MODULES, OPTIMIZERS)}
