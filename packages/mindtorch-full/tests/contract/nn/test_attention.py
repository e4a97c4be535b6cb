"""`nn.attention` and flex attention, call by call beside torch, which applies the functions unfused on the CPU."""

import importlib
import warnings

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

# q: (1, 2, 16, 8); bm(*args): a causal block mask of those arguments; b: such a mask of 2, 3, 200, 200.
CALLS = """
A.SDPBackend.MATH
sorted(A.SDPBackend.__members__), [int(v.value) for v in A.SDPBackend.__members__.values()]
A.SDPBackend.__module__, A.SDPBackend.__name__
A.sdpa_kernel('x').__enter__()
A.sdpa_kernel([]).__enter__()
X.flex_attention(q, q, q)
X.flex_attention(q, q, q, return_lse=True)
X.flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: s * 2)
X.flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: T.where(i >= j, s, -float('inf')), return_lse=True)
X.flex_attention(q, q, q, score_mod=lambda s, b, h, i, j: s + (h + 1) * (i - j))
X.flex_attention(q, q, q, block_mask=bm(None, None, 16, 16))
X.flex_attention(q, q, q, block_mask=bm(None, None, 8, 16))
X.flex_attention(q, q, q, scale=.3)
X.flex_attention(q, q[:, :1], q[:, :1])
X.flex_attention(q, q[:, :1], q[:, :1], enable_gqa=True)
X.flex_attention(q[0], q, q)
X.flex_attention(q, q[..., :4], q)
X.flex_attention(q.double(), q, q)
X.flex_attention(T.rand(2, 2, 16, 8), q, q)
X.flex_attention(T.rand(3, 2, 16, 8), T.rand(1, 2, 16, 8), T.rand(1, 2, 16, 8), block_mask=bm(None, None, 16, 16))
X.flex_attention(T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), block_mask=bm(2, None, 16, 16))
X.flex_attention(T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), block_mask=bm(3, 5, 16, 16))
X.flex_attention(T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), T.rand(3, 2, 16, 8), block_mask=bm(3, 1, 16, 32))
X.flex_attention(q, q, q, return_lse=True, return_aux=X.AuxRequest(lse=True))
X.flex_attention(q, q, q, return_aux=X.AuxRequest(lse=True))
X.flex_attention(T.ones(1, 2, 300, 8), T.ones(1, 2, 300, 8), T.rand(1, 2, 300, 8), block_mask=bm(None, None, 300, 300))
bm(None, None, 300, 300)
bm(None, None, 300, 300).shape
bm(None, None, 300, 300).to_dense()
bm(None, None, 300, 300).sparsity()
str(bm(None, None, 300, 300))
repr(bm(None, None, 16, 16))
bm(None, None, 300, 300).kv_num_blocks
bm(None, None, 300, 300).kv_indices
bm(None, None, 300, 300).full_kv_num_blocks
bm(None, None, 300, 300).full_kv_indices
bm(None, None, 300, 300).q_num_blocks
bm(None, None, 300, 300).q_indices
bm(None, None, 300, 300, BLOCK_SIZE=64).BLOCK_SIZE
bm(None, None, 300, 300, BLOCK_SIZE=(64, 32)).shape
bm(None, None, 300, 300, separate_full_blocks=False).full_kv_num_blocks
b[0].shape, b[0, 1].shape, b.numel(), b.kv_indices.shape, b.seq_lengths
b[0].mask_mod(0, 0, 0, 0)
b.to('cpu').shape
b._adjust(100, 150).kv_num_blocks
X.create_mask(causal, None, None, 3, 4, device='cpu')
X.create_mask(lambda s, b, h, i, j: s + i, 1, 2, 3, 4, device='cpu')
X.create_mask(lambda b: b, None, None, 3, 4, device='cpu')
X.and_masks(causal, X.noop_mask)(0, 0, T.tensor(1), T.tensor(2))
X.or_masks(causal, X.noop_mask)(0, 0, T.tensor(1), T.tensor(2))
X.and_masks(3)
X.noop_mask(T.tensor(1), 0, 0, 0)
X.AuxRequest(), X.AuxOutput()
B.causal_upper_left(3, 4)
B.causal_lower_right(3, 4)
X.BlockMask.from_kv_blocks(T.tensor([[[1, 2]]]).int(), T.tensor([[[[0, 1], [0, 1]]]]).int(), BLOCK_SIZE=4).q_indices
X.BlockMask.from_kv_blocks(T.tensor([1]).int(), T.tensor([1]).int())
X.BlockMask.from_kv_blocks(T.tensor([[[1]]]).int(), T.tensor([[[[0]]]]).int(), T.tensor([[[1]]]).int())
""".strip().splitlines()


def names_of(library):
    """Return the names that calls use, over a library."""
    library.manual_seed(0)
    flex = importlib.import_module(library.__name__ + ".nn.attention.flex_attention")

    def causal(b, h, i, j):
        return i >= j

    def block_mask(*args, **options):
        return flex.create_block_mask(causal, *args, device="cpu", **options)

    return {
        "T": library,
        "A": library.nn.attention,
        "B": importlib.import_module(library.__name__ + ".nn.attention.bias"),
        "X": flex,
        "q": library.rand(1, 2, 16, 8),
        "causal": causal,
        "bm": block_mask,
        "b": block_mask(2, 3, 200, 200),
    }


