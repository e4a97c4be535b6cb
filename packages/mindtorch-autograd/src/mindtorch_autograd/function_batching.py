"""Custom functions under `vmap`: their own `vmap` staticmethod, or a rule made of running `forward` and `backward` batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from mindtorch_dispatch.batching import Batch, lifted, open_level, unwrapped, without_history, wrapped
from mindtorch_dispatch.batching.levels import batch_at, below
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import mode_set, state
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.tensor_base import TensorBase

from . import forward_mode
from .function_outputs import connect_outputs
from .function_tangents import function_tangents
from .views import gradient_edge

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a `vmap` staticmethod is told of the batch."""

    batch_size: int
    randomness: str


VmapInfo.__module__ = "torch._functorch.autograd_function"


def innermost(values: Sequence[Any]) -> int:
    """Return the level of the innermost batched tensor among arguments, 0 when there is none."""
    return max(
        (cast(Any, one._storage).level for one in _leaves(values) if isinstance(one, TensorBase) and one._wraps),
        default=0,
    )


def _leaves(value: object) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _mapped(value: Tensor, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _mapped(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_mapped(item, change) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return change(value)


def apply_batched(cls: Any, base: object, check: Callable[[Any, Any], None], args: tuple[Any, ...], level: int) -> Any:
    """Run custom function `cls` on batched arguments of `level`, recorded at that level where one requires grad there;
    `check(cls, node)` refuses what cannot be recorded."""
    args = tuple(lifted(arg, level) if isinstance(arg, TensorBase) else arg for arg in args)
    node = cls._backward_cls()
    node.needs_input_grad = tuple(isinstance(arg, TensorBase) and arg._sig.requires_grad for arg in args)
    recording = state.mode.records and any(node.needs_input_grad)
    dual = state.mode.forward_ad and forward_mode.any_tangent(args)
    if not recording and not dual:
        return _by_rule(cls, base, args, level)
    if recording:
        node._edges = tuple(gradient_edge(arg) for arg in args if isinstance(arg, TensorBase))
        check(cls, node)
    bare = [without_history(arg) if isinstance(arg, TensorBase) else arg for arg in args]
    with mode_set(forward_ad=False):
        output = _by_rule(cls, base, bare, level)
        output = _mapped(output, lambda one: lifted(one, level) if isinstance(one, TensorBase) else one)
    with mode_set(grad=False, forward_ad=False):
        cls.setup_context(node, args, output)
    connected = connect_outputs(node, args, output, recording)
    return function_tangents(cls, node, args, output, connected) if dual else connected


def _by_rule(cls: Any, base: Any, args: Sequence[Any], level: int) -> Any:
    """Return the outputs as tensors of `level`."""
    own = cls.vmap is not base.vmap
    if cls.generate_vmap_rule and own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            f"ambiguity. {_MORE}"
        )
    if not cls.generate_vmap_rule and not own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the "
            f"vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    batch = batch_at(level)
    values = tuple(_mapped(arg, lambda one: _open(one, level)[0]) for arg in args)
    dims = tuple(_mapped(arg, lambda one: _open(one, level)[1]) for arg in args)
    with below(level):
        if all(dim is None for dim in _leaves(dims)):
            return cls.apply(*values)
        if cls.generate_vmap_rule:
            output, out_dims = generated(cls, base, batch, dims, values)
        else:
            output, out_dims = checked_rule(cls.vmap(VmapInfo(batch.size, batch.randomness), dims, *values))
    return wrap_outputs(output, out_dims, level)


def _open(value: Any, level: int) -> tuple[Any, int | None]:
    return unwrapped(value, level) if isinstance(value, TensorBase) else (value, None)


def checked_rule(answer: object) -> tuple[Any, Any]:
    """Return what a `vmap` rule answered, as (outputs, their batch dimensions); torch's errors when it is no such pair."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
            f"with the output. Got a {type(answer)} instead"
        )
    return answer


def _structure(value: object) -> str:
    """Return the text of a structure as torch's pytree prints it."""
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return f"TreeSpec({kind}, None, [" + ",\n  ".join(_structure(one) for one in value) + "])"
    return "*"


def wrap_outputs(output: Tensor, dims: Sequence[int] | int, level: int) -> Any:
    """Return outputs as tensors of `level`; torch's error when the dimensions do not have their structure."""

    def wrap(output: Tensor, dims: int) -> Any:
        if isinstance(output, (tuple, list)):
            return type(output)(wrap(one, dim) for one, dim in zip(output, dims, strict=True))
        return wrapped(output, dims, level) if isinstance(output, TensorBase) and dims is not None else output

    return wrap(output, dims_of(output, dims))


def dims_of(output: Sequence[Tensor] | Tensor, dims: Sequence[int | None] | int | None) -> Any:
    """Return the batch dimensions of outputs with their structure; torch's error where that cannot be."""
    if isinstance(output, (tuple, list)):
        if dims is None or isinstance(dims, int):
            return [dims] * len(output)
        if isinstance(dims, (tuple, list)) and type(dims) is type(output) and len(dims) == len(output):
            pairs: list[tuple[Any, int | None]] = list(zip(output, dims, strict=True))
            return [dims_of(one, dim) for one, dim in pairs]
    elif dims is None or isinstance(dims, int):
        return dims
    raise RuntimeError(
        f"The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. Expected out_dims={dims}"
        f" to be compatible with the structure of `output`. out_dims has structure {_structure(dims)} but output has structure "
        f"{_structure(output)}. {_MORE}"
    )


class _Context:
    """The ctx that `setup_context`, `backward` and `jvp` get inside of the batch: what is saved leaves it and comes back."""

    def __init__(self, ctx: Any, level: int) -> None:
        object.__setattr__(self, "_inner", ctx)
        object.__setattr__(self, "_level", level)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Sequence[int]) -> None:
        setattr(self._inner, name, value)

    def save_for_backward(self, *tensors: object) -> None:
        """Keep tensors without the batch's wrapping."""
        pairs = [_open(one, self._level) for one in tensors]
        self._inner._saved_dims = [dim for _, dim in pairs]
        self._inner.save_for_backward(*[value for value, _ in pairs])

    def save_for_forward(self, *tensors: object) -> None:
        """Keep tensors for `jvp` without the batch's wrapping."""
        pairs = [_open(one, self._level) for one in tensors]
        self._inner._forward_dims = [dim for _, dim in pairs]
        self._inner.save_for_forward(*[value for value, _ in pairs])

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`, or to `save_for_forward` while tangents are computed."""
        dims = getattr(self._inner, "_chosen_dims", None) or self._inner._saved_dims
        return tuple(_closed(one, dim, self._level) for one, dim in zip(self._inner.saved_tensors, dims, strict=True))


def _closed(value: Tensor, dim: int | None, level: int) -> Any:
    return wrapped(value, dim, level) if isinstance(value, TensorBase) and dim is not None else value


def _closed_all(values: Sequence[Any], dims: Sequence[Any], level: int) -> list[Any]:
    return [
        type(value)(_closed_all(value, dim, level))
        if isinstance(value, (list, tuple)) and isinstance(dim, (list, tuple))
        else _closed(value, dim, level)
        for value, dim in zip(values, dims, strict=True)
    ]


def _fitted(grad: Tensor, level: int, dim: int | None, size: int) -> Any:
    """Return an input's gradient as the whole input has it: summed over the batch where the examples shared the input."""
    if not isinstance(grad, TensorBase):
        return grad
    value, at = unwrapped(grad, level)
    if dim is None:
        return value if at is None else aten.sum(value, [at])
    if at is None:
        value, at = aten.expand(aten.unsqueeze(value, 0), [size, *value.shape]), 0
    return aten.movedim(value, at, dim)


def generated(cls: Any, base: Any, batch: Batch, dims: tuple[Any, ...], values: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return the outputs of a function on a whole batch and their batch dimensions: `forward` runs on batched tensors, and
    so do `backward` and `jvp` later."""
    found: dict[str, Any] = {}
    size, randomness = batch.size, batch.randomness

    class Vmapped(base):  # type: ignore[misc]
        """The function on a whole batch."""

        generate_vmap_rule = True

        @staticmethod
        def forward(*operands: Any) -> Any:
            """Run the function's own on batched tensors."""
            with open_level(size, randomness) as inner:
                output = cls.forward(*_closed_all(operands, dims, inner.level))
                found["dims"] = _mapped(output, lambda one: _open(one, inner.level)[1])
                return _mapped(output, lambda one: _open(one, inner.level)[0])

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
            """Run the function's own with a ctx that unwraps what it saves."""
            with open_level(size, randomness) as inner:
                closed = wrap_outputs(output, found["dims"], inner.level)
                given = tuple(_closed_all(inputs, dims, inner.level))
                cls.setup_context(_Context(ctx, inner.level), given, closed)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            """Run the function's own on batched gradients."""
            with open_level(size, randomness) as inner:
                out_dims = found["dims"] if isinstance(found["dims"], (tuple, list)) else (found["dims"],)
                answers = cls.backward(_Context(ctx, inner.level), *_closed_all(grads, out_dims, inner.level))
                many = answers if isinstance(answers, tuple) else (answers,)
                return tuple(_fitted(one, inner.level, dim, size) for one, dim in zip(many, dims, strict=False))

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            """Run the function's own on batched tangents."""
            ctx._chosen_dims = getattr(ctx, "_forward_dims", None)
            with open_level(size, randomness) as inner:
                answers = cls.jvp(_Context(ctx, inner.level), *_closed_all(tangents, dims, inner.level))
                many = answers if isinstance(answers, tuple) else (answers,)
                out_dims = found["dims"] if isinstance(found["dims"], (tuple, list)) else (found["dims"],)
                made = tuple(_fitted(one, inner.level, dim, size) for one, dim in zip(many, out_dims, strict=True))
            ctx._chosen_dims = None
            return made if isinstance(answers, tuple) else made[0]

    Vmapped.__name__ = Vmapped.__qualname__ = f"Vmapped{cls.__name__}"
    if cls.jvp is base.jvp:
        del Vmapped.jvp
    return Vmapped.apply(*values), found["dims"]
