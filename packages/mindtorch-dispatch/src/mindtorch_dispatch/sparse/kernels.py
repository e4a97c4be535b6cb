"""What runs for the key SparseCPU: ops on sparse coordinate tensors, in terms of ops on indices and values.

An op that is not here, and not composed of ops that are, raises torch's error for a missing backend.
"""

from __future__ import annotations

from typing import Any

from mindtorch_storage.layout import strided
from mindtorch_storage.promotion import can_cast, promote_types

from ..call import aten
from ..meta.checks import check, shape_text
from ..meta.factory import check_zeros
from ..typing import Tensor
from .coo import coalesced, empty, index_of, is_sparse, like, make, parts, replace, to_dense
from .table import filling, kernel, written


def _of_values(name: str) -> Any:
    """f(a + b) = f(a) + f(b): the values alone, whatever repeats."""
    return lambda self: like(self, getattr(aten, name)(parts(self).values))


def _of_sums(name: str) -> Any:
    """f(0) = 0, but f of a sum is no sum: equal indices are added first."""

    def computed(self: Tensor, *rest: Any) -> Any:
        entries = coalesced(self)
        return like(entries, getattr(aten, name)(parts(entries).values, *rest), True)

    return computed


def _in_place(name: str) -> Any:
    """The same into the tensor itself, whose equal indices would have to be added first."""

    def computed(self: Tensor, *rest: Any) -> Any:
        check(parts(self).coalesced, lambda: f"{name}_ requires coalesced input")
        check(
            name != "abs" or not self.dtype.is_complex,
            lambda: "In-place abs is not supported for complex tensors.",
        )
        return written(self, _of_sums(name)(self, *rest))

    return computed


for _name in ("neg", "positive", "real", "imag", "conj_physical"):
    kernel(_name)(filling(_of_values(_name)) if _name == "neg" else _of_values(_name))
for _name in (
    "abs sqrt sin sinh asin asinh tan tanh atan atanh sign sgn signbit ceil floor round trunc frac expm1 log1p erf erfinv "
    "relu deg2rad rad2deg isnan isinf isposinf isneginf nan_to_num"
).split():
    kernel(_name)(filling(_of_sums(_name)))
    kernel(f"{_name}_")(_in_place(_name))
for _alias, _name in (
    ("absolute", "abs"), ("arcsin", "asin"), ("arcsinh", "asinh"), ("arctan", "atan"), ("arctanh", "atanh")
):  # fmt: skip
    kernel(_alias)(filling(_of_sums(_name)))
    kernel(f"{_alias}_")(_in_place(_name))
kernel("negative")(filling(_of_values("neg")))


@kernel("threshold_backward")
def threshold_backward(grad_output: Tensor, self: Tensor, threshold: float) -> Any:
    """The gradient of relu: what it has where `self` has larger elements."""
    given = parts(grad_output)
    places = index_of(grad_output)
    dense = to_dense(self)
    elements = aten.index(dense, places) if places else aten.reshape(dense, [-1])
    return like(grad_output, aten.threshold_backward(given.values, elements, threshold))


@kernel("pow.Tensor_Scalar")
def power(self: Tensor, exponent: Any) -> Any:
    """A power of every element, those that are 0 included."""
    check(exponent != 0, lambda: "pow: sparse tensors only support a nonzero exponent")
    entries = coalesced(self)
    return like(entries, aten.pow(parts(entries).values, exponent), True)


def is_tensor(value: Any) -> bool:
    """True for a tensor, False for a number at a tensor's place."""
    return hasattr(value, "_sig")


@kernel("mul.Tensor", "mul.Scalar")
def mul(self: Tensor, other: Any) -> Any:
    """By a number, a 0-d tensor, a dense tensor of the same size, or another sparse tensor."""
    if not is_tensor(self) or not is_sparse(self):
        return mul(other, self)
    if not is_tensor(other) or (other.dim() == 0 and not is_sparse(other)):
        given = parts(self)
        return like(self, aten.mul(given.values, other), given.coalesced or not given.values.shape[0])
    if is_sparse(other) and self.shape != other.shape:
        return _mul_of_spread_values(self, other)
    _check_same_size("mul", self, other)
    if is_sparse(other):
        one, two = coalesced(self), coalesced(other)
        values = parts(one).values
        return like(one, aten.mul(values, _elements_at(to_dense(two), one)), values.shape[0] < 2)
    return like(self, aten.mul(parts(self).values, _elements_at(other, self)))


def _elements_at(dense: Tensor, entries: Tensor) -> Any:
    """Return what a dense tensor has where a sparse one has entries: all of it where no dimension is sparse."""
    places = index_of(entries)
    return aten.index(dense, places) if places else aten.unsqueeze(dense, 0)