def plain(value, numbers):
    """Return a value without the library's tensors; `numbers` is called with the elements of one."""
    if type(value).__name__ == "Tensor":
        return [str(value.dtype), tuple(value.shape), numbers(value.double().reshape(-1).tolist())]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *[plain(item, numbers) for item in value]]
    return value if isinstance(value, (int, float)) else repr(value)


def about(numbers):
    """Return what compares equal to numbers that differ in rounding only."""
    return pytest.approx(numbers, rel=1e-5, abs=1e-6, nan_ok=True)


def outcome(library, call, numbers):
    """Return what a call returns or raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = names_of(library)
        try:
            return plain(eval(call, names), numbers)
        except Exception as raised:  # noqa: BLE001 (any error is an outcome)
            return f"{type(raised).__name__}: {raised}"


@pytest.mark.parametrize("call", CALLS)
def test_call(call):
    assert outcome(mt, call, list) == outcome(torch, call, about)


SETS = [
    ["MATH"], ["FLASH_ATTENTION"], ["EFFICIENT_ATTENTION"], ["CUDNN_ATTENTION"], ["OVERRIDEABLE"],
    ["EFFICIENT_ATTENTION", "FLASH_ATTENTION"], ["MATH", "FLASH_ATTENTION"], [],
]  # fmt: skip
OPERANDS = {
    "four dimensions": lambda T, q: (q, q, q),
    "three dimensions": lambda T, q: (q[0],) * 3,
    "two dimensions": lambda T, q: (q[0, 0],) * 3,
    "a mask": lambda T, q: (q, q, q, T.ones(4, 4, dtype=T.bool)),
    "a mask of three dimensions": lambda T, q: (q, q, q, T.ones(2, 4, 4)),
    "a mask with a gradient": lambda T, q: (q, q, q, T.ones(4, 4, requires_grad=True)),
    "dropout": lambda T, q: (q, q, q, None, 0.5),
    "double": lambda T, q: (q.double(),) * 3,
    "complex": lambda T, q: (q.to(T.complex64),) * 3,
    "narrower values": lambda T, q: (q, q, q[..., :5].contiguous()),
    "a gradient": lambda T, q: (q.clone().requires_grad_(), q, q),
    "nothing": lambda T, q: (q[:, :, :0],) * 3,
}


@pytest.mark.parametrize("priority", [False, True])
@pytest.mark.parametrize("names", SETS, ids="+".join)
@pytest.mark.parametrize("operands", OPERANDS)
def test_sdpa_kernel_chooses_the_implementation(operands, names, priority):
    """The result's gradient function tells which one it was; where none takes the call, torch's error does."""

    def attend(T):
        A = importlib.import_module(f"{T.__name__}.nn.attention")
        q = (T.arange(64.0) / 64).reshape(1, 2, 4, 8)
        given = OPERANDS[operands](T, q)
        try:
            with A.sdpa_kernel([getattr(A.SDPBackend, name) for name in names], set_priority=priority):
                T.manual_seed(0)
                result = T.nn.functional.scaled_dot_product_attention(*given)
                allowed = A._cur_sdpa_kernel_backends(), A._cur_sdpa_kernel_backends(True)
        except (RuntimeError, NotImplementedError) as raised:
            return type(raised), str(raised).splitlines()[0]
        values = T.view_as_real(result) if result.is_complex() else result
        return (
            [[int(one) for one in part] for part in allowed],
            type(result.grad_fn).__name__,
            values.flatten().tolist(),
        )

    ours, theirs = attend(mt), attend(torch)
    assert ours[:2] == theirs[:2]
    assert len(ours) == len(theirs) == 2 or ours[2] == pytest.approx(theirs[2], rel=1e-5)


@pytest.mark.parametrize("T", [mt, torch], ids=["ours", "torch"])
def test_backends_of_sdpa_kernel_are_restored(T):
    A = importlib.import_module(f"{T.__name__}.nn.attention")
    before = A._cur_sdpa_kernel_backends(), T._C._get_sdp_priority_order()
    with A.sdpa_kernel([A.SDPBackend.MATH, A.SDPBackend.FLASH_ATTENTION], set_priority=True):
        assert T._C._get_sdp_priority_order() == [0, 1, 2, 3, 4]
        assert not T.backends.cuda.cudnn_sdp_enabled()
    assert before == (A._cur_sdpa_kernel_backends(), T._C._get_sdp_priority_order())


def test_flex_attention_has_gradients():
    flex = importlib.import_module("mindtorch.nn.attention.flex_attention")
    mt.manual_seed(0)
    q = mt.rand(1, 2, 6, 4, requires_grad=True)
    mask = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, device="cpu")
    result = mt.autograd.grad(flex.flex_attention(q, q, q, block_mask=mask).square().sum(), q)[0]
    dense = mt.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True)
    expected = mt.autograd.grad(dense.square().sum(), q)[0]
    assert mt.allclose(result, expected, atol=1e-6)
