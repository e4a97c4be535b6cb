"""`torch.export.load`: an exported program from the `.pt2` archive that torch or this library wrote."""

from __future__ import annotations

import io
import json
import operator
import os
import zipfile
from typing import IO, Any

import mindtorch as torch
from mindtorch import fx
from mindtorch._subclasses.fake_tensor import FakeTensorMode
from mindtorch.export import _archive_values as values
from mindtorch.export._archive_writer import SCHEMA_VERSION
from mindtorch.export._sizes import Size, Symbol, ValueRanges
from mindtorch.export._varied import sizes_of_inputs
from mindtorch.export.dynamic_shapes import Dim, _int_oo
from mindtorch.export.exported_program import ExportedProgram, ModuleCallEntry, ModuleCallSignature
from mindtorch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)
from mindtorch.utils._pytree import tree_flatten, tree_unflatten, treespec_loads


def load(
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:
    """Read an exported program from a file that `torch.export.save` wrote, here or in torch.

    Args:
        extra_files: a dictionary whose names are those of texts to read; it gets them.
        expected_opset_version: accepted; operators are found by their schema.

    Raises:
        RuntimeError: the file is no archive of an exported program, or one of a newer kind.
        NotImplementedError: the program has what is not read: operators on graphs, objects written in C++.

    >>> import io
    >>> file = io.BytesIO()
    >>> torch.export.save(torch.export.export(torch.nn.ReLU(), (torch.ones(2),)), file)
    >>> _ = file.seek(0)
    >>> torch.export.load(file).module()(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    try:
        archive = zipfile.ZipFile(f)
    except zipfile.BadZipFile as error:
        raise zipfile.BadZipFile("File is not a zip file") from error
    with archive:
        root = archive.namelist()[0].partition("/")[0] if archive.namelist() else ""
        names = set(archive.namelist())
        if f"{root}/archive_format" not in names or archive.read(f"{root}/archive_format") != b"pt2":
            raise RuntimeError(
                "We ran into an error when deserializing the saved file. "
                "Please check the warnings above for possible errors. "
            )
        for name in extra_files or ():
            if f"{root}/extra/{name}" in names:
                extra_files[name] = archive.read(f"{root}/extra/{name}").decode()  # type: ignore[index]
        return _Reader(archive, root).program()


class _Reader:
    """Makes a program of what stands in an archive."""

    def __init__(self, archive: zipfile.ZipFile, root: str) -> None:
        self.archive = archive
        self.root = root
        self.model = json.loads(archive.read(f"{root}/models/model.json"))
        found = self.model["schema_version"]["major"]
        if found != SCHEMA_VERSION["major"]:
            raise RuntimeError(f"torch.export.load: archives of schema {found} are not read, those of 8 are")
        self.graph = fx.Graph()
        self.nodes: dict[str, Any] = {}
        self.mode = FakeTensorMode(allow_non_fake_inputs=True, static_shapes=True)

    def program(self) -> ExportedProgram:
        """Return the program."""
        module = self.model["graph_module"]
        specs = [_input_spec(one) for one in module["signature"]["input_specs"]]
        self._placeholders(specs)
        for node in module["graph"]["nodes"]:
            self._node(node)
        self.graph.output(tuple(self._argument(one) for one in module["graph"]["outputs"]))
        outputs = [_output_spec(one) for one in module["signature"]["output_specs"]]
        example = torch.load(io.BytesIO(self.archive.read(f"{self.root}/data/sample_inputs/model.pt")))
        ranges = {
            Symbol(name): ValueRanges(one["min_val"] or 0, _int_oo if one["max_val"] is None else one["max_val"])
            for name, one in self.model["range_constraints"].items()
        }
        made = ExportedProgram(
            torch.nn.Module(),
            self.graph,
            ExportGraphSignature(specs, outputs),
            self._tensors("weights", "model_weights"),
            ranges,
            [_entry(one) for one in module["module_call_graph"]],
            example,
            self._tensors("constants", "model_constants"),
        )
        made._dialect = self.model["verifiers"][0]
        if ranges and example is not None:
            self._vary(made, specs)
        return made

    def _placeholders(self, specs: list[InputSpec]) -> None:
        for spec in specs:
            name = spec.arg.name
            node = self.graph.placeholder(name)
            node.name = name  # also where Python has the name, as `input`
            value = spec.arg.value if isinstance(spec.arg, ConstantArgument) else self._value(name)
            node.meta["val"] = value
            self.nodes[name] = node

    def _value(self, name: str) -> Any:
        given = self.model["graph_module"]["graph"]
        if name in given["tensor_values"]:
            return values.read_tensor(given["tensor_values"][name], self.mode)
        if name in given["sym_int_values"]:
            return values.read_size(given["sym_int_values"][name])
        return None

    def _node(self, given: dict[str, Any]) -> None:
        target = _target(given["target"])
        args = [self._argument(one["arg"]) for one in given["inputs"] if one.get("kind") != 2]
        kwargs = {one["name"]: self._argument(one["arg"]) for one in given["inputs"] if one.get("kind") == 2}
        outputs = given["outputs"]
        single = len(outputs) == 1 and "as_tensors" not in outputs[0]
        name = given.get("name") or (_name_of(outputs[0]) if single else None) or "call"
        node = self.graph.create_node("call_function", target, tuple(args), kwargs, name=name)
        if given["metadata"].get("stack_trace"):
            node.meta["stack_trace"] = given["metadata"]["stack_trace"]
        if single:
            node.meta["val"] = self._value(_name_of(outputs[0]))
            self.nodes[_name_of(outputs[0])] = node
            return
        taken = outputs[0]["as_tensors"] if len(outputs) == 1 else [one.get("as_tensor") for one in outputs]
        found = []
        for place, one in enumerate(taken):
            found.append(self._value(one["name"]))
            if "_unused_" in one["name"]:
                continue
            item = self.graph.create_node("call_function", operator.getitem, (node, place), name=one["name"])
            item.meta["val"] = found[-1]
            self.nodes[one["name"]] = item
        node.meta["val"] = (found if len(outputs) == 1 else tuple(found)) if taken else None

    def _argument(self, given: dict[str, Any]) -> Any:
        ((key, value),) = given.items()
        if key in ("as_tensor", "as_sym_int", "as_sym_bool", "as_sym_float"):
            return self.nodes[value["name"]] if key == "as_tensor" else self._symbol(value)
        if key == "as_tensors":
            return [self.nodes[one["name"]] for one in value]
        if key == "as_optional_tensors":
            return [self._argument(one) for one in value]
        if key == "as_sym_ints":
            return [self._symbol(one) for one in value]
        if key not in _READ:
            raise NotImplementedError(f"torch.export.load: arguments {key.removeprefix('as_')} are not read")
        return _READ[key](value)

    def _symbol(self, given: dict[str, Any]) -> Any:
        return self.nodes[given["as_name"]] if "as_name" in given else next(iter(given.values()))

    def _tensors(self, folder: str, listed: str) -> dict[str, Any]:
        """Return the tensors of a folder; those of one memory share it."""
        start = f"{self.root}/data/{folder}/"
        config = json.loads(self.archive.read(f"{start}{listed}_config.json"))["config"]
        memory: dict[str, Any] = {}
        known: dict[str, Any] = {}
        found = {}
        for name, one in config.items():
            key = json.dumps(one)
            if key not in known:
                known[key] = self._tensor(start + one["path_name"], one, memory)
            found[name] = known[key]
        return found

    def _tensor(self, path: str, given: dict[str, Any], memory: dict[str, Any]) -> Any:
        if given["use_pickle"]:
            return torch.load(io.BytesIO(self.archive.read(path)))
        meta = given["tensor_meta"]
        if path not in memory:
            data = bytearray(self.archive.read(path))
            flat = torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
            memory[path] = flat.to(values.read_device(meta["device"])).untyped_storage()
        sizes, steps = ([one["as_int"] for one in meta[name]] for name in ("sizes", "strides"))
        made = torch.empty(0, dtype=values.SCALAR_TYPES[meta["dtype"]], device=memory[path].device)
        made.set_(memory[path], meta["storage_offset"]["as_int"], sizes, steps)
        if given["is_param"]:
            return torch.nn.Parameter(made, requires_grad=meta["requires_grad"])
        return made.requires_grad_() if meta["requires_grad"] else made

    def _vary(self, program: ExportedProgram, specs: list[InputSpec]) -> None:
        """Let the sizes of a call vary as those of the inputs do."""
        dims: dict[Symbol, Dim] = {}
        for symbol, one in program.range_constraints.items():
            high = None if one.upper == _int_oo else int(one.upper)
            dims[symbol] = Dim(str(symbol), min=int(one.lower), max=high)
        leaves, spec = tree_flatten(program.example_inputs)
        users = [one for one in specs if one.kind is InputKind.USER_INPUT]
        shapes = []
        for leaf, one in zip(leaves, users, strict=True):
            value = self.nodes[one.arg.name].meta["val"]
            shape = (getattr(value, "_varying", None) or ()) if isinstance(leaf, torch.Tensor) else ()
            found = {place: _dim(size, dims) for place, size in enumerate(shape) if isinstance(size, Size)}
            shapes.append(found or None)
        args, kwargs = tree_unflatten(shapes, spec)
        given = dict(zip(program._names, (*args, *kwargs.values()), strict=True))
        sizes_of_inputs(program, given)


def _dim(size: Size, dims: dict[Symbol, Dim]) -> Any:
    terms = dict(size.expr.terms)
    plus = terms.pop((), 0)
    ((atoms, times),) = terms.items()
    if len(terms) != 1 or len(atoms) != 1 or atoms[0] not in dims:
        raise NotImplementedError(f"torch.export.load: an argument's size {size} is not read")
    made = dims[atoms[0]] if times == 1 else times * dims[atoms[0]]
    return made + plus if plus else made


def _target(name: str) -> Any:
    """Return the operator of a name; what is detached in place is used by the result's name alone."""
    name = name.replace("torch.ops.aten.detach_.", "torch.ops.aten.detach.")
    if name.startswith("_operator."):
        found = getattr(operator, name.removeprefix("_operator."), None)
    elif name.startswith("torch.ops.") and name.count(".") == 4:
        _, _, space, packet, overload = name.split(".")
        found = getattr(getattr(getattr(torch.ops, space), packet, None), overload, None)
    else:
        found = None
    if found is None:
        raise NotImplementedError(f"torch.export.load: the program calls {name}, which is not offered")
    return found


def _name_of(output: dict[str, Any]) -> str:
    ((_, value),) = output.items()
    return str(value.get("name") or value.get("as_name"))


def _plain(given: dict[str, Any]) -> Any:
    ((key, value),) = given.items()
    return None if key == "as_none" else _READ[key](value)


def _input_spec(given: dict[str, Any]) -> InputSpec:
    ((kind, one),) = given.items()
    if kind == "user_input":
        return InputSpec(InputKind.USER_INPUT, TensorArgument(_name_of(one["arg"])), None)
    if kind == "constant_input":
        return InputSpec(InputKind.USER_INPUT, ConstantArgument(one["name"], _plain(one["value"])), None)
    arg = TensorArgument(one["arg"]["name"]) if "arg" in one else None
    if kind == "parameter":
        return InputSpec(InputKind.PARAMETER, arg, one["parameter_name"])
    if kind == "buffer":
        return InputSpec(InputKind.BUFFER, arg, one["buffer_name"], one["persistent"])
    if kind == "tensor_constant":
        return InputSpec(InputKind.CONSTANT_TENSOR, arg, one["tensor_constant_name"])
    raise NotImplementedError(f"torch.export.load: inputs {kind} are not read")


def _output_spec(given: dict[str, Any]) -> OutputSpec:
    ((kind, one),) = given.items()
    if kind == "user_output":
        ((key, _),) = one["arg"].items()
        if key == "as_tensor":
            return OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(_name_of(one["arg"])), None)
        if key == "as_sym_int":
            return OutputSpec(OutputKind.USER_OUTPUT, SymIntArgument(_name_of(one["arg"])), None)
        return OutputSpec(OutputKind.USER_OUTPUT, ConstantArgument("", _plain(one["arg"])), None)
    if kind not in _MUTATIONS:
        raise NotImplementedError(f"torch.export.load: outputs {kind} are not read")
    return OutputSpec(_MUTATIONS[kind][0], TensorArgument(one["arg"]["name"]), one[_MUTATIONS[kind][1]])


