"""Samples of matrix products and attention."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import FLOATS, Call, Wrong, sample


@sample("mm", dtypes=(*FLOATS, "int64"))
def mm(make: Maker) -> Iterator[Call]:
    """Every layout on either side, empty extents, wrong shapes."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, make.transposed(4, 5))
    yield Call(make(3, 0), make(0, 2))
    yield Call(make(0, 3), make(3, 2))
    yield Wrong(make(3, 4), make(3, 4))
    yield Wrong(make(3), make(3, 4))


@sample("bmm")
def bmm(make: Maker) -> Iterator[Call]:
    """Batches, transposed and expanded ones."""
    yield Call(make(2, 3, 4), make.transposed(2, 4, 5))
    yield Call(make.expanded(2, 3, 4), make(2, 4, 1))
    yield Call(make(0, 3, 4), make(0, 4, 2))
    yield Wrong(make(2, 3, 4), make(3, 4, 2))
    yield Wrong(make(2, 3, 4), make(4, 2))


@sample("matmul")
def matmul(make: Maker) -> Iterator[Call]:
    """All ranks against each other."""
    for left in ((4,), (3, 4), (2, 3, 4), (2, 1, 3, 4)):
        for right in ((4,), (4, 2), (2, 4, 2)):
            yield Call(make(*left), make(*right))
    yield Wrong(make(), make(3))
    yield Wrong(make(3, 4), make(5, 4))


@sample("addmm")
def addmm(make: Maker) -> Iterator[Call]:
    """Scaled sums with a matrix."""
    yield Call(make(3, 5), make(3, 4), make(4, 5))
    yield Call(make(3, 5), make(3, 4), make.transposed(4, 5), beta=0.5, alpha=2)
    yield Call(make(3, 5), make(3, 0), make(0, 5), beta=2)
    yield Wrong(make(3, 4), make(3, 4), make(4, 5))


@sample("linear")
def linear(make: Maker) -> Iterator[Call]:
    """With and without bias, one row and many."""
    yield Call(make(2, 3, 4), make(5, 4), make(5))
    yield Call(make(4), make(5, 4))
    yield Call(make(2, 4), make.transposed(5, 4), make(5))
    yield Wrong(make(2, 3), make(5, 4))


@sample("scaled_dot_product_attention", dtypes=("float32", "float64"))
def attention(make: Maker) -> Iterator[Call]:
    """No mask, bool and float masks, causal, scale, grouped heads."""
    query, key, value = make(2, 4, 3, 8), make(2, 4, 5, 8), make(2, 4, 5, 8)
    yield Call(query, key, value)
    yield Call(query, key, value, attn_mask=make(2, 1, 3, 5))
    yield Call(query, key, value, scale=0.3)
    yield Call(query, key, value, is_causal=True)
    yield Call(query, make(2, 2, 5, 8), make(2, 2, 5, 8), enable_gqa=True)
    mask = make.mask(2, 1, 3, 5)
    mask[..., 0] = True
    yield Call(query, key, value, attn_mask=mask)
    yield Wrong(query, make(2, 4, 5, 7), value)


@sample("_int_mm", dtypes=("int8",))
def int_mm(make: Maker) -> Iterator[Call]:
    """Bytes of either sign, empty extents, wrong shapes and dtypes. torch leaves the result of expanded ones unwritten."""
    for tensor in (make(3, 4), make.stepped(3, 4), make.transposed(3, 4)):
        yield Call(tensor, make.transposed(4, 5))
    yield Call(make(3, 4, dtype="uint8"), make(4, 2))
    yield Call(make(3, 0), make(0, 2))
    yield Wrong(make(3, 4), make(3, 4))
    yield Wrong(make(3), make(3, 4))
    yield Wrong(make(3, 4, dtype="float32"), make(4, 2))
    yield Wrong(make(3, 4), make(4, 2, dtype="int32"))


@sample("_euclidean_dist", dtypes=("float32", "float64"))
def euclidean_dist(make: Maker) -> Iterator[Call]:
    """Rows of matrices and of batches, every layout, rows that coincide, wrong shapes."""
    for tensor in make.layouts(3, 4):
        yield Call(tensor, make(5, 4))
    yield Call(make(2, 3, 4), make(2, 5, 4))
    yield Call(make(0, 4), make(5, 4))
    yield Wrong(make(3, 4), make(5, 3))
    yield Wrong(make(3), make(3))
