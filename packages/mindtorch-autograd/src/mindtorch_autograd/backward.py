"""`torch.autograd.backward` and `torch.autograd.grad`."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from typing import Any, cast

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.plan import plain_types
from mindtorch_dispatch.state import state
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.layout import preserve_format
from mindtorch_storage.lazy_import import LazyModule
from mindtorch_storage.size import Size
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from .engine import run_backward
from .graph import GradientEdge
from .graph_log import log, log_whole_graph
from .node import Node
from .views import gradient_edge

_batching = LazyModule("mindtorch_dispatch.batching", "only batched gradients need it")

_CYCLE_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient which "
    "can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you have to use "
    "this function, make sure to reset the .grad fields of your parameters to None after use to break the cycle and avoid "
    "the leak."
)
_told: list[bool] = []
"""Not empty once the warning was given; torch gives it once per process."""


_OPTIONS = "grad_outputs retain_graph create_graph only_inputs allow_unused is_grads_batched materialize_grads".split()
"""The arguments of `grad` that its overrides get by name."""


def _as_tuple(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    if isinstance(value, (TensorBase, GradientEdge)) or hasattr(value, "__torch_function__"):
        return (value,)
    return tuple(value)


def _implicit_grad(output: Tensor) -> Any:
    spec = output._spec() if isinstance(output, GradientEdge) else output._sig.spec
    if spec.numel != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not spec.dtype.is_floating_point:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {spec.dtype}")
    if isinstance(output, TensorBase):
        return aten.ones_like(output, memory_format=preserve_format)
    return aten.ones(list(spec.shape), dtype=spec.dtype, device=spec.device)


def make_grads(outputs: Sequence[Any], grads: Sequence[Any], batched: bool) -> list[Any]:
    """Return a gradient for every output: those given, checked, and ones for scalars where None is given.

    Gradients past the last output are ignored, as torch does.
    """
    made = []
    for index, (output, grad) in enumerate(zip(outputs, grads, strict=False)):
        if grad is None:
            requires = isinstance(output, GradientEdge) or output.requires_grad
            made.append(_implicit_grad(output) if requires else None)
            continue
        if not isinstance(grad, TensorBase):
            raise TypeError(f"gradients can be either Tensors or None, but got {type(grad).__name__}")
        spec = output._spec() if isinstance(output, GradientEdge) else output._sig.spec
        _check_shape(grad, spec, index, batched)
        if spec is not None and spec.dtype.is_complex != grad.dtype.is_complex:
            raise RuntimeError(
                f"For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                f"dtype: grad_output[{index}] has a dtype of {grad.dtype} and output[{index}] has a dtype of "
                f"{spec.dtype}."
            )
        made.append(grad)
    if len(made) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(made)} gradients")
    return made


def _check_shape(grad: TensorBase, spec: Spec, index: int, batched: bool) -> None:
    have = Size(grad.shape[1:]) if batched else grad.shape
    if tuple(have) == tuple(spec.shape):
        return
    if batched:
        raise RuntimeError(
            "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch dimension. The "
            "sizes of the remaining dimensions are expected to match the shape of corresponding output, but a mismatch "
            f"was detected: grad_output[{index}] has a shape of {Size(have[1:])} and output[{index}] has a shape of "
            f"{spec.shape}. If you only want some tensors in `grad_output` to be considered batched, consider using vmap."
        )
    raise RuntimeError(
        f"Mismatch in shape: grad_output[{index}] has a shape of {have} and output[{index}] has a shape of {spec.shape}."
    )


def _roots(outputs: Sequence[Any], grads: Sequence[Any]) -> list[tuple[Node, int, Any]]:
    roots = []
    for index, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        if isinstance(output, GradientEdge):
            roots.append((output.node, output.output_nr, grad))
            continue
        node, number = gradient_edge(output)
        if node is None:
            raise RuntimeError(f"element {index} of tensors does not require grad and does not have a grad_fn")
        roots.append((node, number, grad))
    return roots


def backward(
    tensors: object,
    grad_tensors: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | None = None,
    inputs: Sequence[TensorBase] | TensorBase | None = None,
) -> None:
    """Add the gradients of `tensors` to the `.grad` of the leaves they depend on (of `inputs` only, when given).

    Raises RuntimeError with torch's texts for non-scalar outputs without gradient, outputs without graph, freed graphs.

    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.backward(x * x)
    >>> x.grad
    tensor(6.)
    """
    if state.transforms:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        warnings.warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=2)
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. Please only use "
                "`grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None and len(_as_tuple(inputs)) == 0:
        raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    outputs = _as_tuple(tensors)
    given = _as_tuple(grad_tensors) or (None,) * len(outputs)
    grads = make_grads(outputs, given, batched=False)
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph and not _told:
        _told.append(True)
        warnings.warn(_CYCLE_WARNING, stacklevel=frames_to_caller())
    edges = None
    if inputs is not None:
        for item in _as_tuple(inputs):
            if isinstance(item, TensorBase):
                cast(Any, item).retain_grad()  # nothing for a leaf; torch's error where no gradient can come
        edges = [_input_edge(item) for item in _as_tuple(inputs)]
    _run(_roots(outputs, grads), keep_graph=keep, create_graph=create_graph, inputs=edges)


def _run(roots: list[Any], **options: Any) -> list[Any]:
    """Run the pass, and tell what runs while the logger listens."""
    if not log.isEnabledFor(logging.DEBUG):
        return run_backward(roots, **options)
    remove = log_whole_graph([node for node, _, _ in roots])
    try:
        return run_backward(roots, **options)
    finally:
        remove()


def run_roots(
    outputs: Sequence[Any],
    grads: Sequence[Any],
    inputs: Sequence[Tensor],
    *,
    keep_graph: bool,
    create_graph: bool,
    allow_unused: bool,
    capture: bool,
) -> Any:
    """Run a pass from outputs whose gradients are all given; return those of `inputs` when `capture`, else None."""
    edges = [_input_edge(item) for item in inputs]
    found = run_backward(
        _roots(outputs, grads), keep_graph=keep_graph, create_graph=create_graph, inputs=edges or None, capture=capture
    )
    return _used(tuple(inputs), found, allow_unused, False, create_graph) if capture else None


def _input_edge(item: Tensor) -> tuple[Node, int]:
    if isinstance(item, GradientEdge):
        return item.node, item.output_nr
    if not isinstance(item, TensorBase):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(item).__name__}")
    node, number = gradient_edge(item)
    if node is None:
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    return node, number


def grad(
    outputs: object,
    inputs: Sequence[TensorBase] | TensorBase | None,
    grad_outputs: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Return the gradients of `outputs` with respect to `inputs`, accumulating nowhere.

    Raises RuntimeError with torch's texts when an input does not require grad or was not used.

    >>> x = torch.tensor(3., requires_grad=True)
    >>> torch.autograd.grad(x * x, x)
    (tensor(6.),)
    """
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for other "
            "parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    outputs = _as_tuple(outputs)
    if inputs is None:
        raise TypeError("'NoneType' object is not iterable")
    inputs = _as_tuple(inputs)
    if state.mode.overriding or any(type(one) not in plain_types for one in (*outputs, *inputs)):
        options = (
            grad_outputs,
            retain_graph,
            create_graph,
            only_inputs,
            allow_unused,
            is_grads_batched,
            materialize_grads,
        )
        handled, result = overrides.handle_python(grad, (outputs, inputs), dict(zip(_OPTIONS, options, strict=True)))
        if handled:
            return result  # type: ignore[no-any-return]  # what who overrides answers
    if any(not isinstance(output, (TensorBase, GradientEdge)) for output in outputs):
        raise AssertionError("Expected output to be a torch.Tensor")
    given = _as_tuple(grad_outputs) or (None,) * len(outputs)
    keep = create_graph if retain_graph is None else retain_graph
    if is_grads_batched:
        return _batched(outputs, inputs, given, keep, create_graph, allow_unused, materialize_grads)
    grads = make_grads(outputs, given, batched=False)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    roots = _roots(outputs, grads)
    edges = [_input_edge(item) for item in inputs]
    results = _run(roots, keep_graph=keep, create_graph=create_graph, inputs=edges, capture=True)
    return _used(inputs, results, allow_unused, materialize_grads, create_graph)