def _entry(given: dict[str, Any]) -> ModuleCallEntry:
    own = given["signature"]
    if own is None:
        return ModuleCallEntry(given["fqn"])
    specs = treespec_loads(own["in_spec"]), treespec_loads(own["out_spec"])
    return ModuleCallEntry(given["fqn"], ModuleCallSignature([], [], *specs, own.get("forward_arg_names")))


_READ: dict[str, Any] = {
    "as_none": lambda _: None,
    "as_int": int,
    "as_ints": list,
    "as_float": values.read_float,
    "as_floats": lambda given: [values.read_float(one) for one in given],
    "as_bool": bool,
    "as_bools": list,
    "as_string": str,
    "as_strings": list,
    "as_complex": lambda given: complex(given["real"], given["imag"]),
    "as_scalar_type": values.SCALAR_TYPES.__getitem__,
    "as_device": values.read_device,
    "as_layout": values.LAYOUTS.__getitem__,
    "as_memory_format": values.MEMORY_FORMATS.__getitem__,
}
_MUTATIONS = {
    "buffer_mutation": (OutputKind.BUFFER_MUTATION, "buffer_name"),
    "parameter_mutation": (OutputKind.PARAMETER_MUTATION, "parameter_name"),
    "user_input_mutation": (OutputKind.USER_INPUT_MUTATION, "user_input_name"),
}
load.__module__ = "torch.export"