def _mul_of_spread_values(self: Tensor, other: Tensor) -> Any:
    """Return the product of two sparse tensors whose values are spread over each other's dense dimensions."""
    sparse = self.sparse_dim()
    check(
        self.dim() == other.dim() and sparse == other.sparse_dim() and self.shape[:sparse] == other.shape[:sparse],
        lambda: (
            "sparse_binary_op_intersection_cpu(): expects sparse inputs with equal dimensionality, number of sparse "
            "dimensions, and shape of sparse dimensions"
        ),
    )
    one, two = coalesced(self), coalesced(other)
    products = aten.mul(parts(one).values, _elements_at(to_dense(two), one))
    return make(parts(one).indices, products, [*self.shape[:sparse], *products.shape[1:]])


@kernel("div.Tensor", "div.Scalar")
def div(self: Tensor, other: Any) -> Any:
    """By a number or a 0-d tensor."""
    check(
        is_sparse(self) and (not hasattr(other, "_sig") or other.dim() == 0),
        lambda: (
            "Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
            f"{shape_text(other.shape)} for divisor)"
        ),
    )
    return like(self, aten.div(parts(self).values, other))


@kernel("mul_.Tensor")
def mul_(self: Tensor, other: Any) -> Any:
    """A product into a sparse tensor, or into a dense one."""
    product = mul(self, other)
    check(
        not (is_tensor(other) and is_sparse(other)) or can_cast(product.dtype, self.dtype),
        lambda: (
            f"Can't convert result type {product.dtype.scalar_name} to output {self.dtype.scalar_name} in "
            f"{'mul' if is_sparse(self) else 'add'} operation"
        ),
    )
    return written(self, product) if is_sparse(self) else aten.copy_(self, to_dense(product))


def _check_same_size(name: str, self: Tensor, other: Any) -> None:
    check(
        self.shape == other.shape,
        lambda: (
            f"{name}: expected 'self' and 'other' to have same size, but self has size {shape_text(self.shape)} while "
            f"other has size {shape_text(other.shape)} (FYI: dense-sparse addition does not currently support "
            "broadcasting)"
        ),
    )


def _scaled(values: Any, alpha: Any) -> Any:
    return values if alpha == 1 else aten.mul(values, alpha)


