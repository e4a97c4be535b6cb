"""`torch.fx.graph_module`: the module that runs a graph."""

from __future__ import annotations

import builtins
import contextlib
import copy
import itertools
import linecache
import os
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._attributes import _assign_attr, _copy_attr
from mindtorch.fx._codegen import PythonCode, _PyTreeCodeGen
from mindtorch.fx._folder import write_folder
from mindtorch.fx._names import CUSTOM_BUILTINS
from mindtorch.fx._statements import indented
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node
from mindtorch.nn import Module
from mindtorch_storage.lazy_import import LazyModule

_tracing = LazyModule("mindtorch.fx._symbolic_trace", "it makes graph modules itself")

__all__ = ["GraphModule", "reduce_graph_module", "reduce_package_graph_module"]

_numbers = itertools.count()


def _exec_with_source(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> None:
    """Run generated source; tracebacks show its lines."""
    key = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[key] = (len(src), None, [f"{line}\n" for line in src.splitlines()], key)
    exec(compile(src, key, "exec", dont_inherit=True), globals)


def _method_from_src(
    method_name: str, src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """Return the function of that name in generated source."""
    namespace = dict(globals)
    _exec_with_source(src, namespace, co_fields)
    return namespace.pop(method_name)


def _forward_from_src(src: str, globals: dict[str, Any], co_fields: dict[str, Any] | None = None) -> Callable[..., Any]:
    """Return the function `forward` in generated source."""
    return _method_from_src("forward", src, globals, co_fields)


def _import_statement(name: str, obj: Any, importer: Any) -> str:
    if name in CUSTOM_BUILTINS:
        return CUSTOM_BUILTINS[name].import_str
    found = (obj.__module__, obj.__qualname__) if importer is None else importer.get_name(obj)
    module, _, attribute = ".".join(found).rpartition(".")
    return (
        f"from {module} import {attribute} as {name}" if module != "builtins" else f"from builtins import {attribute}"
    )


def _format_import_block(globals: dict[str, Any], importer: Any = None) -> str:
    """Return the statements that import what generated code needs; a package's importer has names of its own."""
    return "\n".join(sorted({_import_statement(name, obj, importer) for name, obj in globals.items()}))


def _run_imports(import_block: str) -> dict[str, Any]:
    """Return what an import block binds; `torch` is this library there, in programs without the proxy too."""

    def bring(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        ours = "mindtorch" + name[len("torch") :] if name == "torch" or name.startswith("torch.") else name
        return builtins.__import__(ours, globals, locals, fromlist, level)

    namespace: dict[str, Any] = {"__builtins__": {**vars(builtins), "__import__": bring}}
    exec(import_block, namespace)
    namespace["__builtins__"] = builtins
    return namespace


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """Return the module that was pickled as its attributes and the imports of its code."""
    code = body.get("_code") or body["code"]
    return _deserialize_graph_module(_forward_from_src(code, _run_imports(import_block)), body)


def reduce_package_graph_module(importer: Any, body: dict[str, Any], generated_module_name: str) -> Module:
    """Return the module whose code is in a package."""
    return _deserialize_graph_module(importer.import_module(generated_module_name).forward, body)


def _deserialize_graph_module(
    forward: Callable[..., Any], body: dict[str, Any], graph_module_cls: type | None = None
) -> Module:
    """Return a module by tracing its code anew: the nodes are not in the pickle."""
    base = body.get("_tracer_cls") or _tracing.Tracer
    name = body.get("_graphmodule_cls_name", "GraphModule")

    class KeepModules(base):  # type: ignore[misc, valid-type]
        def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
            return True

    holder = _CodeOnlyModule(body)
    type(holder).forward = forward  # type: ignore[method-assign]
    tracer = KeepModules()
    graph = tracer.trace(holder, **(body.get("_tracer_extras") or {}))
    graph._tracer_cls = base
    made = _make_graph_module(holder, graph, class_name=name, graph_module_cls=graph_module_cls)
    for key, value in body.items():
        if not hasattr(made, key):
            setattr(made, key, value)
    return made


def _CodeOnlyModule(body: dict[str, Any]) -> Module:
    """Return a module of a class of its own with these attributes."""

    class CodeOnlyModule(Module):
        def __init__(self) -> None:
            super().__init__()
            self.__dict__ = body

    return CodeOnlyModule()


_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
"""The key in `meta` of attributes that transformations carry over."""
_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks", "_deepcopy_hooks")


class GraphModule(Module):
    """A module whose `forward` is generated from a graph.

    Args:
        root: the module, or a dict by dotted name, that has the submodules and attributes of the graph.
        graph: the program.
        class_name: the name that the class shows.

    Raises:
        RuntimeError: `root` is neither, or lacks something.

    >>> torch.fx.GraphModule(torch.nn.Module(), torch.fx.symbolic_trace(torch.nn.ReLU()).graph)(-torch.ones(1))
    tensor([0.])
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Every instance has a class of its own: its `forward` is the class's.
        base = next(one for one in cls.__mro__ if one.__qualname__.split(".")[-1] != "GraphModuleImpl")

        class GraphModuleImpl(base):  # type: ignore[misc, valid-type]
            __module__ = "torch.fx.graph_module"

        return super().__new__(GraphModuleImpl)

    def __init__(self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        targets = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not provided in ``root``!"
                    )
            for target in sorted(targets, key=lambda one: one.count(".")):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer and "<locals>" not in tracer.__qualname__ else None
        self._tracer_extras = graph._tracer_extras or {}
        self.meta: dict[str, Any] = {}
        self.shape_env: Any = None
        for name in _HOOKS:
            setattr(self, name, [])

    # Graph and code

    @property
    def graph(self) -> Graph:
        """The program. Assigning one generates the code anew; changing it needs `recompile`."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    def recompile(self) -> PythonCode:
        """Generate `forward` from the graph, and return its code."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen._list_spec()
            self._out_spec = codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        self._lineno_map = made._lineno_map
        self._prologue_start = made._prologue_start
        type(self).forward = _forward_from_src(self._code, made.globals)  # type: ignore[method-assign]
        return made

    def _recompile_submodules(self) -> list[tuple[str, PythonCode]]:
        return [(name, module.recompile()) for name, module in self.named_modules() if isinstance(module, GraphModule)]

    @property
    def code(self) -> str:
        """The source of `forward`."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! Please report a bug to PyTorch")
        return self._code

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Return the verbose code of this module and of those below it as classes, and print it."""
        look: dict[str, Any] = {
            "include_stride": include_stride,
            "include_device": include_device,
            "colored": colored,
            "expanded_def": expanded_def,
            "additional_meta": additional_meta,
        }
        source = self._graph.python_code(root_module="self", verbose=True, **look).src.lstrip("\n")
        text = f"class {self._get_name()}(torch.nn.Module):\n{indented(source)}\n"
        for name, module in self.named_children():
            if isinstance(module, GraphModule):
                inner = module.print_readable(print_output=False, **look)
                text += "\n" + indented(inner.replace(f"class {module._get_name()}(", f"class {name}(", 1)) + "\n"
        text = "\n".join(line if line.strip() else "" for line in text.split("\n")).rstrip("\n") + "\n"
        if print_output:
            print(text)
        return text

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as a package: its code, its tensors and, where their `repr` does not make them again, its
        submodules as pickles."""
        write_folder(self, folder, module_name)

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__str__(), self._code, hint])

    # Submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Install a submodule under a dotted name, with plain modules on the way; False where something else stands."""
        *prefix, field = target.split(".")
        module: Module = self
        for name in prefix:
            there = getattr(module, name, None)
            if there is None:
                there = Module()
                setattr(module, name, there)
            if not isinstance(there, Module):
                return False
            module = there
        module.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the submodule of that dotted name; False where there is none."""
        *prefix, field = target.split(".")
        module: Any = self
        for name in prefix:
            module = getattr(module, name, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, field, None), Module):
            return False
        delattr(module, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the submodules that no node calls or reads from, above or below."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[: end + 1]) for end in range(len(parts)))
            if node.op == "call_module":
                found = self
                with contextlib.suppress(AttributeError):  # a node without its module is for `lint` to report
                    found = self.get_submodule(node.target)
                used.update(f"{node.target}.{name}" for name, _ in found.named_modules() if found is not self)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # Copies

    def __reduce__(self) -> tuple[Any, ...]:
        body = self.__dict__.copy()
        block = _format_import_block(GraphModule.recompile(self).globals)
        body = {**body, "_code": self._code}
        del body["_graph"]
        return reduce_graph_module, (body, block)

    def __reduce_package__(self, exporter: Any) -> tuple[Any, ...]:
        body = {**self.__dict__, "_graphmodule_cls_name": type(self).__name__}
        del body["_graph"]
        name = f"fx-generated._{exporter.get_unique_id()}"
        block = _format_import_block(GraphModule.recompile(self).globals, exporter.importer)
        exporter.save_source_string(name, block + self.code)
        return reduce_package_graph_module, (body, name)

    def _deepcopy_init(self) -> Callable[..., None]:
        return GraphModule.__init__

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        holder = _CodeOnlyModule(copy.deepcopy(self.__dict__, memo))
        self._deepcopy_init()(made, holder, holder.__dict__["_graph"])
        for name, value in holder.__dict__.items():
            if name in _KEPT:
                made.__dict__[name] = value
        for hook in made._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> GraphModule:
        made = _make_graph_module(self, self.graph)
        made.meta = self.meta
        return made

    # Hooks of passes

    def _register_replace_node_hook(self, f: Callable[..., object]) -> None:
        self._replace_hooks.append(_callable(f, "replace"))

    def _unregister_replace_node_hook(self, f: Callable[..., object]) -> None:
        self._replace_hooks.remove(f)

    @contextlib.contextmanager
    def _set_replace_hook(self, f: Callable[..., object]) -> Iterator[None]:
        self._register_replace_node_hook(f)
        try:
            yield
        finally:
            self._unregister_replace_node_hook(f)

    def _register_create_node_hook(self, f: Callable[[Node], object]) -> None:
        self._create_node_hooks.append(_callable(f, "create_node"))

    def _unregister_create_node_hook(self, f: Callable[[Node], object]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], object]) -> None:
        self._erase_node_hooks.append(_callable(f, "erase_node"))

    def _unregister_erase_node_hook(self, f: Callable[[Node], object]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[[GraphModule], object]) -> None:
        self._deepcopy_hooks.append(_callable(f, "deepcopy"))

    def _unregister_deepcopy_hook(self, f: Callable[[GraphModule], object]) -> None:
        self._deepcopy_hooks.remove(f)


_KEPT = frozenset(
    "meta training _state_dict_hooks _load_state_dict_pre_hooks _load_state_dict_post_hooks _replace_hooks "
    "_create_node_hooks _erase_node_hooks _deepcopy_hooks _forward_hooks _forward_hooks_with_kwargs "
    "_forward_hooks_always_called _forward_pre_hooks _forward_pre_hooks_with_kwargs _backward_hooks _backward_pre_hooks".split()
)
"""What a copy takes over beside its parameters, buffers and submodules."""


def _callable(f: Any, kind: str) -> Any:
    if not callable(f):
        raise AssertionError(f"{kind} hook must be a callable.")
    return f


def _make_graph_module(*args: Any, graph_module_cls: type | None = None, **kwargs: Any) -> GraphModule:
    """Return a graph module of the given class, or of the one that new modules have now."""
    return (graph_module_cls or _standing[-1])(*args, **kwargs)


_standing: list[type[GraphModule]] = [GraphModule]  # the class of new modules comes last; a lazy one for a time


adopt(globals())
