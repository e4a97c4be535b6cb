"""The module of an exported program: its parameters, buffers and constants are the module's again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import fx
from mindtorch.export._names import leaves_of
from mindtorch.export.graph_signature import InputKind, OutputKind
from mindtorch.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from mindtorch.fx.graph import CodeGen
from mindtorch.utils import _pytree as pytree

_WRITTEN = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION, OutputKind.USER_INPUT_MUTATION)


class _ArgumentsCodeGen(_PyTreeCodeGen):
    """Code of a function with positional and keyword arguments, whose leaves are the placeholders."""

    def process_inputs(self, *inputs: Any, **kwargs: Any) -> Any:
        return pytree.tree_leaves((inputs, kwargs))

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False) -> str:
        names = self.pytree_info.orig_args
        head = CodeGen.gen_fn_def(self, ["self", *names], maybe_return_annotation, expanded_def=expanded_def)
        keywords = self.pytree_info.in_spec.children()[1].context
        positional = names[: len(names) - len(keywords)]
        left = "".join(f"{one.split('=')[0].split(':')[0].strip()}, " for one in free_vars)
        pairs = ", ".join(f"'{name}':{name}" for name in keywords)
        if not left:
            return head
        return (
            f"{head}\n    {left}= fx_pytree.tree_flatten_spec(([{', '.join(positional)}], {{{pairs}}}), self._in_spec)"
        )


class _Guards(torch.nn.Module):
    """Checks that a call is like the one that was exported."""

    def __init__(self, checks: list[tuple[str, Any]], limits: list[Any], free: set[str]) -> None:
        super().__init__()
        self._checks = checks
        self._limits = limits
        self._free = free

    def forward(self, *given: Any) -> None:
        """Return None; AssertionError where a size or a value differs."""
        sizes: dict[str, int] = {}
        for (path, example), value in zip(self._checks, given, strict=True):
            if isinstance(example, torch.Tensor):
                for place, size in enumerate(example.shape):
                    text = f"{path}.size()[{place}]"
                    sizes[text] = value.size()[place]
                    if text not in self._free and sizes[text] != size:
                        raise AssertionError(f"Guard failed: {text} == {size}")
            elif example is not None and value != example:
                raise AssertionError(f"Guard failed: {path} == {example!r}")
        for limit in self._limits:
            if not limit.holds(sizes):
                raise AssertionError(f"Guard failed: {limit.text}")


def unlift(program: Any, check_guards: bool) -> fx.GraphModule:
    """Return the module of an exported program, which is called as the original was."""
    root = torch.nn.Module()
    graph = fx.Graph()
    nodes: dict[fx.Node, fx.Node] = {}
    kinds = {one.arg.name: one for one in program.graph_signature.input_specs}
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    users = [node for node in placeholders if kinds[node.name].kind is InputKind.USER_INPUT]
    for node in placeholders:
        spec = kinds[node.name]
        if spec.kind is InputKind.USER_INPUT:
            nodes[node] = graph.placeholder(node.name)
        else:
            _assign(root, spec, program)
            nodes[node] = graph.create_node("get_attr", spec.target, (), {}, spec.target.replace(".", "_"))
        nodes[node].meta = dict(node.meta)
    if check_guards:
        args, kwargs = program.example_inputs
        named = dict(zip(program._names, (*args, *kwargs.values()), strict=True))
        root._guards_fn = _Guards([(path, leaf) for _, path, leaf in leaves_of(named)], program._limits, program._free)
        graph.call_module("_guards_fn", tuple(nodes[node] for node in users))
    for name, inner in program.graph_module.named_children():
        root.add_module(name, inner)
    _end(graph, program, graph.graph_copy(program.graph, nodes), nodes)
    spec = program.call_spec
    graph._codegen = _ArgumentsCodeGen(_PyTreeInfo(list(program._names), spec.in_spec, spec.out_spec))
    made = fx.GraphModule(root, graph)
    for one in program.graph_signature.input_specs:
        if one.kind is InputKind.CONSTANT_TENSOR:  # a graph's module makes tensors it gets buffers
            path, _, name = one.target.rpartition(".")
            owner = made.get_submodule(path)
            delattr(owner, name)
            setattr(owner, name, program.constants[one.target])
        elif one.kind is InputKind.BUFFER and not one.persistent:
            path, _, name = one.target.rpartition(".")
            made.get_submodule(path)._non_persistent_buffers_set.add(name)
    made.register_forward_pre_hook(_structure_check(spec.in_spec), with_kwargs=True)
    for name in ("eval", "train"):
        made.__dict__[name] = _refusal(name)
    return made


def _end(graph: fx.Graph, program: Any, values: tuple[Any, ...], nodes: dict[fx.Node, fx.Node]) -> None:
    """Write the results of a call; those that are new values of buffers and arguments are copied there."""
    inputs = {spec.target: spec.arg.name for spec in program.graph_signature.input_specs if spec.target is not None}
    placeholders = {node.name: nodes[node] for node in program.graph.nodes if node.op == "placeholder"}
    results = []
    copied: dict[Any, fx.Node] = {}
    for spec, value in zip(program.graph_signature.output_specs, values, strict=True):
        if spec.kind in _WRITTEN:
            target = placeholders[inputs.get(spec.target, spec.target)]
            copied[value] = graph.create_node(
                "call_function", torch.ops.aten.copy_.default, (target, value), name="copy__default"
            )
        else:
            results.append(value)
    graph.output(tuple(copied.get(one, one) if isinstance(one, fx.Node) else one for one in results))


def _assign(root: torch.nn.Module, spec: Any, program: Any) -> None:
    path, _, name = spec.target.rpartition(".")
    owner = root
    for part in path.split(".") if path else ():
        if part not in owner._modules:
            owner.add_module(part, torch.nn.Module())
        owner = owner.get_submodule(part)
    if spec.kind is InputKind.PARAMETER:
        owner.register_parameter(name, program.state_dict[spec.target])
    elif spec.kind is InputKind.BUFFER:
        value = program.state_dict[spec.target] if spec.persistent else program.constants[spec.target]
        owner.register_buffer(name, value, persistent=bool(spec.persistent))
    else:
        setattr(owner, name, program.constants[spec.target])


def _structure_check(in_spec: pytree.TreeSpec) -> Callable[..., None]:
    """Return the hook that refuses a call of another structure; ValueError with torch's text."""

    def check(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        expected = list(in_spec.children()[1].context)
        if set(kwargs) != set(expected):
            raise ValueError(
                f"Ran into a kwarg keyword mismatch: Got the following keywords {list(kwargs)} but expected {expected}"
            )
        found = pytree.tree_structure((args, {name: kwargs[name] for name in expected}))
        if found != in_spec:
            raise ValueError(
                f"Trying to flatten user inputs with exported input tree spec: \n{in_spec}\n"
                f"but actually got inputs with tree spec of: \n{found}.\n"
                "Please check that the inputs have the same number and type of args and kwargs as the ones you used when "
                "tracing."
            )

    return check


def _refusal(name: str) -> Callable[..., Any]:
    def refuse(mode: bool = True) -> Any:
        raise NotImplementedError(f"Calling {name}() is not supported yet.")

    return refuse
