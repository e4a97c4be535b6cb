"""Products and sums of tensors with compressed rows or columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from mindtorch_storage.dtype import bfloat16, float16, float32, float64, int64
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout_name, sparse_bsc, sparse_bsr, sparse_csr, strided

from ..call import aten
from ..meta.checks import check, shape_text
from ..plan.targets import prepare_target
from ..table import kernels
from ..typing import Tensor
from . import compressed
from .compressed import Entries, Grid, entries, from_entries, is_compressed, like, make, parts, spec_of
from .compressed_kernels import at_entries
from .compressed_shapes import without_blocks
from .shapes import wrapped
from .table import compressed_kernel as kernel
from .table import written


def _name(tensor: Tensor) -> str:
    return layout_name(tensor._sig.spec.layout)


def _check_product(mat1: Tensor, mat2: Tensor) -> None:
    for number, one in (("mat1", mat1), ("mat2", mat2)):
        check(one.dim() == 2, lambda number=number, one=one: f"{number} must be a matrix, got {one.dim()}-D tensor")
    check(
        mat1.shape[1] == mat2.shape[0],
        lambda: (
            f"mat1 and mat2 shapes cannot be multiplied ({mat1.shape[0]}x{mat1.shape[1]} and "
            f"{mat2.shape[0]}x{mat2.shape[1]})"
        ),
    )
    check(
        mat1.dtype is mat2.dtype,
        lambda: f"expected scalar type {mat1.dtype.scalar_name} but found {mat2.dtype.scalar_name}",
    )
    check(
        mat1._sig.spec.layout is not sparse_bsc and mat2._sig.spec.layout is not sparse_bsr,
        lambda: f"addmm: computation on CPU is not implemented for Strided + {_name(mat1)} @ {_name(mat2)}",
    )


def _rows_as_bags(sparse: Tensor, dense: Tensor) -> bool:
    """Whether the product is that of weighted bags of the dense matrix's rows.

    It is for compressed rows of float32 or float64, on a device that has a kernel for bags.
    """
    spec = spec_of(sparse)
    return (
        spec.blocksize is None
        and spec.layout is sparse_csr
        and spec.dtype in (float32, float64)
        and dense._sig.spec.layout is strided
        and "_embedding_bag" in kernels[dense._sig.spec.device.type]
    )


def _times_dense(sparse: Tensor, dense: Tensor) -> Any:
    """Return the dense product of a compressed matrix and a dense one, entry by entry or block by block."""
    spec = spec_of(sparse)
    if _rows_as_bags(sparse, dense):
        held = parts(sparse)
        bounds, columns = (aten._to_copy(one, dtype=int64) for one in (held.compressed, held.plain))
        return aten._embedding_bag(dense, columns, bounds, False, 0, False, held.values, True)[0]
    if spec.dtype in (float16, bfloat16):  # sums are rounded once
        values, matrix = (aten._to_copy(one, dtype=float32) for one in (parts(sparse).values, dense))
        return aten._to_copy(_times_dense(like(sparse, values), matrix), dtype=spec.dtype)
    given = entries(sparse)
    if spec.blocksize is None:
        terms = aten.mul(aten.unsqueeze(given.values, 1), aten.index_select(dense, 0, given.column))
        made = aten.zeros([sparse.shape[0], dense.shape[1]], dtype=terms.dtype, device=terms.device)
        return aten.index_add_(made, 0, given.row, terms)
    high, wide = spec.blocksize
    grid = Grid.of(sparse)
    strips = aten.reshape(dense, [grid.columns, wide, dense.shape[1]])
    terms = aten.bmm(given.values, aten.index_select(strips, 0, given.column))
    made = aten.zeros([grid.rows, high, dense.shape[1]], dtype=terms.dtype, device=terms.device)
    return aten.reshape(aten.index_add_(made, 0, given.row, terms), [sparse.shape[0], dense.shape[1]])


def product(mat1: Tensor, mat2: Tensor) -> Any:
    """Return the product of two matrices: of two compressed ones a compressed one, else a dense one."""
    _check_product(mat1, mat2)
    if is_compressed(mat1) and is_compressed(mat2):
        made = aten.mm(compressed.to_coo(mat1), compressed.to_coo(mat2))
        return compressed.from_coo(made, sparse_csr)
    if is_compressed(mat1):
        return _times_dense(mat1, mat2)
    return aten.t(_times_dense(aten.t(mat2), aten.t(mat1)))


def _filling_dense(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a product that can also write a tensor given as `out=`, a dense one most often."""

    def into(out: Any, *args: Any) -> Any:
        made = function(*args)
        if is_compressed(out):
            return written(out, made)
        check(
            out.dtype is made.dtype,
            lambda: f"expected scalar type {out.dtype.scalar_name} but found {made.dtype.scalar_name}",
        )
        prepare_target(out, made._sig.spec)
        return aten.copy_(out, made)

    filled = partial(function)
    filled.into = into  # type: ignore[attr-defined]  # as compositions have it
    return filled


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a product that is added to the tensor itself, a dense one most often."""

    def computed(self: Tensor, *rest: Any) -> Any:
        made = function(self, *rest)
        return written(self, made) if is_compressed(self) else aten.copy_(self, made)

    return computed


def mm(self: Tensor, mat2: Tensor) -> Any:
    """Of two compressed matrices a compressed one, else a dense one."""
    return product(self, mat2)


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The product, added to a matrix."""
    made = product(mat1, mat2)
    made = made if alpha == 1 else aten.mul(made, alpha)
    if beta == 0:
        return made
    held = self._sig.spec.layout
    if held is not strided and held is not made._sig.spec.layout:
        aten.expand(self, list(made.shape))  # says that it cannot be
    added = self if beta == 1 else aten.mul(self, beta)
    if not is_compressed(added) and added.shape != made.shape:
        added = aten.expand(added, list(made.shape))
    check(
        is_compressed(added) == is_compressed(made),
        lambda: f"addmm: computation on CPU is not implemented for {_name(self)} + {_name(mat1)} @ {_name(mat2)}",
    )
    return aten.add(added, made)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """A compressed matrix times a vector, added to a vector."""
    made = mv(mat, vec)
    made = made if alpha == 1 else aten.mul(made, alpha)
    return made if beta == 0 else aten.add(self if beta == 1 else aten.mul(self, beta), made)