def _used(
    inputs: Sequence[Any], results: Sequence[Any], allow_unused: bool, materialize: bool, create_graph: bool
) -> tuple[Any, ...]:
    """Return the gradients; for unused inputs zeros, None or torch's error, as was asked for."""
    answers = []
    for index, (item, result) in enumerate(zip(inputs, results, strict=True)):
        if result is None and materialize:
            if isinstance(item, GradientEdge):
                raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
            answers.append(aten.zeros_like(item, requires_grad=create_graph))
        elif result is None and not allow_unused:
            raise RuntimeError(
                f"The differentiated Tensor at index {index} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior."
            )
        else:
            answers.append(result)
    return tuple(answers)


def _batched(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    given: Sequence[None] | Sequence[Tensor],
    keep: bool,
    create_graph: bool,
    allow_unused: bool,
    materialize: bool,
) -> tuple[Any, ...]:
    """One backward under `vmap` over the leading dimension of the gradients."""
    given = make_grads(outputs, given, batched=True)
    flat = next((one for one in given if one is not None and not one.shape), None)
    if flat is not None:
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a Tensor of "
            "dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    counts = [one.shape[0] for one in given if one is not None]
    if len(set(counts)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {counts} for the mapped "
            "dimension"
        )
    if not counts[0]:
        raise IndexError("index 0 is out of bounds for dimension 0 with size 0")
    with _batching.open_level(counts[0], "error") as batch:
        wrapped = tuple(None if one is None else _batching.wrapped(one, 0, batch.level) for one in given)
        found = grad(outputs, inputs, wrapped, keep, create_graph, allow_unused=True)
    columns = []
    for one in found:
        value, dim = (None, None) if one is None else _batching.unwrapped(one, batch.level)
        if value is not None and dim is None:
            value, dim = aten.expand(aten.unsqueeze(value, 0), [counts[0], *value.shape]), 0
        columns.append(None if value is None else aten.movedim(value, dim, 0))
    return _used(inputs, columns, allow_unused, materialize, create_graph)
