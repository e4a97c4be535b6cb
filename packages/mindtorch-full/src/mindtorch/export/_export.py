"""`torch.export.export`: a module as a graph of the operators that one call of it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mindtorch as torch
from mindtorch._dynamo.exc import UserError, UserErrorType
from mindtorch.export._capture import capture
from mindtorch.export.dynamic_shapes import Dim
from mindtorch.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from mindtorch.utils import _pytree as pytree

_MORE = (
    "\n\nThe error above occurred when calling torch.export.export. If you would like to view some more information about "
    "this error, and get a list of all other errors that may occur in your export call, you can replace your `export()` call "
    "with `draft_export()`."
)


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

    Shapes, numbers and the branches that were taken are those of `args` and `kwargs`; the program's module refuses others.

    Args:
        dynamic_shapes: sizes that may vary; `Dim.AUTO` and `Dim.STATIC` are taken, as the size of this call.
        strict: accepted; the call is recorded, its source is not analysed.

    Raises:
        ValueError: `mod` is no module.
        NotImplementedError: a size that has to vary, or submodules whose calls are to be kept apart.
        RuntimeError: the program asks for the value of a tensor.

    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),))
    >>> [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    ['aten.linear.default']
    >>> program.module()(torch.ones(3, 2)).shape
    torch.Size([3, 1])
    """
    if not isinstance(mod, torch.nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        text = f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}"
        raise UserError(UserErrorType.INVALID_INPUT, text + _MORE)
    if preserve_module_call_signature:
        raise NotImplementedError("torch.export.export: preserve_module_call_signature is not offered")
    _check_shapes(dynamic_shapes)
    named = dict(kwargs or {})
    found = capture(mod, args, named)
    own = ModuleCallSignature([], [], found.in_spec, found.out_spec, found.names)
    entries = [
        ModuleCallEntry(name, own if not name else None) for name, _ in mod.named_modules(remove_duplicate=False)
    ]
    return ExportedProgram(
        found.module, found.module.graph, found.signature, found.state_dict, {}, entries, (args, named), found.constants
    )


def _check_shapes(dynamic_shapes: Any) -> None:
    for leaf in pytree.tree_leaves(dynamic_shapes):
        if leaf is None or leaf == Dim.AUTO or leaf == Dim.STATIC or type(leaf) is int:
            continue
        raise NotImplementedError(
            f"torch.export.export: sizes that vary ({leaf!r}) are not offered; programs are exported for the sizes of the "
            "arguments"
        )


export.__module__ = "torch.export"