@kernel("add.Tensor")
def add(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """Sparse and sparse give sparse, dense and sparse give dense."""
    check(
        not is_sparse(self) or (hasattr(other, "_sig") and is_sparse(other)),
        lambda: "add(sparse, dense) is not supported. Use add(dense, sparse) instead.",
    )
    if not is_sparse(self):
        dtype = promote_types(self.dtype, other.dtype)
        return _add_to_dense(
            aten.clone(self) if self.dtype is dtype else aten._to_copy(self, dtype=dtype), other, alpha
        )
    check(
        self.shape == other.shape,
        lambda: (
            f"add: expected sizes of 'self' and 'other' to match, but {shape_text(self.shape)} != "
            f"{shape_text(other.shape)}"
        ),
    )
    one, two = parts(self), parts(other)
    if one.indices.shape[0] != two.indices.shape[0]:
        raise RuntimeError(
            "add: expected 'self' and 'other' to have same number of sparse dimensions, but got "
            f"{one.indices.shape[0]} and {two.indices.shape[0]}"
        )
    # Torch merges entries in order, which for equal indices is this sum; expanded values are put behind one another.
    dense = one.values.is_contiguous() and two.values.is_contiguous()
    if dense and (one.indices is two.indices or aten.equal(one.indices, two.indices)):
        return like(self, aten.add(one.values, two.values, alpha=alpha), one.coalesced and two.coalesced)
    joined = make(
        aten.cat([one.indices, two.indices], 1),
        aten.cat([one.values, _scaled(aten._to_copy(two.values, dtype=promote_types(self.dtype, other.dtype)), alpha)]),
        self.shape,
    )
    return coalesced(joined) if one.coalesced and two.coalesced else joined


@kernel("add_.Tensor")
def add_(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """A sparse tensor into a dense one, entry by entry; or into a sparse one."""
    if is_sparse(self) and not (is_tensor(other) and is_sparse(other)):
        return add(self, other, alpha)
    result = promote_types(self.dtype, other.dtype)
    check(
        can_cast(result, self.dtype),
        lambda: f"Can't convert result type {result.scalar_name} to output {self.dtype.scalar_name} in add operation",
    )
    if is_sparse(self):
        return written(self, add(self, other, alpha))
    return _add_to_dense(self, other, alpha)


def _add_to_dense(self: Tensor, other: Any, alpha: Any) -> Any:
    _check_same_size("add", self, other)
    entries = coalesced(other)
    wide = promote_types(self.dtype, other.dtype)
    values = _scaled(aten._to_copy(parts(entries).values, dtype=wide), alpha)
    if not parts(entries).indices.shape[0]:
        return aten.add_(self, aten.sum(values, [0]))
    return aten.index_put_(self, index_of(entries), aten._to_copy(values, dtype=self.dtype), True)


def _check_subtraction(self: Tensor, other: Any) -> None:
    """Let dense tensors without elements object to the dtypes."""
    dense = [aten.empty([0], dtype=one.dtype) if is_tensor(one) else one for one in (self, other)]
    aten.sub(*dense)


@kernel("sub.Tensor")
def sub(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """The sum with `other` negated."""
    _check_subtraction(self, other)
    return add(self, other, -alpha)


@kernel("sub_.Tensor")
def sub_(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    """The sum with `other` negated, into `self`."""
    _check_subtraction(self, other)
    return add_(self, other, -alpha)


@kernel("clone")
def clone(self: Tensor, memory_format: Any = None) -> Any:
    """A copy of indices and values."""
    given = parts(self)
    return make(aten.clone(given.indices), aten.clone(given.values), self.shape, given.coalesced)


@kernel("detach", "alias")
def detach(self: Tensor) -> Any:
    """The same entries in another tensor."""
    return like(self, parts(self).values)


@kernel("_to_copy")
def to_copy(
    self: Tensor, dtype: Any, layout: object, device: Any, pin_memory: object, non_blocking: bool, memory_format: Any
) -> Any:
    """A copy in another dtype or on another device."""
    given = parts(self)
    return make(
        aten._to_copy(given.indices, device=device),
        aten._to_copy(given.values, dtype=dtype, device=device),
        self.shape,
        given.coalesced,
    )


@kernel("zero_")
def zero_(self: Any) -> Any:
    """Drop all entries."""
    return replace(self, empty(self.shape, self.dtype, self.device, self._sig.spec.sparse_dim))


@kernel("zeros_like", "empty_like")
def zeros_like(self: Any, *options: Any) -> Any:
    """A tensor of the same size, sparse without entries unless the strided layout is asked for."""
    if len(options) > 1 and options[1] is strided:
        dtype, _, device, pinned, order = (*options, None, None, None)[:5]
        template = aten.empty(list(self.shape), dtype=dtype or self.dtype, device=device or self.device)
        return aten.zeros_like(template, pin_memory=pinned, memory_format=order)
    unformatted = len(options) < 5 or options[4] is None
    check(unformatted, lambda: "memory format option is only supported by strided tensors")
    dtype = options[0] if options and options[0] is not None else self.dtype
    every = len(self.shape)  # of what is dense, and asked for as sparse
    return empty(self.shape, dtype, self.device, self._sig.spec.sparse_dim if is_sparse(self) else every)


@kernel("new_zeros", "new_empty")
def new_zeros(self: Tensor, size: Any, dtype: Any, layout: object, device: Any, pin_memory: object) -> Any:
    """A sparse tensor of another size without entries."""
    return empty(size, dtype or self.dtype, device or self.device)


@kernel("zeros")
def zeros(size: Any, *options: Any) -> Any:
    """A sparse tensor without entries."""
    check_zeros(size)
    return made_empty(size, *options)


@kernel("empty.memory_format")
def made_empty(size: Any, dtype: Any, layout: object, device: Any, *rest: Any) -> Any:
    """A sparse tensor without entries, too."""
    like_this = aten.empty([0], dtype=dtype, device=device)
    return empty(size, like_this.dtype, like_this.device)


@kernel("copy_")
def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Any:
    """The entries of another sparse tensor, in the dtype of `self`."""
    check(
        is_sparse(self) == is_sparse(src),
        lambda: (
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{_type_name(self)} and src type = {_type_name(src)}"
        ),
    )
    return replace(self, clone(to_copy(src, self.dtype, None, self.device, None, False, None)))


def _type_name(tensor: Tensor) -> str:
    return f"torch.{'sparse.' if is_sparse(tensor) else ''}{tensor.dtype.scalar_name}Tensor"


@kernel("resize_as_")
def resize_as_(self: Tensor, template: Any, memory_format: Any = None) -> Any:
    """The size of another sparse tensor, without entries where that differs."""
    same = is_sparse(self) and self._sig.spec is template._sig.spec
    return self if same else replace(self, zeros_like(template, self.dtype))


@kernel("sum")
def sum_all(self: Tensor, dtype: Any = None) -> Any:
    """The sum of all elements, dense."""
    return aten.sum(parts(self).values, dtype=dtype)


@kernel("norm.Scalar")
def norm(self: Tensor, p: Any = 2) -> Any:
    """The norm of all elements, dense."""
    return aten.norm(parts(coalesced(self)).values, p)


@kernel("linalg_vector_norm")
def vector_norm(self: Tensor, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    """The norm of all elements, dense; no dimension can be named."""
    check(dim is None, lambda: "linalg_vector_norm: sparse tensors only support the norm of all elements, dim=None")
    return aten.linalg_vector_norm(parts(coalesced(self)).values, ord, None, keepdim, dtype=dtype)
