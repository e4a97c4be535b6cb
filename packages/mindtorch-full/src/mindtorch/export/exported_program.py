"""`torch.export.exported_program`: a program as a graph of operators, with its parameters and what its call looks like."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

import mindtorch as torch
from mindtorch import fx
from mindtorch._naming import adopt
from mindtorch.export._capture import capture
from mindtorch.export._lowering import Lowering
from mindtorch.export._specifications import Varying
from mindtorch.export._unlift import unlift
from mindtorch.export._varied import capture_varied
from mindtorch.export.decomp_utils import CustomDecompTable
from mindtorch.export.graph_signature import ArgumentSpec, ExportGraphSignature
from mindtorch.utils import _pytree as pytree

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "default_decompositions"]


def default_decompositions() -> CustomDecompTable:
    """Return the table of `run_decompositions`; what is taken out of it stays whole in a program.

    >>> table = torch.export.default_decompositions()
    >>> torch.ops.aten.linear.default in table
    True
    """
    return CustomDecompTable()


class CallSpec(NamedTuple):
    """The structures of a call's arguments and result."""

    in_spec: pytree.TreeSpec | None
    out_spec: pytree.TreeSpec | None


@dataclasses.dataclass
class ModuleCallSignature:
    """What goes into a module's call and comes out.

    >>> program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    >>> type(program.module_call_graph[0].signature).__name__
    'ModuleCallSignature'
    """

    inputs: list[ArgumentSpec]
    outputs: list[ArgumentSpec]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec
    forward_arg_names: list[str] | None = None

    def replace_all_uses_with(self, original_node: Any, new_node: Any) -> None:
        """Let inputs and outputs of one node be those of another."""
        for one in (*self.inputs, *self.outputs):
            if one.name == original_node.name:
                one.name = new_node.name


@dataclasses.dataclass
class ModuleCallEntry:
    """A submodule of the program; `signature` is None where its calls are not kept apart.

    >>> program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    >>> program.module_call_graph[0].fqn
    ''
    """

    fqn: str
    signature: ModuleCallSignature | None = None


class ExportedProgram:
    """What `torch.export.export` returns: a graph whose inputs are the module's tensors and the arguments of a call.

    `module()` gives a module that is called as the original was; `graph_signature` says what the inputs and outputs are.

    >>> import torch.export
    >>> program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    >>> program.module()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __init__(
        self,
        root: torch.nn.Module | dict[str, Any],
        graph: fx.Graph,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        range_constraints: dict[Any, Any],
        module_call_graph: list[ModuleCallEntry],
        example_inputs: tuple[tuple[Any, ...], dict[str, Any]] | None = None,
        constants: dict[str, Any] | None = None,
        *,
        verifiers: Any = None,
    ) -> None:
        graph._codegen = fx.graph.CodeGen()
        self._graph_module = fx.GraphModule(root, graph)
        self._graph_signature = graph_signature
        self._state_dict = state_dict
        self._range_constraints = range_constraints
        self._module_call_graph = module_call_graph
        self._example_inputs = example_inputs
        self._constants = constants or {}
        self._limits: list[Any] = []
        self._free: set[str] = set()
        self._varying: list[Varying] = []
        self._dialect = "TRAINING"

    @property
    def graph_module(self) -> fx.GraphModule:
        """The module of the graph, whose arguments are all its inputs."""
        return self._graph_module

    @property
    def graph(self) -> fx.Graph:
        """The graph."""
        return self._graph_module.graph

    @property
    def graph_signature(self) -> ExportGraphSignature:
        """What the graph's inputs and outputs are."""
        return self._graph_signature

    @property
    def state_dict(self) -> dict[str, Any]:
        """The parameters and the buffers that are saved, by name."""
        return self._state_dict

    @property
    def constants(self) -> dict[str, Any]:
        """The constant tensors and the buffers that are not saved, by name."""
        return self._constants

    @property
    def tensor_constants(self) -> dict[str, Any]:
        """The same as `constants`."""
        return self._constants

    @property
    def range_constraints(self) -> dict[Any, Any]:
        """The bounds of sizes that vary, by symbol."""
        return self._range_constraints

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """The program and its submodules."""
        return self._module_call_graph

    @property
    def example_inputs(self) -> Any:
        """The arguments that the program was exported with."""
        return self._example_inputs

    @example_inputs.setter
    def example_inputs(self, value: Any) -> None:
        self._example_inputs = value

    @property
    def call_spec(self) -> CallSpec:
        """The structures of a call's arguments and result."""
        own = self._module_call_graph[0].signature
        return CallSpec(None, None) if own is None else CallSpec(own.in_spec, own.out_spec)

    @property
    def dialect(self) -> str:
        """The set of operators: "TRAINING", as the program called them, or "ATEN", what a table leaves of them."""
        return self._dialect

    @property
    def _names(self) -> list[str]:
        own = self._module_call_graph[0].signature
        return [] if own is None else list(own.forward_arg_names or ())

    def parameters(self) -> Iterator[Any]:
        """Return the parameters."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """Return the parameters with their names."""
        for name in self.graph_signature.parameters:
            yield name, self.state_dict[name]

    def buffers(self) -> Iterator[Any]:
        """Return the buffers."""
        for _, buffer in self.named_buffers():
            yield buffer

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        """Return the buffers with their names."""
        unsaved = self.graph_signature.non_persistent_buffers
        for name in self.graph_signature.buffers:
            yield name, self.constants[name] if name in unsaved else self.state_dict[name]

    def module(self, check_guards: bool = True) -> fx.GraphModule:
        """Return a module that is called as the original was, on the program's own parameters and buffers.

        Args:
            check_guards: raise AssertionError where a call's sizes and numbers are not those of the export.
        """
        return unlift(self, check_guards)

    def run_decompositions(
        self, decomp_table: Mapping[Any, Any] | None = None, decompose_custom_triton_ops: bool = False
    ) -> ExportedProgram:
        """Return the program without writes in place, in the operators that a table leaves.

        What the program writes to buffers and arguments are results of its graph; `module()` writes them.

        Args:
            decomp_table: operators that are recorded as what their functions do; by default `default_decompositions()`.

        >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),)).run_decompositions()
        >>> [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
        ['aten.permute.default', 'aten.addmm.default']
        """
        lowering = Lowering(default_decompositions() if decomp_table is None else decomp_table)
        args, kwargs = self.example_inputs
        module = self.module(check_guards=False)
        varied = capture_varied(module, args, kwargs, self._varying, lowering) if self._varying else None
        found = capture(module, args, kwargs, lowering) if varied is None else varied.captured
        made = ExportedProgram(
            found.module,
            found.module.graph,
            found.signature,
            found.state_dict,
            self.range_constraints if varied is None else varied.ranges,
            self.module_call_graph,
            self.example_inputs,
            found.constants,
        )
        made._limits, made._free, made._varying = self._limits, self._free, self._varying
        made._dialect = "ATEN"
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` instead."
        )

    def __str__(self) -> str:
        graph = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        signature = str(self.graph_signature).replace("\n", "\n    ")
        return f"ExportedProgram:\n    {graph}\nGraph signature: {signature}\nRange constraints: {self.range_constraints}\n"


adopt(globals())
