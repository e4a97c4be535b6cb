"""`torch.autograd.Function`: custom forward and backward."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.execute.profiling import FUNCTION
from mindtorch_dispatch.interface.batching import BATCHED_MASK
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.state import state
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.tensor_base import TensorBase

from . import anomaly, forward_mode
from .delayed_error import once_differentiable as once_differentiable
from .engine import current_task
from .forward_switch import switch
from .function_arguments import check_named, in_order, with_defaults
from .function_context import FunctionCtx
from .function_outputs import check_saved_inputs, connect_outputs
from .function_tangents import function_tangents
from .node import Node
from .saved import SavedTensor, freed_error, pack, unpack
from .views import gradient_edge

_batching = LazyModule("mindtorch_autograd.function_batching", "only functions under `vmap` need it")

_LEGACY_TEXT = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function with "
    "static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)


class _Forward(threading.local):
    def __init__(self) -> None:
        self.roots: tuple[frozenset[Any], ...] = ()


_forward = _Forward()


class _Recorder(threading.local):
    apply: Any = None


recorder = _Recorder()
"""`apply(cls, args, kwargs)` is called for each custom function instead of running it, where graphs are recorded."""


@contextmanager
def pushing_forward(inputs: Sequence[Any]) -> Iterator[None]:
    """Context: what is computed from `inputs` is to be pushed forward, so custom functions on the way need `jvp`."""
    before = _forward.roots
    _forward.roots = (*before, frozenset(gradient_edge(one)[0] for one in inputs))
    switch.pushing += 1
    try:
        yield
    finally:
        _forward.roots = before
        switch.pushing -= 1


def check_forward_formula(cls: Any, node: Node) -> None:
    """Raise torch's error for a function without `jvp` that is applied to what is to be pushed forward."""
    if not _forward.roots or cls.jvp is not Function.jvp:
        return
    roots = frozenset().union(*_forward.roots)
    seen: set[Any] = set()
    stack = [edge for edge, _ in node._edges]
    while stack:
        one = stack.pop()
        if one in roots:
            Function.jvp(node)
        if one is not None and one not in seen:
            seen.add(one)
            stack.extend(edge for edge, _ in one._edges)


_ACCESSED_TEXT = (
    "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the autograd.Function. Either "
    "access saved_tensors only once, or set clear_saved_tensors_on_access=False."
)


