"""`torch.fx._symbolic_trace`: making a graph by running a program on proxies."""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import math
import types
import warnings
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._C._script import ScriptObject as ScriptObject  # programs take it from here
from mindtorch._naming import adopt
from mindtorch.fx import _patching
from mindtorch.fx._codegen import _PyTreeCodeGen, _PyTreeInfo
from mindtorch.fx._compatibility import compatibility as compatibility  # programs take it from here
from mindtorch.fx._lazy_graph_module import _LazyGraphModule
from mindtorch.fx._patching import wrap
from mindtorch.fx._placeholders import PH, PHBase, PHWithMeta
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule, _make_graph_module
from mindtorch.fx.node import Node
from mindtorch.fx.proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase
from mindtorch.nn import Module, Parameter, Sequential
from mindtorch.utils import _pytree as pytree

_proxyable_classes: dict[type, None] = {}


class ProxyableClassMeta(type):
    """The type of classes whose instances, made of proxies, are a step of the graph."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attrs)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        proxy = _patching.find_proxy(args, kwargs) if is_fx_symbolic_tracing() else None
        if proxy is not None:
            return proxy.tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def is_fx_symbolic_tracing() -> bool:
    """Return whether a program is being traced."""
    return _patching.is_tracing()


def is_fx_tracing() -> bool:
    """Return whether a program is being traced."""
    return _patching.is_tracing()


def _assert_is_none(value: object, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Makes the graph of a module or a function.

    Args:
        autowrap_modules: modules all of whose functions are single steps.
        autowrap_functions: functions that are single steps.
        param_shapes_constant: shapes of parameters are numbers, not steps.

    >>> [node.op for node in torch.fx.Tracer().trace(torch.nn.ReLU()).nodes]
    ['placeholder', 'call_function', 'output']
    """

    def __init__(
        self,
        autowrap_modules: tuple[types.ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        listed = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        }
        self._autowrap_function_ids = listed | {id(one) for one in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Module, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}
        self.tensor_attrs: dict[Any, str] = {}
        self._fresh: dict[str, int] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        made = type(self).__new__(type(self))
        made.__dict__.update(
            {
                name: value if name == "_autowrap_search" else copy.deepcopy(value, memo)
                for name, value in vars(self).items()
            }
        )
        return made

    # Values

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return an attribute's name that the root does not have yet."""
        number = self._fresh.get(prefix, 0)
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        self._fresh[prefix] = number + 1
        return f"{prefix}{number}"

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node; tensors as steps that fetch them from the root, which keeps those that
        it does not have.

        Raises:
            NameError: a parameter of another module.
            NotImplementedError: a type that graphs cannot hold.
        """
        if isinstance(a, Parameter):
            for name, parameter in self.root.named_parameters():
                if a is parameter:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, torch.Tensor):
            for name, buffer in self.root.named_buffers():
                if a is buffer:
                    return self.create_node("get_attr", name, (), {})
            return self._constant(a, "_tensor_constant")
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return self.create_node("call_function", type(a), tuple(self.create_arg(one) for one in a), {})
        if type(a) in _proxyable_classes:
            return self._constant(a, f"_{type(a).__name__}_constant_")
        return super().create_arg(a)

    def _constant(self, value: Any, prefix: str) -> Node:
        name = self.tensor_attrs.get(value)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self.tensor_attrs[value] = name
            setattr(self.root, name, value)
        return self.create_node("get_attr", name, (), {})

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what a module's attribute is while tracing: parameters, and buffers if wanted, are proxies, each one
        step however often it is asked for."""
        if isinstance(attr_val, Parameter):
            return self._member(
                attr_val, self.root.named_parameters(), parameter_proxy_cache, self.param_shapes_constant
            )
        if self.proxy_buffer_attributes and isinstance(attr_val, torch.Tensor):
            return self._member(attr_val, self.root.named_buffers(), parameter_proxy_cache, False)
        return attr_val

    def _member(self, value: Any, members: Any, cache: dict[str, Any], constant_shape: bool) -> Any:
        for name, member in members:
            if member is value:
                if name not in cache:
                    factory = functools.partial(self._parameter_proxy, name, value) if constant_shape else None
                    cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)
                return cache[name]
        return value

    def _parameter_proxy(self, name: str, value: Any, node: Node) -> ParameterProxy:
        return ParameterProxy(self, node, name, value)

    # Modules

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Return whether a call of `m` is one step: those of torch are, but `Sequential`."""
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """Return a submodule's dotted name.

        Raises:
            NameError: it is no submodule of the root.
        """
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules(remove_duplicate=False):
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what a submodule gives: one step for a leaf, else what its code does."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            calls = self.num_calls.get(path, 0)
            key = f"{path}@{calls}" if calls else path
            self.module_stack[key] = (path, type(m))
            self.num_calls[path] = calls + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem()

    # Tracing

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Any, list[Any]]:
        """Return the function to run and the values to run it on: placeholders, and the root first for a module.

        Raises:
            RuntimeError: a method without `self`, or a wrong number of concrete arguments.
        """
        analysed = inspect.unwrap(root_fn)
        code = analysed.__code__
        total = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames)
        args: list[Any] = []
        if is_module:
            if total == 0:
                raise RuntimeError("``self`` argument cannot be part of *args expansion!")
            args.append(self.root)
        start = 1 if is_module else 0
        arguments = names[start:total]
        if isinstance(concrete_args, tuple):
            if len(arguments) != len(concrete_args):
                raise RuntimeError(
                    f"Tracing expected {len(arguments)} arguments but got {len(concrete_args)} concrete arguments"
                )
            concrete_args = dict(zip(arguments, concrete_args, strict=True))
        signature = inspect.signature(analysed)
        args.extend(self._proxy_placeholder(name, concrete_args, signature, analysed) for name in arguments)
        variable = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        if code.co_kwonlyargcount > 0 or variable:
            rest = iter(names[total:])
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self._proxy_placeholder("*" + next(rest), concrete_args, signature, analysed))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self._proxy_placeholder("**" + next(rest), concrete_args, signature, analysed))
            root_fn = _patching.all_positional(root_fn, len(args))
        flat, in_spec = pytree.tree_flatten(tuple(args))
        if all(one.is_leaf() for one in in_spec.children()):
            return root_fn, args
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(names[:total], in_spec, None))

        def flatten_fn(*leaves):  # type: ignore[no-untyped-def]  # its annotation would be the graph's
            tree = pytree.tree_unflatten(list(leaves), in_spec)
            out, out_spec = pytree.tree_flatten(root_fn(*tree))
            codegen = self.graph._codegen
            if not isinstance(codegen, _PyTreeCodeGen):
                raise AssertionError(f"Expected _PyTreeCodeGen, got {type(codegen)}")
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return out

        return flatten_fn, flat

    def _proxy_placeholder(
        self, name: str, concrete_args: dict[str, Any] | None, sig: inspect.Signature, fn_for_analysis: Any
    ) -> Any:
        parameter = sig.parameters.get(name)
        default = () if parameter is None or parameter.default is inspect.Parameter.empty else (parameter.default,)
        if concrete_args is None or name not in concrete_args:
            kind = fn_for_analysis.__annotations__.get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        count = 0

        def place(x: Any) -> Any:
            nonlocal count
            count += 1
            made = self.create_proxy("placeholder", f"{name}_{count}", default, {})
            if isinstance(x, PHBase):
                if x is not PH:
                    for key, value in vars(x).items():
                        setattr(made.node, key, value)
                        made.node.meta[key] = value
                return made
            self._check_concrete(made, name, x)
            return x

        return pytree.tree_map(place, concrete_args[name])

    def _check_concrete(self, made: Proxy, name: str, x: Any) -> None:
        """Let the graph check that an argument has the value with which the program was traced."""
        text = f"{name} has been specialized to have value {x} but got another value"
        if isinstance(x, bool | int | float | str | complex | torch.dtype | torch.device) and not isinstance(
            x, torch.Tensor
        ):
            torch._assert(made == x, text)
        elif x is None:
            self.create_proxy("call_function", _assert_is_none, (made, text), {})
        else:
            warnings.warn(
                f"Was not able to add assertion to guarantee correct input {name} to specialized function. It is up to "
                "the user to make sure that your inputs match the inputs you specialized the function with.",
                stacklevel=2,
            )

    def trace(self, root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> Graph:
        """Return the graph of a module or a function, run on a proxy for each of its arguments.

        Args:
            concrete_args: values for some of the arguments; the graph checks that it gets the same. Containers may
                hold `PH` for what stays an input.
        """
        _LazyGraphModule.force_recompile(root)
        fn = self._prepare(root)
        assert isinstance(fn, types.FunctionType), f"Expected FunctionType, got {type(fn)}"
        with _patching.tracing(), _patching.Patcher() as patcher:
            self.graph = Graph(tracer_cls=type(self))
            fn, args = self.create_args_for_root(fn, isinstance(root, Module), concrete_args)
            self._patch(patcher, inspect.unwrap(fn).__globals__ if hasattr(fn, "__globals__") else {})
            result = self.create_arg(fn(*args))
            annotated = getattr(fn, "__annotations__", {}).get("return")
            self.create_node("output", "output", (result,), {}, type_expr=annotated)
        self.submodule_paths = None
        return self.graph

    def _prepare(self, root: Any) -> Any:
        """Take note of a root's modules and tensors, and return the function to run."""
        if isinstance(root, Module):
            self.root = root
            if not hasattr(type(root), self.traced_func_name):
                raise AssertionError(f"traced_func_name={self.traced_func_name} doesn't exist in {type(root).__name__}")
            fn = getattr(type(root), self.traced_func_name)
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root = Module()
            fn = root
        self.tensor_attrs = {}
        for path, module in self.root.named_modules(remove_duplicate=False):
            for name, value in vars(module).items():
                if isinstance(value, torch.Tensor):
                    self.tensor_attrs.setdefault(value, f"{path}.{name}" if path else name)
        return fn

    def _patch(self, patcher: _patching.Patcher, frame: dict[str, Any]) -> None:
        parameters: dict[str, Any] = {}
        plain_getattr, plain_call = Module.__getattr__, Module.__call__

        @functools.wraps(plain_getattr)
        def getattr_of_module(mod: Module, attr: str) -> Any:
            return self.getattr(attr, plain_getattr(mod, attr), parameters)

        @functools.wraps(plain_call)
        def call_of_module(mod: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*inner: Any, **named: Any) -> Any:
                return plain_call(mod, *inner, **named)

            scope = getattr(getattr(mod, "forward", mod), "__globals__", {})
            _patching.patch_listed(patcher, scope, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        patcher.patch_method(Module, "__getattr__", getattr_of_module)
        patcher.patch_method(Module, "__call__", call_of_module)
        for name in ("__getitem__", "__setitem__"):
            patcher.patch_method(torch.Tensor, name, _patching.wrapped_method(torch.Tensor, name))
        _patching.patch_wrapped_functions(patcher)
        _patching.patch_listed(patcher, frame, self._autowrap_function_ids)
        for module in self._autowrap_search:
            _patching.patch_listed(patcher, vars(module), self._autowrap_function_ids)


def symbolic_trace(root: Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """Return the module that runs the graph of `root`, a module or a function; see `Tracer.trace`.

    >>> print(torch.fx.symbolic_trace(lambda x: x + 1).code.strip())
    def forward(self, x):
        add = x + 1;  x = None
        return add
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return _make_graph_module(tracer.root, graph, name)


wrap.__module__ = "torch.fx._symbolic_trace"
# Tracers of libraries write `trace` anew from these.
FunctionType = types.FunctionType
_Patcher = _patching.Patcher
_autowrap_check = _patching.patch_listed
_orig_module_call = Module.__call__
_orig_module_getattr = Module.__getattr__
_patch_wrapped_functions = _patching.patch_wrapped_functions
_wrapped_fns_to_patch = _patching._wrapped_functions

__all__ = ["PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]

adopt(globals())
