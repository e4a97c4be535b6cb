"""What random calls beside torch found: ties of lists, exchanges that are none, chunks and sums beyond numbers."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 - after torch

from .programs import assert_as_in_torch  # noqa: E402 - needs torch

LISTS = "".join(
    f"""
x, y = leaf(1., 2, nan, 1, nan), leaf(1., 3, 1, nan, nan); t._foreach_{name}([x], [y])[0].sum().backward(); x.grad, y.grad
x = leaf(1., 2, nan); t._foreach_{name}([x], 1.)[0].sum().backward(); x.grad
x = leaf(1., 2, nan); t._foreach_{name}([x, x * 1], [1., 2])[1].sum().backward(); x.grad
x = leaf(1., 2, nan); y = x * 1; t._foreach_{name}_([y], [t.ones(3)]); y.sum().backward(); x.grad, y
x = leaf(1., 2); t._foreach_{name}([x], [t.tensor([1., 5], dtype=t.float64)])
x = leaf(1., 2).to(t.complex64); t._foreach_{name}([x], 1.)
t._foreach_{name}([t.tensor([1, 2])], 1.5), t._foreach_{name}([t.tensor([True])], [t.tensor([False])])
"""
    for name in ("minimum", "maximum")
)
EXCHANGES = """
t.lu_unpack(t.eye(2), t.tensor([2, 2, 2], dtype=t.int32))
t.lu_unpack(t.ones(2, 2, 2, 2), t.tensor([2, 2], dtype=t.int32))
t.lu_unpack(t.ones(2, 3), t.tensor([[2, 2]], dtype=t.int32))
t.lu_unpack(t.ones(3, 2), t.tensor([3, 3], dtype=t.int32))
t.lu_unpack(t.ones(4, 2, 2), t.tensor([[2, 2]], dtype=t.int32))
t.lu_unpack(t.ones(2, 2), t.tensor([0, 2], dtype=t.int32))
t.lu_unpack(t.ones(2, 2), t.tensor([2, 3], dtype=t.int32))
t.lu_unpack(t.ones(2, 2), t.tensor([2, 3], dtype=t.int32), unpack_pivots=False)
t.lu_unpack(t.ones(0, 2, 2), t.ones((0, 2), dtype=t.int32))
t.lu_unpack(*t.linalg.lu_factor(t.tensor([[[0., 2], [4, 1]], [[8, 2], [1, 1]]])))
"""
CHUNKS = "".join(
    f"""
t.arange({extent}).{name}({chunks})
"""
    for name in ("chunk", "unsafe_chunk")
    for extent in (0, 1, 2, 5)
    for chunks in (2**63 - 1, 2**63 - 3, 2**62)
    if extent
)
AVERAGES = "".join(
    f"""