class BackwardCFunction(Node, FunctionCtx):
    """Node of a custom function; it is the `ctx` of its call."""

    __module__ = "torch.autograd.function"
    _forward_cls: Any = None
    materialize_grads = True
    _materialize_non_diff_grads = True
    """Whether outputs that carry no gradient get zeros too."""
    _without_gradient: frozenset[int] = frozenset()
    to_save: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    saved_for_forward: tuple[Any, ...] | None = None

    def __init__(self) -> None:
        super().__init__()
        self.needs_input_grad: tuple[bool, ...] = ()
        self._saved: list[Any] | None = []
        self._input_specs: list[Any] = []

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`."""
        saved = self._saved
        once = getattr(self._forward_cls, "clear_saved_tensors_on_access", False)
        if saved is None:
            raise RuntimeError(_ACCESSED_TEXT) if once else freed_error()
        found = tuple(
            None if item is None else unpack(self, item, version, True)
            for item, version in zip(saved[::2], saved[1::2], strict=True)
        )
        if once:
            self._saved = None
        return found

    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]:
        if self._saved is None:
            raise freed_error()
        return tuple(SavedTensor(self, (self._saved, index)) for index in range(0, len(self._saved), 2))

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Older name of `saved_tensors`."""
        warnings.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def keep(self, outputs: Sequence[Any]) -> None:
        """Pack what `save_for_backward` was given; outputs are kept without their history."""
        saved: list[Any] = []
        self._saved = saved
        for index, tensor in enumerate(self.to_save or ()):
            if tensor is None:
                saved += (None, None)
                continue
            if not isinstance(tensor, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {index} is of type {type(tensor).__name__}"
                )
            number = None
            if tensor._sig.requires_grad:
                number = next((place for place, output in enumerate(outputs) if output is tensor), None)
            saved += (pack(tensor, number, self), tensor._counter[0])
        self.to_save = None

    def maybe_clear_saved_tensors(self) -> None:
        """Drop the saved tensors, if the running backward does not keep the graph."""
        task = current_task()
        if task is not None and not task.keep_graph:
            self._saved = None

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        """Run the user's backward and check what it returns."""
        given = list(grads[: len(self._outputs)])
        if self.materialize_grads:
            for index, spec in enumerate(self._outputs):
                if index in self._without_gradient and not self._materialize_non_diff_grads:
                    continue
                if given[index] is None and spec is not None:
                    given[index] = aten.zeros(list(spec.shape), dtype=spec.dtype, device=spec.device)
        cls = self._forward_cls
        backward, vjp = cls.backward, cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        formula = vjp if vjp is not Function.vjp else backward
        answers = formula(self, given) if getattr(cls, "boxed_grads_call", False) else formula(self, *given)
        return self._checked(answers if isinstance(answers, tuple) else (answers,))

    def _checked(self, answers: tuple[Any, ...]) -> list[Any]:
        expected = len(self.needs_input_grad)
        if all(answer is None for answer in answers[expected:]):
            answers = answers[:expected]
        if len(answers) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got {len(answers)})"
            )
        gradients = []
        for index, (answer, spec) in enumerate(zip(answers, self._input_specs, strict=True)):
            if spec is None:
                if answer is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position {index + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if answer is not None and not isinstance(answer, TensorBase):
                raise RuntimeError(f"expected Variable or None (got {type(answer).__name__})")
            if answer is not None and self.needs_input_grad[index] and answer.dtype.is_complex > spec.dtype.is_complex:
                raise RuntimeError(
                    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                    "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
                    "PyTorch.)"
                )
            gradients.append(answer if self.needs_input_grad[index] else None)
        return gradients

    def release(self) -> None:
        """Drop what was saved."""
        self._saved = None

    def name(self) -> str:
        """`<Class>Backward`."""
        return type(self).__name__

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {hex(id(self))}>"


class FunctionMeta(type):
    """Gives every custom function its node class."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        members = {"_forward_cls": cls, "__module__": "torch.autograd.function"}
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), members)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Base of custom autograd functions: define static `forward` and `backward`, call `apply`.

    `forward(ctx, ...)`, or `forward(...)` with `setup_context(ctx, inputs, output)`.

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x ** 2
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 2 * x * grad
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "torch.autograd.function"
    generate_vmap_rule = False

    def __init__(self, *args: object, **kwargs: object) -> None:
        warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future version "
            "of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Raise torch's error for calling an instance, the way functions were used long ago."""
        raise RuntimeError(_LEGACY_TEXT)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be defined by the subclass."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save what backward needs, when `forward` takes no ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return one gradient per input of `forward`; to be defined by the subclass."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
            "mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return one tangent per output; to be defined by the subclass."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """The batching rule; to be defined by the subclass."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Run `forward`, record a node when an input requires grad, and return the outputs."""
        if recorder.apply is not None:
            return recorder.apply(cls, args, kwargs)
        if cls.setup_context is not Function.setup_context:
            if kwargs and state.mode.include & BATCHED_MASK:
                check_named(cls.forward, kwargs)
            args, kwargs = with_defaults(cls.forward, args, kwargs), {}
        elif kwargs:
            args, kwargs = in_order(cls.forward, args, kwargs), {}
        if not state.mode.profiling:
            return cls._apply(*args, **kwargs)
        event = state.recording.begin(cls.__name__, FUNCTION, wired.next_sequence(), args)
        try:
            return cls._apply(*args, **kwargs)
        finally:
            state.recording.end(event)

    @classmethod
    def _apply(cls, *args: object, **kwargs: object) -> Any:
        if state.transforms and cls.setup_context is Function.setup_context:
            raise RuntimeError(
                "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
                "override the setup_context staticmethod. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        if state.mode.include & BATCHED_MASK:
            level = _batching.innermost(args)
            if level:
                return _batching.apply_batched(cls, Function, check_forward_formula, args, level)
        node = cls._backward_cls()
        node.needs_input_grad = tuple(isinstance(arg, TensorBase) and arg._sig.requires_grad for arg in args)
        recording = state.mode.grad and any(node.needs_input_grad)
        if recording:
            node._edges = tuple(gradient_edge(arg) for arg in args if isinstance(arg, TensorBase))
            if state.transforms or _forward.roots:
                check_forward_formula(cls, node)
            if anomaly.enabled():
                task = current_task()
                anomaly.note_call(node, task.node if task is not None else None)
        dual = state.mode.forward_ad and forward_mode.any_tangent(args)
        before = state.mode
        state.mode = before.replace(grad=False, forward_ad=False)
        try:
            if cls.setup_context is not Function.setup_context:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(node, args, output)
                check_saved_inputs(node, args, output)
            else:
                output = cls.forward(node, *args, **kwargs)
        finally:
            state.mode = before
        connected = connect_outputs(node, args, output, recording)
        return function_tangents(cls, node, args, output, connected) if dual else connected


class InplaceFunction(Function):
    """Older base of functions with an `inplace` flag."""

    __module__ = "torch.autograd.function"

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """Older base of functions whose inputs and outputs are nested; kept so that `isinstance` and imports work.

    >>> issubclass(torch.autograd.function.NestedIOFunction, torch.autograd.Function)
    True
    """

    __module__ = "torch.autograd.function"

    @classmethod
    def apply(cls, *args: object, **kwargs: object) -> Any:
        """Raise: torch has deprecated this base, and nothing here implements its nesting."""
        raise NotImplementedError("NestedIOFunction is not supported; flatten inputs and outputs and use Function")

    def save_for_backward(self, *args: object) -> None:
        """Keep tensors, as a context does."""
        self.to_save = args

    def mark_dirty(self, *args: object, **kwargs: object) -> None:
        """Say which inputs were written; names are not looked at."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: object, **kwargs: object) -> None:
        """Say which outputs carry no gradient; names are not looked at."""
        self.non_differentiable = args

    def forward_extended(self, *input: object) -> Any:
        """Compute the outputs; to be defined by the subclass."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: object) -> Any:
        """Return the gradients; to be defined by the subclass."""
        raise NotImplementedError
