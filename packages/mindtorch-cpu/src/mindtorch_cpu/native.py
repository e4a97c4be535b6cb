"""The native module `mindtorch_cpu._native`, where it is built: kernels for dense operands.

`mindtorch_storage.native_module` says when it is taken. `MINDTORCH_INSTRUCTIONS` (base, v2, v3, v4) keeps its loops from
wider instructions than it names; unset, they are the widest that the processor has (`module.INSTRUCTIONS`).
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from mindtorch_dispatch import table
from mindtorch_dispatch.interface.native import native_path
from mindtorch_storage.dtype import bfloat16
from mindtorch_storage.native_module import load_native

from . import checksum, host_memory, lists, reduced
from .generator import default_generator
from .random.capability import capability
from .steps import steps
from .threads import threads

SETS = ("base", "v2", "v3", "v4")
"""Instruction sets that loops are built for: the least of a processor's family, then x86-64's levels."""

STEPS = "steps."
"""What begins the names of native kernels that stand before what several families' numpy kernels do (`steps.steps`)."""


HINT = "Where libgomp.so.1 is missing: apt-get install libgomp1, or dnf install libgomp"
"""The wheels bring no copy of OpenMP."""


def declaration() -> str:
    """Return what the module must have been built from: the digest of its stub."""
    return hashlib.sha256(Path(__file__).with_name("_native.pyi").read_bytes()).hexdigest()


def load() -> Any:
    """Return the native module, None where it is absent or not wanted.

    Raises ValueError for a value that a variable cannot have, ImportError where it is demanded and no module loads.
    """
    instructions = os.environ.get("MINDTORCH_INSTRUCTIONS", "")
    if instructions not in ("", *SETS):
        raise ValueError(f"MINDTORCH_INSTRUCTIONS is one of {', '.join(SETS)} or unset, not {instructions!r}")
    built_from = ("DECLARATION", declaration())
    return load_native("mindtorch_cpu._native", "mindtorch-cpu", built_from, "numpy kernels are used", HINT)


def _with_native(module: Any, row: str, takes_halves: bool) -> table.Kernel:
    """Return the row's kernel with the native one before numpy's."""
    entry = table.kernels["cpu"][row]
    fallback = reduced.widening(module.kernel(row, entry.fn), entry.fn) if takes_halves else entry.fn
    return table.Kernel(module.kernel(row, fallback), entry.upcast, entry.aliases_ok, takes_halves)


def rows() -> list[str]:
    """Return the rows whose numpy kernels a native one stands before."""
    names = [row for words, _ in module.kernels() for row in words.split()] if module else []
    return [row for row in names if not row.startswith(STEPS)]


def install(module: Any) -> None:
    """Put the module's kernels before numpy's."""
    module.use_bfloat16(bfloat16.np)
    module.draw_from(default_generator, capability.fused, capability.vector_normal)
    for rows, takes_halves in module.kernels():
        for row in rows.split():
            if row.startswith(STEPS):
                step = row.removeprefix(STEPS)
                steps[step] = module.kernel(row, steps[step])
            else:
                table.kernels["cpu"][row] = _with_native(module, row, takes_halves)
    lists.install(module)
    host_memory.install(module)
    checksum.install(module)
    threads.use_pool(module)
    native_path.memory.give(module.MEMORY)


module = load()
"""The native module in use, None where Python and numpy do everything."""
