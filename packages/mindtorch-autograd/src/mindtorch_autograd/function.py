"""`torch.autograd.Function`: custom forward and backward."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.executor import tensor_class
from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from .inplace import check_inplace, rebase_history
from .node import Node
from .saved import freed_error, pack, unpack
from .views import gradient_edge


class FunctionCtx:
    """What `forward` and `backward` of a custom function share."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for `backward`; read them there as `ctx.saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        for tensor in tensors:
            if not isinstance(tensor, TensorBase) and tensor is not None:
                raise TypeError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs `forward` wrote in place."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Choose whether undefined gradients arrive in `backward` as zeros (the default) or None."""
        self.materialize_grads = value


class BackwardCFunction(Node, FunctionCtx):
    """Node of a custom function; it is the `ctx` of its call."""

    _forward_cls: Any = None
    materialize_grads = True
    to_save: Sequence[Any] = ()
    dirty_tensors: Sequence[Any] = ()
    non_differentiable: Sequence[Any] = ()

    def __init__(self) -> None:
        super().__init__()
        self.needs_input_grad: tuple[bool, ...] = ()
        self._items: list[Any] | None = []
        self._item_versions: list[Any] = []
        self._input_specs: list[Any] = []

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`."""
        if self._items is None:
            raise freed_error()
        return tuple(
            None if item is None else unpack(self, item, version)
            for item, version in zip(self._items, self._item_versions, strict=True)
        )

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """Older name of `saved_tensors`."""
        return self.saved_tensors

    def keep(self, outputs: Sequence[Any]) -> None:
        """Pack what `save_for_backward` was given; outputs are kept without their history."""
        self._items, self._item_versions = [], []
        for tensor in self.to_save:
            if tensor is None:
                self._items.append(None)
                self._item_versions.append(None)
                continue
            if not isinstance(tensor, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument is of type {type(tensor).__name__}"
                )
            number = next((index for index, output in enumerate(outputs) if output is tensor), None)
            self._items.append(pack(tensor, number))
            self._item_versions.append(tensor._counter[0])
        self.to_save = ()

    def apply(self, grads: list[Any]) -> Sequence[Any]:  # type: ignore[override]
        """Run the user's backward and check what it returns."""
        if self._items is None:
            raise freed_error()
        given = list(grads[: len(self._outputs)])
        if self.materialize_grads:
            for index, spec in enumerate(self._outputs):
                if given[index] is None and spec is not None:
                    given[index] = aten.zeros(list(spec.shape), dtype=spec.dtype, device=spec.device)
        cls = self._forward_cls
        backward, vjp = cls.backward, cls.vjp
        if backward is not Function.backward and vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement "
                "one of them."
            )
        answers = (vjp if vjp is not Function.vjp else backward)(self, *given)
        return self._checked(answers if isinstance(answers, tuple) else (answers,))

    def _checked(self, answers: tuple[Any, ...]) -> list[Any]:
        expected = len(self.needs_input_grad)
        while len(answers) > expected and answers[-1] is None:
            answers = answers[:-1]
        if len(answers) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got {len(answers)})"
            )
        fitted = []
        for index, (answer, spec) in enumerate(zip(answers, self._input_specs, strict=True)):
            if spec is None:
                if answer is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position {index + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if answer is not None and not isinstance(answer, TensorBase):
                raise TypeError(f"expected Tensor or None but got {type(answer).__name__}")
            if answer is not None and answer.shape != spec.shape:
                fitted.append(_reduced(self, answer, spec, index))
                continue
            if answer is not None and answer.dtype is not spec.dtype:
                answer = aten._to_copy(answer, dtype=spec.dtype)
            fitted.append(answer)
        return fitted

    def release(self) -> None:
        """Drop what was saved."""
        if self._items:
            self._items = None

    def name(self) -> str:
        """`<Class>Backward`."""
        return type(self).__name__


def _reduced(node: Node, answer: Any, spec: Any, index: int) -> Any:
    shape, want = tuple(answer.shape), tuple(spec.shape)
    lead = len(shape) - len(want)
    if lead < 0 or any(w not in (1, s) for s, w in zip(shape[max(lead, 0) :], want, strict=False)):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {index} - got {list(shape)} but expected shape "
            f"compatible with {list(want)}"
        )
    dims = list(range(lead)) + [lead + i for i, w in enumerate(want) if w == 1 and shape[lead + i] != 1]
    summed = aten.sum(answer, dims, True) if dims else answer
    return aten.reshape(summed, list(want))


class FunctionMeta(type):
    """Gives every custom function its node class."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        super().__init__(name, bases, attrs)
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {"_forward_cls": cls})


class Function(metaclass=FunctionMeta):
    """Base of custom autograd functions: define static `forward` and `backward`, call `apply`.

    `forward(ctx, ...)`, or `forward(...)` with `setup_context(ctx, inputs, output)`.
    """

    __module__ = "torch.autograd.function"
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future version "
            "of PyTorch."
        )

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
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set generate_vmap_rule=True."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run `forward`, record a node when an input requires grad, and return the outputs."""
        node = cls._backward_cls()
        tensors = [arg for arg in args if isinstance(arg, TensorBase)]
        node.needs_input_grad = tuple(isinstance(arg, TensorBase) and arg._sig.requires_grad for arg in args)
        recording = state.mode.grad and any(node.needs_input_grad)
        own_context = cls.setup_context is not Function.setup_context
        before = state.mode
        state.mode = before.replace(grad=False)
        try:
            if own_context:
                output = cls.forward(*args, **kwargs)
                cls.setup_context(node, args, output)
            else:
                output = cls.forward(node, *args, **kwargs)
        finally:
            state.mode = before
        return _connected(cls, node, args, tensors, output, recording)


def _connected(
    cls: type, node: BackwardCFunction, args: Sequence[Any], tensors: Sequence[Any], output: Any, recording: bool
) -> Any:
    single = not isinstance(output, tuple)
    outputs = [output] if single else list(output)
    if single and output is not None and not isinstance(output, TensorBase):
        return output
    dirty = {id(one) for one in node.dirty_tensors}
    plain = {id(one) for one in node.non_differentiable}
    if not recording:
        return output
    node._edges = tuple(gradient_edge(arg) for arg in args if isinstance(arg, TensorBase))
    node._input_specs = [arg._sig.spec if isinstance(arg, TensorBase) else None for arg in args]
    inputs = {id(tensor) for tensor in tensors}
    for index, one in enumerate(outputs):
        if not isinstance(one, TensorBase):
            continue
        if id(one) in dirty:
            check_inplace(one)
            one._counter[0] += 0
        elif id(one) in inputs:
            outputs[index] = _view_like(one)
    node._outputs = tuple(one._sig.spec if isinstance(one, TensorBase) else None for one in outputs)
    for index, one in enumerate(outputs):
        if not isinstance(one, TensorBase) or id(one) in plain:
            continue
        dtype = one._sig.spec.dtype
        if not (dtype.is_floating_point or dtype.is_complex):
            continue
        if id(one) in dirty and one._view is not None:
            rebase_history(one, node)
            continue
        one._grad_fn = node
        one._output_nr = index
        one._sig = one._sig.spec.tracked
    node.keep(outputs)
    return outputs[0] if single else tuple(outputs)


def _view_like(tensor: TensorBase) -> TensorBase:
    return make_tensor(
        type(tensor) if type(tensor) is tensor_class[0] else tensor_class[0],
        tensor._sig.spec.plain,
        tensor._array,
        tensor._materialized_storage() if tensor._array is not None else tensor._storage,
        tensor._offset,
        tensor._counter,
    )


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `backward` so that its results cannot be differentiated again."""

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        before = state.mode
        state.mode = before.replace(grad=False)
        try:
            outputs = fn(ctx, *args)
        finally:
            state.mode = before
        if not before.grad or not any(isinstance(arg, TensorBase) and arg._sig.requires_grad for arg in args):
            return outputs
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        marked = tuple(_not_again(one) if isinstance(one, TensorBase) else one for one in given)
        return marked if isinstance(outputs, tuple) else marked[0]

    return wrapper


class _DelayedError(Node):
    def apply(self, grads: list[Any]) -> Sequence[Any]:
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def _not_again(tensor: TensorBase) -> TensorBase:
    marked = _view_like(tensor)
    marked._grad_fn = _DelayedError((), (tensor._sig.spec,))
    marked._sig = marked._sig.spec.tracked
    return marked


class InplaceFunction(Function):
    """Older base of functions with an `inplace` flag."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
