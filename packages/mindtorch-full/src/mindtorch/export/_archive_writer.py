"""`torch.export.save`: an exported program as the `.pt2` archive of torch."""

from __future__ import annotations

import io
import json
import operator
import os
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import mindtorch as torch
from mindtorch import fx
from mindtorch.export import _archive_values as values
from mindtorch.export.exported_program import ExportedProgram
from mindtorch.export.graph_signature import ConstantArgument, InputKind, OutputKind, SymIntArgument
from mindtorch.utils._pytree import treespec_dumps
from mindtorch_dispatch.extend.overloads import OpOverload

SCHEMA_VERSION = {"major": 8, "minor": 20}
_OPSET = {"aten": 10}


def save(
    ep: ExportedProgram,
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None,
    pickle_protocol: int = 2,
) -> None:
    """Write an exported program to a file, with its parameters, buffers, constants and example.

    Args:
        f: the path of a file, whose name should end with `.pt2`, or a buffer.
        extra_files: texts to keep in the archive, by name.
        opset_version: the versions of operator libraries that are noted.
        pickle_protocol: the protocol of the example's pickle.

    Raises:
        TypeError: `ep` is no exported program.
        NotImplementedError: the program has operators on graphs, such as branches, or blocks of another mode.

    >>> import io
    >>> program = torch.export.export(torch.nn.Linear(2, 1), (torch.ones(3, 2),))
    >>> buffer = io.BytesIO()
    >>> torch.export.save(program, buffer)
    >>> torch.export.load(buffer).graph_signature.parameters
    ('weight', 'bias')
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got '{type(ep).__name__}' instead."
        )
    named = not hasattr(f, "write")
    root = os.path.splitext(os.path.basename(os.fspath(f)))[0] if named else "archive"  # type: ignore[arg-type]
    model = json.dumps(_model(ep, opset_version or _OPSET))
    with zipfile.ZipFile(f, "w") as archive:  # type: ignore[arg-type]
        _tensors(archive, f"{root}/data/weights/", "model_weights", "weight", ep.state_dict)
        _tensors(archive, f"{root}/data/constants/", "model_constants", "tensor", ep.constants)
        archive.writestr(f"{root}/models/model.json", model)
        example = io.BytesIO()
        torch.save(ep.example_inputs, example, pickle_protocol=pickle_protocol)
        archive.writestr(f"{root}/data/sample_inputs/model.pt", example.getvalue())
        for name, text in (extra_files or {}).items():
            archive.writestr(f"{root}/extra/{name}", text)
        for name, text in (
            ("archive_format", "pt2"),
            ("archive_version", "0"),
            (".data/version", "6\n"),
            ("byteorder", "little"),
        ):
            archive.writestr(f"{root}/{name}", text)
    if not named:
        f.seek(0)  # type: ignore[union-attr]


def _tensors(archive: zipfile.ZipFile, folder: str, listed: str, prefix: str, tensors: dict[str, Any]) -> None:
    """Write tensors: each memory once, and what of it is whose."""
    config: dict[str, Any] = {}
    paths: dict[int, str] = {}
    for name, value in tensors.items():
        storage = value.untyped_storage()
        key = storage.data_ptr() or id(value)
        if key not in paths:
            paths[key] = f"{prefix}_{len(paths)}"
            flat = torch.empty(0, dtype=torch.uint8, device=value.device).set_(storage)
            archive.writestr(folder + paths[key], flat.cpu().numpy().tobytes())
        config[name] = {
            "path_name": paths[key],
            "is_param": isinstance(value, torch.nn.Parameter),
            "use_pickle": False,
            "tensor_meta": values.written_tensor(value),
        }
    archive.writestr(f"{folder}{listed}_config.json", json.dumps({"config": config}))


def _model(ep: ExportedProgram, opset: dict[str, int]) -> dict[str, Any]:
    calls = []
    for entry in ep.module_call_graph:
        own = entry.signature
        calls.append(
            {
                "fqn": entry.fqn,
                "signature": own
                and {
                    "inputs": [],
                    "outputs": [],
                    "in_spec": treespec_dumps(own.in_spec, 1),
                    "out_spec": treespec_dumps(own.out_spec, 1),
                    "forward_arg_names": own.forward_arg_names,
                },
            }
        )
    writer = _GraphWriter(ep)
    module = {
        "graph": writer.graph(),
        "signature": {"input_specs": writer.input_specs(), "output_specs": writer.output_specs()},
        "module_call_graph": calls,
        "metadata": {},
        "treespec_namedtuple_fields": {},
    }
    ranges = {
        str(symbol): {"min_val": _bound(one.lower), "max_val": _bound(one.upper)}
        for symbol, one in ep.range_constraints.items()
    }
    return {
        "graph_module": module,
        "opset_version": opset,
        "range_constraints": ranges,
        "schema_version": SCHEMA_VERSION,
        "verifiers": [ep.dialect],
        "torch_version": torch.__version__,
        "guards_code": [],
    }


def _bound(value: Any) -> int | None:
    return None if value in (float("inf"), float("-inf")) else int(value)


class _GraphWriter:
    """Writes the graph and the signature of a program."""

    def __init__(self, ep: ExportedProgram) -> None:
        self.ep = ep
        self.tensors: dict[str, Any] = {}
        self.sizes: dict[str, Any] = {}

    def graph(self) -> dict[str, Any]:
        """Return the graph: inputs, nodes, outputs, and what is known of every value."""
        inputs, nodes, outputs = [], [], []
        specs = iter(self.ep.graph_signature.input_specs)
        for node in self.ep.graph.nodes:
            if node.op == "placeholder":
                arg = next(specs).arg
                if isinstance(arg, ConstantArgument):
                    inputs.append(self._argument(arg.value, None))
                else:
                    inputs.append(self._named(node))
            elif node.op == "call_function" and node.target is not operator.getitem:
                nodes.append(self._node(node))
            elif node.op == "output":
                outputs = [self._argument(one, None) for one in node.args[0]]
            elif node.op != "call_function":
                raise NotImplementedError("torch.export.save: programs with torch.cond or while_loop are not archived")
        return {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": nodes,
            "tensor_values": self.tensors,
            "sym_int_values": self.sizes,
            "sym_bool_values": {},
            "is_single_tensor_return": False,
            "custom_obj_values": {},
            "sym_float_values": {},
        }

    def input_specs(self) -> list[dict[str, Any]]:
        """Return what the inputs are."""
        found: list[dict[str, Any]] = []
        for spec in self.ep.graph_signature.input_specs:
            arg: dict[str, Any] = {"name": spec.arg.name}
            if spec.kind is InputKind.USER_INPUT and isinstance(spec.arg, ConstantArgument):
                value = self._argument(spec.arg.value, None)
                found.append({"constant_input": {"name": spec.arg.name, "value": value}})
            elif spec.kind is InputKind.USER_INPUT:
                found.append({"user_input": {"arg": {"as_tensor": arg}}})
            elif spec.kind is InputKind.PARAMETER:
                found.append({"parameter": {"arg": arg, "parameter_name": spec.target}})
            elif spec.kind is InputKind.BUFFER:
                saved = bool(spec.persistent)
                found.append({"buffer": {"arg": arg, "buffer_name": spec.target, "persistent": saved}})
            else:
                found.append({"tensor_constant": {"arg": arg, "tensor_constant_name": spec.target}})
        return found

    def output_specs(self) -> list[dict[str, Any]]:
        """Return what the outputs are."""
        found: list[dict[str, Any]] = []
        for spec in self.ep.graph_signature.output_specs:
            arg: dict[str, Any] = {"name": spec.arg.name}
            if spec.kind is OutputKind.USER_OUTPUT:
                if isinstance(spec.arg, ConstantArgument):
                    value = self._argument(spec.arg.value, None)
                elif isinstance(spec.arg, SymIntArgument):
                    value = {"as_sym_int": {"as_name": spec.arg.name}}
                else:
                    value = {"as_tensor": arg}
                found.append({"user_output": {"arg": value}})
            else:
                kind, target = _MUTATIONS[spec.kind]
                change: dict[str, Any] = {"arg": arg, target: spec.target}
                found.append({kind: change})
        return found

    def _node(self, node: fx.Node) -> dict[str, Any]:
        target: Any = node.target
        if isinstance(target, OpOverload):
            name, inputs = f"torch.ops.{target}", self._inputs(node, target)
            outputs = self._outputs(node, target)
        elif getattr(target, "__module__", "") == "_operator":
            name = f"_operator.{target.__name__}"
            inputs = [
                {"name": letter, "arg": self._argument(one, None), "kind": 1}
                for letter, one in zip("ab", node.args, strict=False)
            ]
            outputs = [self._named(node)]
        else:
            raise NotImplementedError(f"torch.export.save: calls of {target} are not archived")
        metadata = {key: node.meta[key] for key in ("stack_trace",) if node.meta.get(key)}
        return {
            "target": name,
            "inputs": inputs,
            "outputs": outputs,
            "metadata": metadata,
            "is_hop_single_tensor_return": None,
            "name": node.name,
        }

    def _inputs(self, node: fx.Node, target: OpOverload) -> list[dict[str, Any]]:
        declared = target.declared.arguments
        found = [(argument, value, 1) for argument, value in zip(declared, node.args, strict=False)]
        found += [(one, node.kwargs[one.name], 2) for one in declared if one.name in node.kwargs]
        return [
            {"name": one.name, "arg": self._argument(value, str(one.type)), "kind": kind} for one, value, kind in found
        ]

    def _outputs(self, node: fx.Node, target: OpOverload) -> list[dict[str, Any]]:
        returns, value = target.declared.returns, node.meta.get("val")
        if not returns:
            return []
        if len(returns) == 1 and not isinstance(value, list | tuple):
            return [self._named(node)]
        taken = {user.args[1]: user.name for user in node.users if user.target is operator.getitem}
        names = [taken.get(place, f"{node.name}_unused_{place}") for place in range(len(value or ()))]
        for name, one in zip(names, value or (), strict=True):
            self.tensors[name] = values.written_tensor(one)
        if len(returns) == 1:
            return [{"as_tensors": [{"name": name} for name in names]}]
        return [{"as_tensor": {"name": name}} for name in names]

    def _named(self, node: fx.Node) -> dict[str, Any]:
        """Return how the value of a node is written, and note what is known of it."""
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor):
            self.tensors[node.name] = values.written_tensor(value)
            return {"as_tensor": {"name": node.name}}
        if isinstance(value, int) and not isinstance(value, bool):
            self.sizes[node.name] = values.written_size(value)
            return {"as_sym_int": {"as_name": node.name}}
        raise NotImplementedError(f"torch.export.save: the value of {node.name} is a {type(value).__name__}")

    def _argument(self, value: Any, declared: str | None) -> dict[str, Any]:
        if isinstance(value, fx.Node):
            return self._named(value)
        if isinstance(value, list | tuple):
            return self._list(list(value), declared)
        for kind, key, write in _PLAIN:
            if isinstance(value, kind):
                return {key: write(value)}
        if value is None:
            return {"as_none": True}
        raise NotImplementedError(f"torch.export.save: an argument {value!r} is not archived")

    def _list(self, items: list[Any], declared: str | None) -> dict[str, Any]:
        written = [self._argument(one, None) for one in items]
        keys: Iterable[str] = {key for one in written for key in one}
        if not items:
            return {"as_tensors" if declared and declared.startswith("Tensor") else "as_ints": []}
        if keys == {"as_tensor"} and not (declared or "").startswith("Tensor?"):
            return {"as_tensors": [one["as_tensor"] for one in written]}
        if set(keys) <= {"as_tensor", "as_none"}:
            return {"as_optional_tensors": written}
        if "as_sym_int" in keys and set(keys) <= {"as_sym_int", "as_int"}:
            return {"as_sym_ints": [one.get("as_sym_int", one) for one in written]}
        (key,) = keys if len(set(keys)) == 1 else ("as_floats",)
        if key in ("as_int", "as_float", "as_bool", "as_string"):
            return {f"{key}s": [one[key] for one in written]}
        if key == "as_floats":
            return {"as_floats": [values.written_float(float(one)) for one in items]}
        raise NotImplementedError(f"torch.export.save: a list {items!r} is not archived")


_PLAIN: tuple[tuple[Any, str, Any], ...] = (
    (bool, "as_bool", bool),
    (int, "as_int", int),
    (float, "as_float", values.written_float),
    (str, "as_string", str),
    (complex, "as_complex", lambda one: {"real": one.real, "imag": one.imag}),
    (torch.dtype, "as_scalar_type", lambda one: values.number_of(values.SCALAR_TYPES, one)),
    (torch.device, "as_device", values.written_device),
    (torch.layout, "as_layout", lambda one: values.number_of(values.LAYOUTS, one)),
    (torch.memory_format, "as_memory_format", lambda one: values.number_of(values.MEMORY_FORMATS, one)),
)
_MUTATIONS = {
    OutputKind.BUFFER_MUTATION: ("buffer_mutation", "buffer_name"),
    OutputKind.PARAMETER_MUTATION: ("parameter_mutation", "parameter_name"),
    OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", "user_input_name"),
}
save.__module__ = "torch.export"