def mv(self: Tensor, vec: Tensor) -> Any:
    """A compressed matrix times a vector."""
    check(
        self._sig.spec.layout is not sparse_bsc,
        lambda: f"torch.addmv: operation not supported for mat with {_name(self)} layout",
    )
    check(
        self.dim() == 2 and vec.dim() == 1 and self.shape[1] == vec.shape[0],
        lambda: (
            f"size mismatch, got input ({self.shape[0]}), mat ({'x'.join(map(str, self.shape))}), vec "
            f"({'x'.join(map(str, vec.shape))})"
        ),
    )
    return aten.squeeze(product(self, aten.unsqueeze(vec, 1)), -1)


for _function in (mm, addmm, addmv, mv):
    kernel(_function.__name__)(_filling_dense(_function))
for _function in (addmm, addmv):
    kernel(f"{_function.__name__}_")(_in_place(_function))


@kernel("sparse_sampled_addmm")
def sampled_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The product at the places of a compressed matrix alone, added to it."""
    without_blocks(self._sig.spec.layout)
    check(
        self._sig.spec.layout is sparse_csr,
        lambda: f"sampled_addmm: Expected result to have sparse csr layout, but got {_name(self)}",
    )
    _check_sampled(self, mat1, mat2)
    self = _in_batches(self, list(mat1.shape[:-2]))
    values = at_entries(aten.matmul(mat1, mat2), self)
    scaled = values if alpha == 1 else aten.mul(values, alpha)
    if beta == 0:
        return like(self, scaled)
    given = parts(self).values
    return like(self, aten.add(given if beta == 1 else aten.mul(given, beta), scaled))


def _in_batches(self: Tensor, batch: list[int]) -> Any:
    """Return a matrix once per batch, sharing its memory; what has batches as it is."""
    if not batch or self.dim() > 2:
        return self
    given = parts(self)
    repeated = (aten.expand(part, [*batch, *part.shape]) for part in (given.compressed, given.plain, given.values))
    bounds, plain, values = (aten.contiguous(part) for part in repeated)
    return make(self._sig.spec.layout, bounds, plain, values, [*batch, *self.shape])


def _check_sampled(self: Tensor, mat1: Tensor, mat2: Tensor) -> None:
    for name, one in (("mat1", mat1), ("mat2", mat2)):
        check(
            one._sig.spec.layout is strided,
            lambda name=name, one=one: f"sampled_addmm: Expected {name} to have strided layout, but got {_name(one)}",
        )
    check(
        mat1.dtype is mat2.dtype,
        lambda: (
            f"sampled_addmm: Expected mat1 and mat2 to have the same dtype, but got {mat1.dtype.scalar_name} and "
            f"{mat2.dtype.scalar_name}"
        ),
    )
    check(
        self.dtype is mat2.dtype,
        lambda: (
            f"sampled_addmm: Expected self and mat2 to have the same dtype, but got {self.dtype.scalar_name} and "
            f"{mat2.dtype.scalar_name}"
        ),
    )
    check(
        mat1.shape[-1] == mat2.shape[-2],
        lambda: (
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({mat1.shape[-2]}x{mat1.shape[-1]} and "
            f"{mat2.shape[-2]}x{mat2.shape[-1]})"
        ),
    )
    check(
        self.shape[-2] == mat1.shape[-2],
        lambda: "sampled_addmm: self.shape[-2] must match mat1.shape[-2]",
    )
    check(
        self.shape[-1] == mat2.shape[-1],
        lambda: "sampled_addmm: self.shape[-1] must match mat2.shape[-1]",
    )
    for names, one, two in (("mat1 and mat2", mat1, mat2), ("self and mat1", self, mat1)):
        batches = [list(tensor.shape[:-2]) for tensor in (one, two)]
        check(
            batches[0] == batches[1] or (one is self and self.dim() == 2),
            lambda names=names, batches=batches: (
                f"sampled_addmm: Expected {names} to have the same batch size, but got {shape_text(batches[0])} and "
                f"{shape_text(batches[1])}"
            ),
        )


@kernel("sum")
def sum_all(self: Tensor, dtype: Dtype | None = None) -> Any:
    """The sum of all elements, dense."""
    return aten.sum(parts(self).values, dtype=dtype)


def _reduced(self: Tensor, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None, name: str) -> Any:
    """Return the sum or product over rows, columns or both of what is stored, with the dimensions kept."""
    layout = self._sig.spec.layout
    check(
        layout is sparse_csr,
        lambda: (
            "Currently the only compressed sparse format supported for sum.dim_IntList is CSR, but got layout "
            f"{layout_name(layout)}"
        ),
    )
    check(keepdim, lambda: "reduction operations on CSR tensors with keepdim=False is unsupported")
    dims = sorted({wrapped(one, self.dim()) for one in (dim or (0, 1))})
    given = self.dtype
    default = given if given.is_floating_point or given.is_complex else int64
    values = aten._to_copy(parts(self).values, dtype=dtype or default)
    stored = entries(self)
    size = [1 if number in dims else extent for number, extent in enumerate(self.shape)]
    row = aten.zeros_like(stored.row) if 0 in dims else stored.row
    column = aten.zeros_like(stored.column) if 1 in dims else stored.column
    flat = aten.add(aten.mul(row, size[1]), column)
    places, member = aten._unique2(flat, True, True)[:2]
    start = aten.ones if name == "prod" else aten.zeros
    made = start([places.shape[0]], dtype=values.dtype, device=values.device)
    made = (
        aten.index_reduce(made, 0, member, values, "prod")
        if name == "prod"
        else aten.index_add(made, 0, member, values)
    )
    width = size[1]
    at = Entries(aten.zeros_like(places), aten.floor_divide(places, width), aten.remainder(places, width), made)
    grid = Grid([], size[0], width, 1)
    return from_entries(layout, grid, at, size, parts(self).plain.dtype)


@kernel("sum.dim_IntList", "_sparse_csr_sum.dim_dtype")
def sum_dim(self: Tensor, dim: Sequence[int] | None, keepdim: bool = False, dtype: Dtype | None = None) -> Any:
    """The sum over rows, columns or both."""
    return _reduced(self, dim, keepdim, dtype, "sum")


@kernel("_sparse_csr_prod.dim_dtype")
def prod_dim(self: Tensor, dim: Sequence[int] | None, keepdim: bool = False, dtype: Dtype | None = None) -> Any:
    """The product of what is stored over rows, columns or both."""
    return _reduced(self, dim, keepdim, dtype, "prod")


@kernel("expand")
def expand(self: Tensor, size: Sequence[int], implicit: bool = False) -> Any:
    """Raises, as in torch."""
    raise RuntimeError(f"expand is unsupported for {_name(self)} tensors")
