"""As test_found_by_fuzz: what is refused before anything is computed, outputs, and the ends of the number range."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 - both need torch

from .programs import assert_as_in_torch, last  # noqa: E402

BATCHES = """
t.native_batch_norm(t.ones(5, 5, 0), None, None, None, None, True, 0., 0.)
t.native_batch_norm(t.ones(0, 5), None, None, None, None, True, 0., 0.)
t.native_batch_norm(t.ones(0, 5), None, None, t.ones(5), t.ones(5), False, 0., 0.)
t.native_batch_norm(t.ones(3, 5), None, None, t.ones(5), None, True, .5, .5)
t.native_batch_norm(t.ones(3, 5), None, None, None, t.ones(5), True, .5, .5)
t.native_batch_norm(t.ones(3, 5), None, None, t.ones(()), t.ones(()), True, .5, .5)
t.native_batch_norm(t.ones(3, 5), None, None, t.ones(5, 1), t.ones(5, 1), True, .5, .5)
t.native_batch_norm(t.ones(3), None, None, None, None, True, .5, .5)
t.ops.aten._native_batch_norm_legit(t.ones(0), None, None, t.ones(0), t.ones(0), True, .5, .5)
t.ops.aten._native_batch_norm_legit(t.ones(0, 1), None, None, t.ones(1), t.ones(1), True, .5, .5)
m = t.ones(3); F.instance_norm(image(2, 3).repeat(1, 3, 1, 1)[:, :3].double(), m, t.ones(3)), m
m = t.ones(3).half(); F.instance_norm(image(2, 3).repeat(1, 3, 1, 1)[:, :3], m, t.ones(3)), m
F.instance_norm(t.arange(12.).reshape(1, 3, 2, 2).double(), t.ones(3), t.ones(3), use_input_stats=False)
F.instance_norm(t.arange(12.).reshape(1, 3, 2, 2).double(), t.ones(3).double(), t.ones(3))
x = leaf(*range(12)); F.instance_norm(x.double().view(1, 3, 2, 2), t.ones(3), t.ones(3)).square().sum().backward(); x.grad
t.nn.InstanceNorm2d(3, track_running_stats=True)(t.ones(2, 3, 4, 4).double()).dtype
"""
CHECKED = """
t.ones(3, 2).to(t.float8_e4m3fn).renorm(1, 0, 0)
t.ones(3, 0).to(t.float8_e5m2).renorm_(1, 0, 0)
t.rrelu(t.tensor(4.), -inf)
t.rrelu(t.tensor(4.), 0, nan)
t.rrelu(t.tensor(4.), 0, inf, training=True)
t.ops.aten.max_unpool2d(t.ones(1, 2, 2), t.zeros(1, 2, 2).long(), [-4, 2])
t.ops.aten.max_unpool3d(t.ones(1, 2, 2, 2), t.zeros(1, 2, 2, 2).long(), [2, -4, 2], [1, 1, 1], [0, 0, 0])
t.ops.aten.max_unpool2d(t.ones(1, 2, 2), t.zeros(1, 2, 2).long(), [0, 2]).shape
t._safe_softmax(t.ones(2).cfloat(), 0)
t.tensor(2, dtype=t.uint64).random_(4, None)
t.tensor(2, dtype=t.uint64).random_(-1, None)
t.tensor(2, dtype=t.uint64).random_(4, 8)
t._foreach_powsum([t.ones(2) * 1j], dtype=t.float8_e5m2)
t._foreach_powsum([t.ones(2) * 1j], dtype=t.int64)
t._foreach_powsum([t.ones(2) * 1j, t.ones(2)], dtype=t.complex64)
t.ops.aten._trilinear(t.ones(2, 4), t.ones(2, 4), t.ones(1, 1, 1), [1], [0], [], [1, -2])
t.ops.aten._trilinear(t.ones(2, 4), t.ones(2, 4), t.ones(1, 1, 1), [1], [0], [], [5])
t.ops.aten._trilinear(t.ones(2, 4), t.ones(2, 4), t.ones(1, 1, 1), [1, 1], [0], [], [1])
t.ops.aten._trilinear(t.ones(2, 4), t.ones(2, 4), t.ones(1, 1), [1], [0], [], [1])
t.ops.aten._trilinear(image(2, 3)[0], image(2, 3)[0], t.ones(1, 1, 1, 1), [-4], [0], [], [-3, 1]).shape
t._compute_linear_combination(t.tensor([.5]), t.tensor(0.))
t._compute_linear_combination(t.tensor([.5]), t.tensor([0.]))
t._compute_linear_combination(t.tensor([1., 2]), t.tensor([[2.], [1]]))
t.binary_cross_entropy_with_logits(t.ones(1), t.ones(3), pos_weight=t.tensor(1.))
t.binary_cross_entropy_with_logits(t.ones(3), t.ones(1, 3), pos_weight=t.ones(3))
t.binary_cross_entropy_with_logits(t.ones(2, 3), t.ones(2, 3), pos_weight=t.ones(5))
t.binary_cross_entropy_with_logits(t.ones(2, 3), t.ones(2, 3), pos_weight=t.ones(3))
t.fft.ifft(t.arange(3.)).is_conj()
t.fft.ihfft(leaf(1, 2)).grad_fn.name()
t.fft.ihfftn(t.arange(4.).reshape(2, 2), dim=(0,)).is_conj()
t.fft.ihfftn(t.arange(4.).reshape(2, 2)).is_conj()
t.fft.ifft(t.arange(3.)).numpy()
t.fft.ifft(t.arange(3.), out=t.ones(3).cfloat())
t.normal(0., t.empty(0, dtype=t.int64))
t.ops.aten.trace_backward(t.ones(1), [1, 3])
t.ops.aten.trace_backward(t.tensor(2.), [1, 3])
t.ops.aten.affine_grid_generator_backward(t.ones(1), [2, 2, 3], False)
t.ops.aten.affine_grid_generator_backward(t.ones(2, 3, 4, 2), [2, 2, 3, 4], False)
t.ops.aten._segment_reduce_backward(t.ones(1), t.ones(1), t.ones(2), 'wrong', lengths=t.tensor([2]))
t._fft_c2c(t.ones(0, 2).cfloat(), [1, 0], 0, True)
t._fft_r2c(t.ones(0), [0], 0, True)
t._fft_c2r(t.ones(0).cfloat(), [0], 0, 4)
t.normal(t.empty(0, dtype=t.int64), t.empty(0))
"""
OUTPUTS = """
t.ops.aten.adaptive_avg_pool2d.out(t.ones(2, 3, 2, 1, 5), (1, 1), out=t.tensor(1.5))
t.ops.aten.adaptive_avg_pool2d.out(t.ones(2, 0, 3), (1, 1), out=t.tensor(1.5))
t.ops.aten.adaptive_avg_pool2d.out(image(2, 3), (1, 1), out=t.tensor(1.5))
t.ops.aten.adaptive_avg_pool3d.out(t.ones(2, 3), (1, 1, 1), out=t.tensor(1.5))
t.narrow_copy(t.ones(2), 0, 0, 2, out=t.zeros(2).double())
t.narrow_copy(t.ones(2), 0, 0, 2, out=t.zeros(1))
t.diff(t.ones(0), out=t.ones(0))
t.diff(t.ones(2, 0), n=2, out=t.ones(0))
t.diff(t.ones(3), n=5, out=t.ones(0))
t.diff(t.tensor([True, False]), out=t.ones(1))
t.diff(t.ones(3), n=0, out=t.ones(0))
t.diff(t.ones(3), n=0, out=t.ones(3).double())
t.diff(leaf(1, 2), out=t.ones(1))
t.diff(t.ones(3), out=t.ones(2).int())
t.diff(t.ones(2, 5), out=t.ones(1).as_strided((1, 5), (1, 0)))
x = t.arange(5.); t.diff(x, out=x[:4])
x = t.arange(5.); t.diff(x, out=x)
x = t.arange(6.).reshape(2, 3); t.diff(x, dim=0, out=x[1:])
x = t.arange(6.).reshape(2, 3); t.diff(x, prepend=x, out=x)
t.inner(t.tensor(0.), leaf(1, 2)[0], out=t.ones(0))
t.inner(t.tensor([0., 1]), leaf(1, 2), out=t.ones(0))
t.kron(t.ones(3, 2).t(), leaf(1)[0], out=t.ones(0))
"""
ENDS = """
t._add_relu(t.tensor([inf, -inf, 1]), 1)
t._add_relu_(t.tensor([inf, -inf, 1]).double(), t.ones(3))
t._add_relu(t.tensor([127], dtype=t.int8), 5)
t.logspace(0j, 0., 2, 0)
t.logspace(1j, 0., 2, 0)
t.logspace(0j, 0., 2, 1)
t.nn.CrossMapLRN2d(1, beta=-.5)(t.tensor([1, -inf, 1e30, 2]).reshape(1, 4, 1, 1))
t.nn.CrossMapLRN2d(3)(image(2, 3).repeat(1, 3, 1, 1))
t.nn.CrossMapLRN2d(4)(image(2, 3).repeat(1, 3, 1, 1))
t.nn.CrossMapLRN2d(9)(image(2, 3).repeat(1, 3, 1, 1))
"""
DRAWN = """
x = leaf(1, 2); t.ops.aten.exponential(x).sum().backward(); x.grad
x = leaf(1, 2); t.ops.aten.uniform(x).sum().backward(); x.grad
[getattr(t.ops.aten, name)(leaf(1, 2)).requires_grad for name in ('cauchy', 'log_normal', 'random', 'normal_functional')]
t.ops.aten.geometric(leaf(1, 2), .5).grad_fn.name()
t.ops.aten.exponential(t.ones(3))
"""
PLACES = """
x = t.ones(1); y = x.to('cpu:0').add_(1); [x, y, y.device]
x = leaf(1, 2); x.to(t.device('cpu', 0)) is x
x = leaf(1, 2); x.to('cpu') is x
x = t.ones(1); x.to('cpu:0', t.float32) is x
x = t.ones(1, device='cpu:0'); x.to('cpu') is x
x = t.ones(1, device='meta'); x.to('meta') is x
x = t.ones(1, device='meta'); x.to('meta:0') is x
x = t.nn.Linear(1, 1); w = x.weight; x.to('cpu:0').weight is w
t.zeros_like(t.ones(2, 3), layout=t.sparse_coo).sparse_dim()
t.linspace(t.tensor(0.), 1, 2, layout=t.strided)
x = t.ones(1); t.ops.aten.cumprod_backward(x, x, 0, x) is x
"""
PROBABILITIES = """
F.binary_cross_entropy(t.tensor([.5]), t.tensor([-1.]))
F.binary_cross_entropy(t.tensor([.5, .5]), t.tensor([.5, 2]), reduction='none')
F.binary_cross_entropy(t.tensor([.5, 1.5]), t.tensor([2., .5]))
F.binary_cross_entropy(t.tensor([1.5, .5]), t.tensor([.5, 2]))
F.binary_cross_entropy(t.tensor([1.5]), t.tensor([2.]))
F.binary_cross_entropy(t.tensor([.5]), t.tensor([nan]))
F.binary_cross_entropy(t.tensor([.5]).double(), t.tensor([-1.]).double(), t.ones(1).double())
F.binary_cross_entropy(t.tensor([.5, 0, 1]), t.tensor([0., 1, 1]))
F.binary_cross_entropy(t.ones(0), t.ones(0))
"""
GRADIENTS = """
t.norm_except_dim(t.ones(0))
t.norm_except_dim(t.ones(3, 0), 2, 1)
t.norm_except_dim(t.ones(3, 0, 2), 2, 1)
t.norm_except_dim(t.ones(3, 0))
t.norm_except_dim(t.arange(12.).reshape(2, 3, 2), 2, 1).tolist()
t.ops.aten.unfold_backward(t.ones(0, 3), [4, 4], 0, 7, -3)
t.ops.aten.unfold_backward(t.ones(1, 4, 2), [4, 4], 0, 2, 0)
t.ops.aten.unfold_backward(t.ones(1, 4, 2), [4, 4], 5, 2, 1)
t.ops.aten.unfold_backward(t.ones(1, 4, 2), [4, 4], 0, -2, 1)
t.ops.aten.unfold_backward(t.arange(24.).reshape(3, 4, 2), [4, 4], 0, 2, 1)
t.ops.aten.multilabel_margin_loss_backward(t.tensor(1.), t.ones(1, 3), t.tensor([[0, 2, 0]]), 1, t.tensor([[0., 2, 0]]))
t.ops.aten.multilabel_margin_loss_backward(t.tensor(1.), t.ones(1, 3), t.tensor([[0, 2, 0]]), 1, t.tensor([[.5, 1, 0]]))
"""
BYTES = """
t.tensor([0, 1, 2, 255], dtype=t.uint8).view(t.bool).float()
[t.tensor([0, 1, 2, 255], dtype=t.uint8).view(t.bool).to(d) for d in (t.int32, t.uint8, t.double, t.half, t.bfloat16)]
t.tensor([0, 1, 2, 255], dtype=t.uint8).view(t.bool).to(t.complex64)
t.stack([t.tensor([0, 2, 3], dtype=t.uint8).view(t.bool), t.tensor([True, False, True])]).double().sum()
"""
ALL = BATCHES, CHECKED, OUTPUTS, ENDS, DRAWN, PLACES, PROBABILITIES, GRADIENTS, BYTES


@pytest.mark.parametrize("program", "".join(ALL).strip().splitlines())
def test_is_as_in_torch(program: str) -> None:
    assert_as_in_torch(program)


def test_a_grid_is_not_sampled_in_a_mode_that_there_is_not() -> None:
    """torch leaves its output as the memory was."""
    with pytest.raises(RuntimeError, match="expected interpolation mode to be 0, 1 or 2, but got 7"):
        last("t.grid_sampler(t.ones(1, 1, 2, 2), t.zeros(1, 2, 2, 2), 7, 0, False)", mt)


def test_bounds_in_tensors_are_no_way_to_a_sparse_range() -> None:
    for library in (torch, mt):
        with pytest.raises(NotImplementedError, match="with arguments from the 'SparseCPU' backend"):
            last("t.logspace(t.tensor(0.), 1, 2, layout=t.sparse_coo)", library)


def test_lengths_of_weights_are_as_many_as_their_places() -> None:
    """torch reads on behind the lengths that it was given."""
    with pytest.raises(RuntimeError, match="expected g to have 3 elements, but got 1"):
        last("t._weight_norm(t.ones(3, 2), t.ones(()))", mt)
    assert_as_in_torch("t._weight_norm(t.arange(6.).reshape(3, 2), t.ones(3, 1))")
    assert_as_in_torch("t._weight_norm(t.arange(6.).reshape(3, 2), t.ones(1, 2), 1)")
