"""Functions whose Python form is not the op's: star arguments, several kinds of one argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.warn_once import warn_once
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.size import Size
from mindtorch_storage.strides import broadcast_shapes as _broadcast
from mindtorch_storage.tensor_base import TensorBase

from .._naming import adopt
from ..tensor.construction import tensor


def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> torch.Tensor:
    """Return `input`, resized in place to the template's shape; RuntimeError when it requires grad.

    >>> torch.resize_as_(torch.arange(4), torch.ones(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return input.resize_as_(the_template, memory_format=memory_format)


def _flattened(tensors: tuple[Any, ...]) -> list[Any]:
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


def _each_tensor(tensors: tuple[Any, ...]) -> list[Any]:
    """Return star arguments as the op's list; a list in place of them is refused, as anything else is."""
    for place, value in enumerate(tensors):
        if not isinstance(value, TensorBase):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(value).__name__}")
    return list(tensors)


def broadcast_tensors(*tensors: Any) -> tuple[torch.Tensor, ...]:
    """Return the tensors expanded to their common shape.

    >>> torch.broadcast_tensors(torch.tensor([1, 2]), torch.tensor([[3], [4]]))[1]
    tensor([[3, 3],
            [4, 4]])
    """
    return tuple(aten.broadcast_tensors(_each_tensor(tensors)))


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape that tensors of `shapes` broadcast to; RuntimeError when they do not.

    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    tuples = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    for index, shape in enumerate(tuples):
        if any(extent < 0 for extent in shape):
            raise ValueError("Attempting to broadcast a dimension with negative length!")
        _check_fits(_broadcast(*tuples[:index]), shape, index, shapes[index])
    return Size(_broadcast(*tuples))


def _check_fits(common: tuple[int, ...], shape: tuple[int, ...], index: int, given: Any) -> None:
    """Raise where `shape`, the argument at `index`, does not broadcast with those before it."""
    for place in range(1, min(len(common), len(shape)) + 1):
        extent, wanted = shape[-place], common[-place]
        if extent not in (1, wanted) and wanted != 1:
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {extent} at -{place}! Mismatching argument at index "
                f"{index} had {given}; but expected shape should be broadcastable to {list(common)}"
            )


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[torch.Tensor, ...]:
    """Return grids of coordinates; `indexing` is "ij" (the default) or "xy".

    >>> torch.meshgrid(torch.tensor([1, 2]), torch.tensor([3, 4]), indexing="ij")[0]
    tensor([[1, 1],
            [2, 2]])
    """
    if indexing is None:
        warn_once(_INDEXING)
    return tuple(aten.meshgrid(_flattened(tensors), indexing="ij" if indexing is None else indexing))


_INDEXING = "torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument."


def cartesian_prod(*tensors: Any) -> torch.Tensor:
    """Return every combination of the vectors' elements, a row each.

    >>> torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4]))
    tensor([[1, 3],
            [1, 4],
            [2, 3],
            [2, 4]])
    """
    return aten.cartesian_prod(_each_tensor(tensors))


def block_diag(*tensors: Any) -> torch.Tensor:
    """Return a matrix with the given ones on its diagonal.

    >>> torch.block_diag(torch.tensor([[1]]), torch.tensor([[2, 3]]))
    tensor([[1, 0, 0],
            [0, 2, 3]])
    """
    return aten.block_diag(_each_tensor(tensors))


def _at_least(name: str, shown: str) -> Callable[..., torch.Tensor | tuple[torch.Tensor, ...]]:
    def form(*tensors: TensorBase) -> torch.Tensor | tuple[torch.Tensor, ...]:
        function = getattr(aten, name)
        return function(tensors[0] if len(tensors) == 1 else list(tensors))

    form.__name__ = form.__qualname__ = name
    form.__module__ = "torch.functional"
    number = name[8:-1]
    form.__doc__ = (
        f"Return the tensor with at least {number} dimension{'s' if number != '1' else ''}; of several a tuple.\n\n"
        f">>> torch.{name}(torch.tensor(1), torch.tensor([[[2]]]))\n{shown}\n"
    )
    return form