F.avg_pool{n}d(t.full({(1, 1, *[2] * n)}, 2 ** 53 + 1), 2)
F.avg_pool{n}d(t.full({(1, 1, *[2] * n)}, 2 ** 62 + 1), 2)
F.avg_pool{n}d(t.full({(1, 1, *[3] * n)}, -(2 ** 60) - 1), 3)
F.avg_pool{n}d(t.arange({2**n}).sub(5).reshape{(1, 1, *[2] * n)}, 2, padding=1)
"""
    for n in (1, 2, 3)
)
OTHERS = """
F.avg_pool2d(t.arange(16).sub(9).reshape(1, 1, 4, 4), 2, divisor_override=-3)
F.cross_entropy(t.tensor([1., 2, 3]), t.tensor([2]), label_smoothing=.5)
F.cross_entropy(t.tensor([1., 2, 3]), t.tensor(2), label_smoothing=.5)
t.renorm(t.arange(40., dtype=t.bfloat16).reshape(2, 4, 5) / 7, 3, 1, 2.5)
t.renorm(t.arange(40., dtype=t.float16).reshape(2, 4, 5) / 7, 1, 0, 2.5)
t.renorm(t.arange(6., dtype=t.bfloat16).reshape(2, 3), inf, 1, 2.5)
t.renorm(t.arange(6.).reshape(2, 3).to(t.complex64) * 1j, 2, 1, 2.5)
x = t.zeros(2); x.set_(leaf(1., 2)); x.requires_grad, x.is_leaf
x = t.zeros(2); x.set_(leaf(1., 2)); x.sum().backward()
x = t.zeros(2); x.set_(leaf(1., 2, 3), 1, (2,)); x, x.requires_grad
x = t.zeros(2); x.set_(t.tensor([1., 2, 3]), 1, (1, 2), (5, 1)); x
F.embedding_bag(t.tensor([0, 1, 2, 1, 0]), t.arange(12.).reshape(3, 4).t(), t.tensor([0, 2]), include_last_offset=True)
t.UntypedStorage({1, 2})
t.UntypedStorage({1: 2})
t.UntypedStorage(True)
t.UntypedStorage(None)
t.UntypedStorage(t.tensor([1]))
t.UntypedStorage([True, 1]).tolist()
t.UntypedStorage(t.tensor(3)).nbytes()
t.UntypedStorage(2**63)
t.UntypedStorage(type('Endless', (), {'__getitem__': lambda self, at: 1})())
t.UntypedStorage(type('Two', (), {'__getitem__': lambda self, at: 1, '__len__': lambda self: 2})()).tolist()
t.UntypedStorage([__import__('numpy').int64(1)])
t.UntypedStorage.from_file('/tmp', False, 3)
t.from_file('/', size=3)
m = t.overrides.BaseTorchFunctionMode(); m.__enter__(); m.__exit__(None, None, None); m.__exit__(None, None, None)
t._C._pop_torch_function_stack()
"""

ZEROS_BESIDE_NAN = """
x = leaf(1., 2, 3, 4, 5, 6); x.reshape(3, 2).trace().mul(inf).backward(); x.grad
x = leaf(1., 2, 3, 4, 5, 6); x.reshape(2, 3).trace().mul(nan).backward(); x.grad
x = leaf(2., nan, 3, 0, 1, nan, nan, 0, 2, 0, 0, nan, 0, nan, 0); x.reshape(5, 3).cumprod(1).sum().backward(); x.grad
x = leaf(2., nan, 3, 0, 1, nan, nan, 0, 2, 0, 0, nan, 0, nan, 0); x.reshape(5, 3).cumprod(0).sum().backward(); x.grad
x = leaf(3., 2, 0, 5, 0, 7); y = x * (1 + 2j); y.cumprod(0).abs().sum().backward(); x.grad
x = leaf(3., 2, 0, 5, 0, 7); x.cumprod(0).backward(t.tensor([1, inf, 2, nan, inf, nan])); x.grad
x = leaf(3., 2, 0, 5, 0, 7); t.autograd.grad(t.autograd.grad(x.cumprod(0).sum(), x, create_graph=True)[0].pow(2).sum(), x)
"""

ENDLESS = "".join(
    f"""
x = []; x.append(x); {call}
"""
    for call in (
        "t.Tensor(x)", "t.FloatTensor(x)", "t.LongTensor(x)", "t.ones(2).new_tensor(x)", "t.ones(2).new(x)", "t.tensor(x)",
        "t.sparse_coo_tensor(x, [1.0])", "t.Tensor((x, x))", "t.as_tensor(x, dtype=t.int64)", "t.asarray(x)", "t.Size(x)",
        "t.ones(3).__setitem__(0, x)", "t.cat(x)", "t._foreach_add(x, 1)", "t.ones(2).new_tensor(x, dtype=t.bool)",
    )
)  # fmt: skip

SIGNS = """
t.lgamma(t.tensor([1., 2.]).repeat(20)).signbit().tolist()
"""

RESIZED = "".join(
    f"""
t.ones(2).resize_({size}).shape
t.ones(2).view({size})
"""
    for size in (
        "True", "1.5", "(True,)", "(2, True)", "2, True", "2, 1.5", "[True, 2]", "True, 2", "t.tensor(2)", "t.tensor(2.)",
        "'2'", "None", "(None,)", "2, None", "()", "t.Size([2])", "[[2]]", "(2,), (3,)",
    )
) + """
t.ones(2).resize_()
F.pad(t.ones(2), (1, True))
F.pad(t.ones(2), (True, 1))
t.zeros(2, True).shape, t.zeros((0, False)).shape
"""  # fmt: skip


@pytest.mark.parametrize(
    "program",
    [
        line
        for line in (
            LISTS + EXCHANGES + CHUNKS + AVERAGES + OTHERS + ZEROS_BESIDE_NAN + ENDLESS + SIGNS + RESIZED
        ).splitlines()
        if line
    ],
)
def test_is_as_in_torch(program: str) -> None:
    assert_as_in_torch(program)


def test_exchanges_that_are_too_few_for_a_matrix_are_refused() -> None:
    """torch reads the memory behind them, so it answers or refuses by chance: its text is the one for exchanges of no row."""
    with pytest.raises(RuntimeError, match="pivots passed to lu_unpack must be between 1 and LU"):
        mt.lu_unpack(mt.eye(2).expand(2, 2, 2), mt.tensor([1], dtype=mt.int32))
