"""`torch.autograd.functional`: products with and matrices of first and second derivatives of functions of tensors.

Forward products (`jvp`) come from reverse mode applied twice: the product with a dummy cotangent is linear in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_autograd.backward import grad
from mindtorch_autograd.mode import enable_grad
from mindtorch_dispatch.call import aten
from mindtorch_storage.tensor_base import TensorBase

from . import _functional_checks as checks

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _prepared(inputs: Sequence[Any], create_graph: bool, need_graph: bool = True) -> tuple[Any, ...]:
    """Return stand-ins for the inputs: connected views when the result is to be differentiable, leaves otherwise."""
    return tuple(
        one.view_as(one) if create_graph and one.requires_grad else one.detach().requires_grad_(need_graph)
        for one in inputs
    )


def _finished(values: Any, create_graph: bool) -> Any:
    """Return results without history unless it was asked for."""
    if create_graph:
        return values
    if isinstance(values, TensorBase):
        return values.detach()
    return tuple(_finished(one, create_graph) for one in values)


def _construct_standard_basis_for(tensors: Sequence[Any], tensor_numels: Sequence[int]) -> tuple[Any, ...]:
    """Return the rows of an identity matrix of all elements, cut into one block of columns for each tensor."""
    total, start, blocks = sum(tensor_numels), 0, []
    for tensor, numel in zip(tensors, tensor_numels, strict=True):
        block = aten.new_zeros(tensor, [total, numel])
        aten.diagonal(block, -start).fill_(1)
        blocks.append(block)
        start += numel
    return tuple(blocks)


def _shaped(values: tuple[Any, ...], as_tuple: bool) -> Any:
    return values if as_tuple else values[0]


def _gradients(
    outputs: Sequence[Any], inputs: Sequence[Any], weights: Any = None, create_graph: bool = False, keep: Any = None
) -> tuple[Any, ...]:
    """Return gradients of those outputs that have any, None for inputs that none depends on."""
    outputs = tuple(outputs)
    weights = (None,) * len(outputs) if weights is None else tuple(weights)
    pairs = [
        (one, weight) for one, weight in zip(outputs, weights, strict=True) if one is not None and one.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    return grad(
        [one for one, _ in pairs],
        inputs,
        [weight for _, weight in pairs],
        allow_unused=True,
        create_graph=create_graph,
        retain_graph=keep,
    )


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (outputs, product of `v` with the Jacobian of `func` at `inputs`).

    Raises TypeError for values that are no tensors, RuntimeError for a wrong `v` and, when `strict`, for outputs that do
    not depend on an input.

    >>> torch.autograd.functional.vjp(lambda x: x**2, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        many, inputs = checks.as_tuple(inputs, "inputs", "vjp")
        inputs = _prepared(inputs, create_graph)
        outputs = func(*inputs)
        several, outputs = checks.as_tuple(outputs, "outputs of the user-provided function", "vjp")
        checks.requires_grad(outputs, "outputs", strict)
        if v is not None:
            _, v = checks.as_tuple(v, "v", "vjp")
            v = _prepared(v, create_graph, need_graph=False)
            checks.vector(v, outputs, several)
        elif len(outputs) != 1 or outputs[0].nelement() != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
            )
        found = _gradients(outputs, inputs, v, create_graph)
        products = checks.filled(found, inputs, strict, create_graph, "back")
    return _shaped(_finished(outputs, create_graph), several), _shaped(_finished(products, create_graph), many)


def jvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (outputs, product of the Jacobian of `func` at `inputs` with `v`), by double backward; errors as `vjp`.

    >>> torch.autograd.functional.jvp(lambda x: x**2, torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        many, inputs = checks.as_tuple(inputs, "inputs", "jvp")
        inputs = _prepared(inputs, create_graph)
        v = _input_vector(v, inputs, many, create_graph, "jvp")
        outputs = func(*inputs)
        several, outputs = checks.as_tuple(outputs, "outputs of the user-provided function", "jvp")
        checks.requires_grad(outputs, "outputs", strict)
        cotangents = tuple(aten.zeros_like(one, requires_grad=True) for one in outputs)
        found = _gradients(outputs, inputs, cotangents, create_graph=True)
        checks.requires_grad(found, "grad_inputs", strict)
        if create_graph:
            products = _gradients(found, cotangents, v, create_graph)
            products = checks.filled(products, outputs, strict, create_graph, "back_trick")
        else:
            products = _gradients(found, cotangents, v)
            products = checks.filled(products, outputs, strict, create_graph, "back_trick")
    return _shaped(_finished(outputs, create_graph), several), _shaped(_finished(products, create_graph), several)


def _input_vector(v: Any, inputs: tuple[Any, ...], many: bool, create_graph: bool, name: str) -> Any:
    """Return the vector that multiplies in input space, checked; None stands for 1 when there is one number."""
    if v is not None:
        _, v = checks.as_tuple(v, "v", name)
        v = _prepared(v, create_graph, need_graph=False)
        checks.vector(v, inputs, many)
        return v
    if len(inputs) != 1 or inputs[0].nelement() != 1:
        raise RuntimeError(
            "The vector v can only be None if the input to the user-provided function is a single Tensor with a single "
            "element."
        )
    return None


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of `func`: for each output and input a tensor of shape `output.shape + input.shape`.

    `vectorize` and the strategy change how torch computes it, never what; here rows are computed one by one
    ("reverse-mode") or columns ("forward-mode").

    >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    checks.strategy(strategy, "jacobian", create_graph, strict, vectorize)
    with enable_grad():
        many, inputs = checks.as_tuple(inputs, "inputs", "jacobian")
        inputs = _prepared(inputs, create_graph)
        outputs = func(*inputs)
        several, outputs = checks.as_tuple(outputs, "outputs of the user-provided function", "jacobian")
        checks.requires_grad(outputs, "outputs", strict)
        blocks = tuple(_rows(one, number, inputs, create_graph, strict) for number, one in enumerate(outputs))
    blocks = _finished(blocks, create_graph)
    if many:
        return blocks if several else blocks[0]
    singles = tuple(block[0] for block in blocks)
    return singles if several else singles[0]


def _rows(output: Any, number: int, inputs: Sequence[Any], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """Return the Jacobian blocks of one output, one per input."""
    rows: list[list[Any]] = [[] for _ in inputs]
    for element in output.reshape(-1).unbind() if output.nelement() else ():
        found = _gradients((element,), inputs, create_graph=create_graph, keep=True)
        for place, (one, row, ref) in enumerate(zip(found, rows, inputs, strict=True)):
            if one is not None:
                checks.jacobian_row(one, place, strict, create_graph)
                row.append(one)
                continue
            if strict:
                raise RuntimeError(
                    f"Output {number} of the user-provided function is independent of input {place}. This is not allowed "
                    "in strict mode."
                )
            row.append(aten.zeros_like(ref))
    return tuple(
        aten.stack(row, 0).view(tuple(output.shape) + tuple(ref.shape)) for row, ref in zip(rows, inputs, strict=True)
    )


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the Hessian of a scalar function: a tensor of shape `input.shape + input.shape`, per pair of inputs.

    Raises RuntimeError when `func` returns more than one number.

    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    many, inputs = checks.as_tuple(inputs, "inputs", "hessian")
    checks.outer_strategy(outer_jacobian_strategy)

    def scalar(*given: Any) -> Any:
        output = func(*given)
        several, outputs = checks.as_tuple(output, "outputs of the user-provided function", "hessian")
        checks.requires_grad(outputs, "outputs", strict)
        checks.single_number(outputs, several, "hessian")
        return outputs[0].squeeze()

    def gradient(*given: Any) -> Any:
        found = jacobian(scalar, given, create_graph=True)
        checks.requires_grad(found, "jacobian", strict)
        return found

    found = jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many else found[0][0]


def vhp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (output, product of `v` with the Hessian of the scalar function `func` at `inputs`); errors as `hessian`.

    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
    """Return (output, product of the Hessian of the scalar function `func` at `inputs` with `v`); errors as `hessian`.

    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(name: str, func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool) -> Any:
    with enable_grad():
        many, inputs = checks.as_tuple(inputs, "inputs", name)
        inputs = _prepared(inputs, create_graph)
        v = _input_vector(v, inputs, many, create_graph, name)
        outputs = func(*inputs)
        several, outputs = checks.as_tuple(outputs, "outputs of the user-provided function", name)
        checks.requires_grad(outputs, "outputs", strict)
        checks.single_number(outputs, several, name)
        jac = _gradients(outputs, inputs, create_graph=True)
        checks.requires_grad(jac, "jacobian", strict)
        if name == "vhp":
            found = _gradients(jac, inputs, v, create_graph)
            products = checks.filled(found, inputs, strict, create_graph, "double_back")
        else:
            products = _transposed_product(jac, inputs, v, create_graph, strict)
    return _shaped(_finished(outputs, create_graph), several), _shaped(_finished(products, create_graph), many)


def _transposed_product(jac: Any, inputs: Any, v: Any, create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """The Hessian times `v` by differentiating the product with a dummy vector, which is linear in it."""
    dummies = tuple(aten.zeros_like(one, requires_grad=True) for one in inputs)
    double = _gradients(jac, inputs, dummies, create_graph=True)
    checks.requires_grad(double, "hessian", strict)
    found = _gradients(double, dummies, v, create_graph)
    return checks.filled(found, inputs, strict, create_graph, "double_back_trick")


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """Return whether a value was a tuple, and it as one; without names it alone, unchecked."""
    if arg_name is None and fn_name is None:
        return inp if isinstance(inp, tuple) else (inp,)
    return checks.as_tuple(inp, str(arg_name), str(fn_name))


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Return the first of a tuple where what it was made of was no tuple; with two answers the same of tuples of tuples."""
    if isinstance(to_unpack, tuple):
        outer, inner = to_unpack
        values = res if inner else tuple(one[0] for one in res)
        return values if outer else values[0]
    return res if to_unpack else res[0]


_grad_preprocess = _prepared
_grad_postprocess = _finished
