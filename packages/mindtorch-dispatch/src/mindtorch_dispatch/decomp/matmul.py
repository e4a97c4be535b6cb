"""Matrix products composed of `mm`, `bmm`, `mv` and `dot`, as torch composes them: programs see the graph."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_storage.layout import contiguous_format
from mindtorch_storage.strides import broadcast_shapes

from ..call import aten
from ..frames import frames_to_caller
from ..meta.checks import c_type, check, shape_text
from ..override.interception import intercepted
from ..state import state
from ..typing import Tensor
from .view import unlinked


def _folds(first: Tensor, second: Tensor) -> bool:
    """True when the batch can be folded into the rows of one matrix product."""
    first_larger = len(first.shape) >= len(second.shape)
    larger, smaller = (first, second) if first_larger else (second, first)
    if not (len(larger.shape) >= 3 and len(smaller.shape) <= 2):
        return False
    # Expanding the smaller one to a batch would make its gradient a batch too.
    if smaller._sig.requires_grad:
        return True
    if len(first.shape) == 2:
        return False
    spec = larger._sig.spec
    if spec.numel == 0:
        return True
    shape, stride = list(spec.shape), list(spec.stride)
    if not first_larger:
        shape[-2:], stride[-2:] = shape[:-3:-1], stride[:-3:-1]
    return all(stride[dim] == stride[dim + 1] * shape[dim + 1] for dim in range(len(shape) - 2))


def _folded(self: Tensor, other: Tensor) -> Any:
    self_larger = len(self.shape) >= len(other.shape)
    if self_larger:
        batch, single = self, other
    else:
        batch = aten.transpose(other, -2, -1)
        single = aten.t(self) if len(self.shape) == 2 else self
    shape = tuple(batch.shape)
    rows = aten.reshape(batch, (math.prod(shape[:-1]), shape[-1]))
    if len(single.shape) == 1:
        return aten._unsafe_view(aten.mv(rows, single), shape[:-1])
    product = aten._unsafe_view(aten.mm(rows, single), (*shape[:-1], single.shape[1]))
    if self_larger:
        return product
    return aten.contiguous(aten.transpose(product, -2, -1), memory_format=contiguous_format)


def _is_seen(self: Tensor, other: Tensor) -> bool:
    """True when a program may see the calls that a product comes to: it records them, or a mode handles them."""
    mode = state.mode
    recorded = mode.records and (self._sig.requires_grad or other._sig.requires_grad)
    return recorded or mode.profiling or mode.watching or mode.forward_ad or intercepted(mode, (self, other))


def _of_one_batch(self: Tensor, other: Tensor) -> Any:
    """The product of matrices in batches that are the same, without the calls that would leave them as they are."""
    first, second = tuple(self.shape), tuple(other.shape)
    if len(first) == 3:
        return aten.bmm(self, other)
    count = math.prod(first[:-2])
    product = aten.bmm(aten.reshape(self, (count, *first[-2:])), aten.reshape(other, (count, *second[-2:])))
    return aten._unsafe_view(product, (*first[:-1], second[-1]))


def _batched(self: Tensor, other: Tensor) -> Any:
    first, second = tuple(self.shape), tuple(other.shape)
    if len(first) > 2 and len(first) == len(second) and first[:-2] == second[:-2] and not _is_seen(self, other):
        return _of_one_batch(self, other)
    rows = first[-2] if len(first) > 1 else 1
    if len(first) == len(second) == 3 and first[0] != second[0]:
        if first[0] == 1 and self._sig.requires_grad:
            return matmul(aten.squeeze(self, 0), other)
        if second[0] == 1 and other._sig.requires_grad:
            return matmul(self, aten.squeeze(other, 0))
    batch = broadcast_shapes(first[:-2], second[:-2])
    count = math.prod(batch)
    left = aten.reshape(aten.expand(self, (*batch, rows, first[-1])), (count, rows, first[-1]))
    if len(second) == 1:
        right = aten.reshape(aten.expand(other, (*batch, second[0])), (count, second[0]))
        product = aten.squeeze(aten.bmm(left, aten.unsqueeze(right, 2)), -1)
        return aten._unsafe_view(product, (*batch, rows))
    right = aten.reshape(aten.expand(other, (*batch, *second[-2:])), (count, *second[-2:]))
    shape = (*batch, rows, second[-1]) if len(first) > 1 else (*batch, second[-1])
    return aten._unsafe_view(aten.bmm(left, right), shape)


def matmul(self: Tensor, other: Tensor) -> Any:
    """Matrix product with broadcast batches; vectors as torch treats them."""
    dims = (len(self.shape), len(other.shape))
    if dims == (2, 2):
        return aten.mm(self, other)
    check(
        0 not in dims,
        lambda: f"both arguments to matmul need to be at least 1D, but they are {dims[0]}D and {dims[1]}D",
    )
    if dims == (1, 1):
        return aten.dot(self, other)
    if dims == (2, 1):
        return aten.mv(self, other)
    if dims == (1, 2):
        return unlinked(aten.squeeze(aten.mm(aten.unsqueeze(self, 0), other), 0))
    if _folds(self, other):
        return _folded(self, other)
    return _batched(self, other)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
    """`input @ weight.T + bias`, the batch folded where the input is contiguous."""
    spec = input._sig.spec
    dim, weight_dim = spec.ndim, len(weight.shape)
    check(
        dim != 0 and weight_dim != 0,
        lambda: f"both arguments to linear need to be at least 1D, but they are {dim}D and {weight_dim}D",
    )
    if bias is None:
        return matmul(input, aten.t(weight))
    if dim == 2:
        return aten.addmm(bias, input, aten.t(weight))
    if spec.is_contiguous and len(bias.shape) == 1:
        shape = tuple(spec.shape)
        rows = aten.reshape(input, (math.prod(shape[:-1]), shape[-1]))
        result = aten.addmm(bias, rows, aten.t(weight))
        return aten.view(result, (*shape[:-1], result.shape[1]))
    product = matmul(input, aten.t(weight))
    # What wraps tensors may not write in place: torch adds anew for it.
    return (aten.add if intercepted(state.mode, (product,)) else aten.add_)(product, bias)


def addmm_activation(
    self: Tensor, mat1: Tensor, mat2: Tensor, beta: complex, alpha: complex, use_gelu: bool = False
) -> Any:
    """`addmm`, and then relu or gelu."""
    product = aten.addmm(self, mat1, mat2, beta=beta, alpha=alpha)
    return aten.gelu(product) if use_gelu else aten.relu(product)


def outer(self: Tensor, vec2: Tensor) -> Any:
    """Every product of an element of one vector with one of the other."""
    for name, vector in (("self", self), ("vec2", vec2)):
        check(
            len(vector.shape) == 1,
            lambda name=name, vector=vector: f"outer: Expected 1-D argument {name}, but got {len(vector.shape)}-D",
        )
    return aten.mul(aten.reshape(self, (self.shape[0], 1)), vec2)


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> Any:
    """`x1 @ weight[k] @ x2` for every output feature k."""
    given = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    check(
        len({one.dtype for one in given.values()}) == 1,
        lambda: (
            "All tensors must have the same dtype, got "
            + ", ".join(f"{name}: {c_type(one.dtype)}" for name, one in given.items())
        ),
    )
    first, second, sizes = tuple(input1.shape), tuple(input2.shape), tuple(weight.shape)
    check(
        len(first) == len(second),
        lambda: f"bilinear(): input dimensions do not match: got {len(first)} and {len(second)}",
    )
    for dim in range(len(first) - 1):
        check(
            first[dim] == second[dim],
            lambda dim=dim: (
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {first[dim]} and {second[dim]}"
            ),
        )
    for name, size, wanted in (("input1", first[-1], sizes[1]), ("input2", second[-1], sizes[2])):
        check(
            size == wanted,
            lambda name=name, size=size, wanted=wanted: (
                f"bilinear(): {name} size does not match weight size: got {size} but expected {wanted}"
            ),
        )
    check(
        bias is None or bias.shape[0] == sizes[0],
        lambda: f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {sizes[0]}",
    )
    count = math.prod(first[:-1])
    rows1, rows2 = aten.reshape(input1, (count, first[-1])), aten.reshape(input2, (count, second[-1]))
    product = aten._trilinear(rows1, weight, rows2, [1, 3], [0], [1, 2], [2, 3])
    output = aten.reshape(product, (*first[:-1], sizes[0]))
    return output if bias is None else aten.add(output, bias)


def kron(self: Tensor, other: Tensor) -> Any:
    """Kronecker product: dimensions of the operands interleaved, multiplied, joined pairwise."""
    dims = max(len(self.shape), len(other.shape))
    first = (*[1] * (dims - len(self.shape)), *self.shape)
    second = (*[1] * (dims - len(other.shape)), *other.shape)
    left = aten._unsafe_view(self, [extent for size in first for extent in (size, 1)])
    right = aten._unsafe_view(other, [extent for size in second for extent in (1, size)])
    joined = [one * two for one, two in zip(first, second, strict=True)]
    return aten._unsafe_view(aten.mul(left, right), joined)


_CROSS_WARNING = (
    "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or simply "
    "use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a future "
    "release."
)


def cross(self: Tensor, other: Tensor, dim: int | None) -> Any:
    """Cross product along `dim`, or along the first dimension of extent 3."""
    if dim is None:
        warnings.warn(_CROSS_WARNING, UserWarning, stacklevel=frames_to_caller())
        dim = next((index for index, extent in enumerate(self.shape) if extent == 3), None)
        check(dim is not None, lambda: "no dimension of size 3 in input")
    return aten.linalg_cross(self, other, dim=dim)


def vecdot(x: Tensor, y: Tensor, dim: int) -> Any:
    """Inner products along `dim`, the first operand conjugated."""
    dtype = x.dtype
    check(
        dtype.is_floating_point or dtype.is_complex,
        lambda: f"linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtype.scalar_name}",
    )
    check(
        dtype is y.dtype,
        lambda: (
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{dtype.scalar_name} and y of type {y.dtype.scalar_name} instead"
        ),
    )
    if len(x.shape) == len(y.shape) == 1:
        return aten.vdot(x, y)
    return aten.sum(aten.mul(aten.conj_physical(x) if dtype.is_complex else x, y), dim)


_CHAIN_WARNING = (
    "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, "
    "which accepts a list of two or more tensors rather than multiple parameters."
)


def chain_matmul(matrices: Sequence[Tensor]) -> Any:
    """Product of matrices in the cheapest order."""
    warnings.warn(_CHAIN_WARNING, UserWarning, stacklevel=frames_to_caller())
    check(len(matrices) > 0, lambda: "chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        check(
            len(matrix.shape) == 2,
            lambda matrix=matrix: f"Tensor dimension is {len(matrix.shape)}, expected 2 instead.",
        )
    if len(matrices) == 1:
        return aten.clone(matrices[0])
    return multi_dot(matrices)


def _check_chain(given: Any, chain: list[Any]) -> None:
    first = given[0]
    for at in range(1, len(chain)):
        check(
            given[at].dtype is first.dtype,
            lambda at=at: (
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {c_type(first.dtype)} and "
                f"tensor {at} {c_type(given[at].dtype)}"
            ),
        )
        check(
            chain[at].shape[0] == chain[at - 1].shape[1],
            lambda at=at: (
                f"multi_dot(): tensors {at - 1} and {at} with shapes {shape_text(given[at - 1].shape)} and "
                f"{shape_text(given[at].shape)} cannot be multiplied"
            ),
        )


def multi_dot(tensors: Sequence[Tensor]) -> Any:
    """Product of matrices in the cheapest order; the first and last may be vectors."""
    given, count = list(tensors), len(tensors)
    check(count >= 2, lambda: f"multi_dot(): expected at least 2 tensors but got {count}")
    for place, at in (("first", 0), ("last", -1)):
        check(
            len(given[at].shape) in (1, 2),
            lambda place=place, at=at: (
                f"multi_dot(): the {place} tensor must be 1D or 2D but got {len(given[at].shape)}D"
            ),
        )
    for at in range(1, count - 1):
        check(
            len(given[at].shape) == 2,
            lambda at=at: f"multi_dot(): tensor {at} must be 2D but got {len(given[at].shape)}D",
        )
    chain = list(given)
    if len(given[0].shape) == 1:
        chain[0] = aten.unsqueeze(given[0], 0)
    if len(given[-1].shape) == 1:
        chain[-1] = aten.unsqueeze(given[-1], -1)
    _check_chain(given, chain)
    shape = (*given[0].shape[:-1], *given[-1].shape[1:])
    return aten.view(_product_of_few(chain) if count < 4 else _chain_product(chain, _chain_order(chain)), shape)


def _product_of_few(chain: list[Any]) -> Any:
    """Multiply two matrices, or three in the cheaper order; the first two come first where both cost the same."""
    if len(chain) == 2:
        return aten.mm(*chain)
    first, second, third = chain
    (rows, inner), (depth, columns) = first.shape, third.shape
    if inner * depth * columns + rows * inner * columns < rows * inner * depth + rows * depth * columns:
        return aten.mm(first, aten.mm(second, third))
    return aten.mm(aten.mm(first, second), third)


def _chain_order(chain: list[Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return where to split every range of the chain: `[first, length]`, the place that costs the fewest multiplications.

    The ranges of one length are looked at together: `starting[first, length]` is the cost of the range of so many products
    that starts at a matrix, `ending[last, length]` of the one that ends there.
    """
    count = len(chain)
    extents = [matrix.shape[0] for matrix in chain] + [chain[-1].shape[1]]
    exact: Any = object if count * max(extents, default=0) ** 3 >= 2**63 else np.int64
    sizes = np.array(extents, exact)
    starting, ending = np.zeros((count, count), exact), np.zeros((count, count), exact)
    split = np.zeros((count, count), np.int64)
    for length in range(1, count):
        ranges = count - length
        between = np.lib.stride_tricks.sliding_window_view(sizes[1:-1], length)
        outer = sizes[:ranges] * sizes[length + 1 :]
        total = starting[:ranges, :length] + ending[length:, :length][:, ::-1] + outer[:, None] * between
        best = total.argmin(1)
        least = total[np.arange(ranges), best]
        starting[:ranges, length], ending[length:, length] = least, least
        split[:ranges, length] = best + np.arange(ranges)
    return split


def _chain_product(chain: list[Any], split: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """Multiply in that order; a chain of thousands is no deeper than one of three."""
    waiting: list[tuple[int, int] | None] = [(0, len(chain) - 1)]
    made: list[Any] = []
    while waiting:
        bounds = waiting.pop()
        if bounds is None:
            right = made.pop()
            made.append(aten.mm(made.pop(), right))
            continue
        first, last = bounds
        if first == last:
            made.append(chain[first])
            continue
        at = int(split[first, last - first])
        waiting += [None, (at + 1, last), (first, at)]
    return made[0]


def accelerator_only(self: Tensor, *values: object) -> Any:
    """Products with a result dtype of their own: torch has them on accelerators only."""
    raise NotImplementedError(
        f"a product with out_dtype has no kernel on the {self.device.type} backend; convert an operand with .to(out_dtype)"
    )
