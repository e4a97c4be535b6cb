"""`torch.export.export`: a module as a graph of the operators that one call of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindtorch as torch
from mindtorch._dynamo.exc import UserErrorType
from mindtorch.compiler._phases import Phase, entered
from mindtorch.export._capture import capture
from mindtorch.export._names import by_parameter, leaf_path
from mindtorch.export._specifications import refused, varying
from mindtorch.export._varied import capture_varied
from mindtorch.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature


def export(
    mod: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: dict[str, Any] | tuple[Any, ...] | list[Any] | None = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Return the graph of the operators that a call of `mod` runs. Nothing is computed: the call runs on fake tensors.

    Shapes, numbers and the branches that were taken are those of `args` and `kwargs`, but for sizes that `dynamic_shapes` lets
    vary; the program's module refuses others.

    Args:
        dynamic_shapes: for every argument the dimensions that vary, as `{0: Dim("batch")}`. The program is captured at several
            sizes, and what differs is computed from them.
        strict: accepted; the call is recorded, its source is not analysed.

    Raises:
        ValueError: `mod` is no module.
        NotImplementedError: a number follows the sizes in no way that is found, or submodules whose calls are to be kept apart.
        RuntimeError: the program asks for the value of a tensor.
        UserError: the program does not take the sizes that `dynamic_shapes` promises.

    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),))
    >>> [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    ['aten.linear.default']
    >>> program.module()(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    >>> batch = torch.export.Dim("batch")
    >>> varied = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),), dynamic_shapes=({0: batch},))
    >>> varied.module()(torch.ones(7, 2)).shape, varied.range_constraints
    (torch.Size([7, 1]), {s31: VR[0, int_oo]})
    """
    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        text = f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}"
        raise refused(UserErrorType.INVALID_INPUT, text)
    if preserve_module_call_signature:
        raise NotImplementedError("torch.export.export: preserve_module_call_signature is not offered")
    named = dict(kwargs or {})
    items = varying(by_parameter(mod.forward, args, named), dynamic_shapes)
    for item in items:
        item.path = leaf_path(mod.forward, item.path)
    with entered(Phase.EXPORTED):
        varied = capture_varied(mod, args, named, items) if items else None
        found = capture(mod, args, named) if varied is None else varied.captured
    own = ModuleCallSignature([], [], found.in_spec, found.out_spec, found.names)
    entries = [
        ModuleCallEntry(name, own if not name else None) for name, _ in mod.named_modules(remove_duplicate=False)
    ]
    program = ExportedProgram(
        found.module,
        found.module.graph,
        found.signature,
        found.state_dict,
        {} if varied is None else varied.ranges,
        entries,
        (args, named),
        found.constants,
    )
    if varied is not None:
        program._limits, program._free, program._varying = varied.limits, varied.free, items
    return program


export.__module__ = "torch.export"
