"""`torch.fx.proxy`: the values a tracer passes through a program, which record what is done with them."""

from __future__ import annotations

import collections
import copy
import dis
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, cast

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx import traceback as fx_traceback
from mindtorch.fx._statements import INFIX, MAGIC_METHODS
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node, map_aggregate
from mindtorch.fx.operator_schemas import check_for_mutable_operation
from mindtorch_dispatch.extend.overloads import OpOverload

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]

base_types = (
    str,
    int,
    float,
    bool,
    complex,
    torch.dtype,
    torch.Tensor,
    torch.device,
    torch.memory_format,
    torch.layout,
    OpOverload,
    type(None),
    type(...),
)
"""Types of arguments that graphs hold as they are."""


class TraceError(ValueError):
    """A program does what cannot be traced.

    >>> torch.fx.symbolic_trace(lambda x: 1 if x else 2)
    Traceback (most recent call last):
        ...
    torch.fx.proxy.TraceError: symbolically traced variables cannot be used as inputs to control flow
    """


class Scope:
    """Where in a tree of modules a program is: the path of the module and its type.

    >>> from torch.fx.proxy import Scope
    >>> scope = Scope("layers.0", torch.nn.Linear)
    >>> scope.module_path
    'layers.0'
    """

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Gives a tracer's scope the values of another for the time of a block."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = copy.copy(scope)
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *args: Any) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


class TracerBase:
    """What every tracer has: making nodes and proxies, and turning values into arguments.

    >>> isinstance(torch.fx.Tracer(), torch.fx.proxy.TracerBase)
    True
    """

    graph: Graph
    record_stack_traces = False
    _record_forward_stack_traces_only = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: collections.OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Return a new node, which knows in which module it was made.

        Raises:
            RuntimeError: it changes a value, and `check_mutable_operations` is set.
        """
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        if hasattr(self, "node_name_to_scope"):
            self.node_name_to_scope[node.name] = (self.scope.module_path, self.scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            node.meta.update(copy.copy(fx_traceback.get_current_meta()))
        elif getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """Return the value that stands for a node."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Return the value of a new node, made of arguments that may hold such values."""
        args_, kwargs_ = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        found = self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = "".join(fx_traceback.user_stack())
        return found

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node: proxies as their nodes, in containers too.

        Raises:
            NotImplementedError: a type that graphs cannot hold.
            RuntimeError: a dict with a node among its keys.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(one) for one in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(one) for one in a]
        if isinstance(a, dict):
            return {self._create_key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, base_types):
            return a
        if isinstance(a, Node):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _create_key(self, key: Any) -> Any:
        made = self.create_arg(key)

        def refuse(one: Any) -> None:
            if isinstance(one, Node):
                raise RuntimeError(f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {made}")

        map_aggregate(made, refuse)
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """Answer `bool(proxy)`; raises TraceError unless overridden."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Answer `iter(proxy)`; raises TraceError unless overridden."""
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or "
            "**kwargs function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what "
            "types of control flow can be traced, and check out the Proxy docstring for help troubleshooting Proxy "
            "iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Answer `proxy.keys()`, which `**proxy` asks."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """The tracer of proxies that are made by hand: appends to a graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


class Proxy:
    """A value that is being traced: every operation on it is a new node of the graph, and gives a new such value.

    >>> traced = torch.fx.symbolic_trace(lambda x: print(type(x).__name__) or x)
    Proxy
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = tracer if tracer is not None else GraphAppendingTracer(cast(Graph, node.graph))
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("tracer", "node", "_node"):  # asked for while a copy is half made
            raise AttributeError(k)
        return Attribute(self, k)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = type(self).__new__(type(self))
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in vars(self).items()})
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        frame = inspect.currentframe()
        if frame is None or frame.f_back is None:
            raise AssertionError("No frame to look at")
        caller = frame.f_back
        for step in dis.get_instructions(caller.f_code):
            if step.offset == caller.f_lasti and step.opname == "UNPACK_SEQUENCE":
                return (operator.getitem(self, index) for index in range(step.argval))
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def __len__(self) -> NoReturn:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def keys(self) -> Any:
        """Return the value's `keys()`, as its tracer answers it."""
        return self.tracer.keys(self)

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> Any:
        args, kwargs = args or (), kwargs or {}
        tracers: dict[TracerBase, None] = {}
        map_aggregate((args, kwargs), lambda one: tracers.setdefault(one.tracer) if isinstance(one, Proxy) else None)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations {orig_method}"
            )
        tracer = next(iter(tracers))
        name = orig_method.__name__
        if getattr(torch.Tensor, name, None) is orig_method:
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=tracer.graph._target_to_str(name))


def _define(name: str) -> None:
    function = getattr(operator, name)

    def forward(self: Proxy, *rest: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (self, *rest), {})

    def reflected(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    bare = name.strip("_")
    setattr(Proxy, f"__{bare}__", forward)
    if name in INFIX and name not in ("eq", "ne", "ge", "gt", "le", "lt"):
        setattr(Proxy, f"__r{bare}__", reflected)


for _name in MAGIC_METHODS.keys() - {"div"}:
    _define(_name)


class Attribute(Proxy):
    """An attribute of a traced value: a node once it is used as a value, a call of a method once it is called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that gets the attribute, made when first asked for: most attributes are called instead."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A traced parameter whose shape is known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """The parameter's shape."""
        return self.param.shape

    def size(self) -> Any:
        """Return the parameter's `size()`."""
        return self.param.size()

    def dim(self) -> int:
        """Return the parameter's number of dimensions."""
        return self.param.dim()

    @property
    def ndim(self) -> int:
        """The parameter's number of dimensions."""
        return self.param.ndim

    def numel(self) -> int:
        """Return the parameter's number of elements."""
        return self.param.numel()

    def nelement(self) -> int:
        """Return the parameter's number of elements."""
        return self.param.nelement()


class MetaProxy(Proxy):
    """A proxy that runs each call on fake tensors too and writes what they give into `meta["val"]`."""

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode

    def __repr__(self) -> str:
        return f"MetaProxy({self.node.name})"

    @classmethod
    def __torch_function__(cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None) -> MetaProxy:
        args, kwargs = args or (), kwargs or {}
        known = next((one for one in args if isinstance(one, MetaProxy)), None)
        if known is None:
            raise AssertionError("No MetaProxy found in arguments, but one is expected.")
        made = super().__torch_function__(orig_method, types, args, kwargs)
        values = [one.node.meta["val"] if isinstance(one, Proxy) else one for one in args]
        with known.fake_mode:
            made.node.meta["val"] = orig_method(*values, **kwargs)
        return MetaProxy(made.node, made.tracer, known.fake_mode)


adopt(globals())