atleast_1d = _at_least("atleast_1d", "(tensor([1]), tensor([[[2]]]))")
atleast_2d = _at_least("atleast_2d", "(tensor([[1]]), tensor([[[2]]]))")
atleast_3d = _at_least("atleast_3d", "(tensor([[[1]]]), tensor([[[2]]]))")


def split(tensor: Any, split_size_or_sections: Any, dim: int = 0) -> tuple[torch.Tensor, ...]:
    """Return pieces of the given length, or of the given lengths, along `dim`.

    >>> torch.split(torch.tensor([1, 2, 3]), 2)
    (tensor([1, 2]), tensor([3]))
    """
    return tensor.split(split_size_or_sections, dim)


def einsum(*args: Any) -> torch.Tensor:
    """Return the sum of products that `equation` describes: `einsum("ij,jk->ik", a, b)` or the sublist form.

    >>> torch.einsum("ij,jk->ik", torch.eye(2), torch.tensor([[1., 2.], [3., 4.]]))
    tensor([[1., 2.],
            [3., 4.]])
    """
    sublists = bool(args) and isinstance(args[0], TensorBase)
    operands = args[1:] if sublists else _flattened(args[1:])
    if not operands:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if sublists:
        return _einsum_sublists(args)
    return aten.einsum(args[0], operands)


def _letter(number: int) -> str:
    if not 0 <= number < 52:
        raise ValueError(f"einsum(): subscript {number} is not within the valid range [0, 52)")
    return chr(ord("A") + number) if number < 26 else chr(ord("a") + number - 26)


def _einsum_sublists(args: tuple[Any, ...]) -> Any:
    def text(sublist: Any) -> str:
        return "".join("..." if item is Ellipsis else _letter(item) for item in sublist)

    count = len(args) // 2 * 2
    equation = ",".join(text(args[place + 1]) for place in range(0, count, 2))
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return aten.einsum(equation, [args[place] for place in range(0, count, 2)])


def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> torch.Tensor:
    """Return the contraction over `dims`: a count of trailing/leading dims, or two lists of dims.

    >>> torch.tensordot(torch.ones(2, 3), torch.ones(3, 4), 1).shape
    torch.Size([2, 4])
    """
    if isinstance(dims, TensorBase):
        dims = dims.tolist()
    if isinstance(dims, (list, tuple)) and len(dims) == 2 and all(isinstance(one, (list, tuple)) for one in dims):
        first, second = list(dims[0]), list(dims[1])
    elif isinstance(dims, (list, tuple)) and len(dims) == 2:
        first, second = [dims[0]], [dims[1]]
    else:
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        first, second = list(range(-dims, 0)), list(range(dims))
    return aten.tensordot(a, b, first, second) if out is None else aten.tensordot(a, b, first, second, out=out)


def unravel_index(indices: Any, shape: Any) -> tuple[torch.Tensor, ...]:
    """Return the coordinates of flat `indices` in a tensor of `shape`.

    >>> torch.unravel_index(torch.tensor(5), (2, 3))
    (tensor(1), tensor(2))
    """
    if (
        not isinstance(indices, TensorBase)
        or indices.dtype.is_floating_point
        or indices.dtype.is_complex
        or (indices.dtype is bool_dtype)
    ):
        given = indices.dtype if isinstance(indices, TensorBase) else type(indices)
        raise TypeError(f"expected 'indices' to be integer dtype, but got {given}")
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    extents = [shape] if isinstance(shape, int) else list(shape)
    for extent in extents:
        if not isinstance(extent, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(extent)}")
    if any(extent < 0 for extent in extents):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(extents)}")
    steps = [math.prod(extents[place + 1 :]) for place in range(len(extents))]
    spread = aten.floor_divide(aten.unsqueeze(indices, -1), tensor(steps, device=indices.device))
    return tuple(aten.unbind(aten.remainder(spread, tensor(extents, device=indices.device)), -1))


adopt(globals(), "torch.functional")
