"""What torch's reference inputs of operators found: other dtypes, and pairs of halves as complex numbers."""

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

BOTH = {
    "where of complex halves and halves": lambda T, z, m: T.where(m, z, T.ones(3, dtype=T.float16)),
    "where of halves and complex halves": lambda T, z, m: T.where(m, T.ones(3, dtype=T.float16), z),
    "nonzero": lambda T, z, m: T.nonzero(z),
    "nonzero_static": lambda T, z, m: T.nonzero_static(z, size=4),
    "index_put": lambda T, z, m: z.index_put((T.tensor([1, 1]),), z[:1], accumulate=True),
    "masked_fill": lambda T, z, m: z.masked_fill(m, z[2]),
    "index_fill": lambda T, z, m: z.index_fill(0, T.tensor([1]), z[2]),
    "unravel_index": lambda T, z, m: T.unravel_index(T.tensor([3, 4], dtype=T.int16), (3, 3))[0],
    "tensordot over all": lambda T, z, m: T.tensordot(T.arange(6, dtype=T.uint8), T.arange(50, 56, dtype=T.uint8), 1),
    "tensordot over two": lambda T, z, m: T.tensordot(*[T.arange(12, dtype=T.int8).reshape(3, 4)] * 2, dims=2),
    "tensordot over one of one": lambda T, z, m: T.tensordot(
        T.ones(3, 1, dtype=T.int16), T.ones(2, 3, dtype=T.int16), dims=([1, 0], [0, 1])
    ),
}


@pytest.mark.parametrize("name", list(BOTH))
def test_as_in_torch(name):
    results = []
    for T in (torch, mt):
        z = T.tensor([1 + 2j, 0, 5j]).to(T.complex32)
        made = BOTH[name](T, z, T.tensor([True, False, True]))
        results.append((str(made.dtype), tuple(made.shape), str(made.tolist())))
    assert results[0] == results[1]
