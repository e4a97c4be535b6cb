"""Small programs that random calls found to differ from torch: the last line is compared, or the error."""

import pytest

pytest.importorskip("torch", reason="oracle")

from .programs import assert_as_in_torch

NOT_DIFFERENTIABLE = """
F.binary_cross_entropy(t.tensor([.5]), t.ones(1), weight=t.ones(1, requires_grad=True))
F.binary_cross_entropy_with_logits(t.ones(1, requires_grad=True), t.ones(1), weight=t.ones(1, requires_grad=True))
F.binary_cross_entropy_with_logits(t.ones(1), t.ones(1), pos_weight=t.ones(1, requires_grad=True))
F.cross_entropy(t.ones(2, 3), t.tensor([1, 2]), weight=t.ones(3, requires_grad=True))
F.nll_loss(t.ones(1, 3, 2, 2), t.zeros(1, 2, 2).long(), t.ones(3, requires_grad=True))
F.multi_margin_loss(t.ones(2, 3), t.tensor([1, 2]), weight=t.ones(3, requires_grad=True))
F.batch_norm(t.ones(2, 1), t.ones(1, requires_grad=True), t.ones(1), training=True)
F.instance_norm(t.ones(2, 1, 3), t.ones(1), t.ones(1, requires_grad=True))
F.soft_margin_loss(t.ones(2), t.ones(2, requires_grad=True))
t.linalg.pinv(t.ones(2, 2), t.tensor(.5, requires_grad=True))
t.fake_quantize_per_channel_affine(t.ones(2, 2), t.ones(2, requires_grad=True), t.zeros(2).int(), 0, 0, 255)
with t.no_grad(): r = F.binary_cross_entropy(t.tensor([.5]), t.ones(1), weight=t.ones(1, requires_grad=True)); r
F.binary_cross_entropy(t.tensor([.5], requires_grad=True), t.ones(1), weight=t.ones(1))
"""
GRADIENTS = """
t.special.chebyshev_polynomial_t(leaf(.5), 2).requires_grad
t.special.legendre_polynomial_p(leaf(.5), leaf(2)).grad_fn
t.special.airy_ai(leaf(.5)).requires_grad
t.special.hermite_polynomial_h(leaf(.5), 2).backward()
t.special.spherical_bessel_j0(leaf(.5)).backward()
x, y = leaf(0., 0, 1, nan, inf, 0), leaf(0, -0., 0, 0, inf, 1); t.atan2(x, y).sum().backward(); [x.grad, y.grad]
x, y = leaf(nan, 1, 2, 3), leaf(1, nan, 2, 4); t.minimum(x, y).sum().backward(); [x.grad, y.grad]
x, y = leaf(nan, 1, 2, 3), leaf(1, nan, 2, 4); t.maximum(x, y).sum().backward(); [x.grad, y.grad]
x = leaf(nan, 2, -1, 0, inf); t.special.entr(x).sum().backward(); x.grad
"""
LEAVES = """
leaf(1, 0).logical_not_()
leaf(1, 0)[:1].logical_and_(t.ones(1)).requires_grad
leaf(1, 0).logical_or_(t.ones(2))
x = leaf(1, 2); y = x * 2; y.logical_xor_(y); y.sum().backward(); x.grad
leaf(1, 0).eq_(1)
"""
ARGUMENTS = """
t.tril_indices(2, 2, dtype=None)
t.tril_indices(2, 2, dtype=t.uint8)
t.triu_indices(2, 2, dtype=t.float32)
t.triu_indices(0, 1, dtype=None)
t.tensor([5.]).expand(3, 3).triu_()
t.tensor(1.).subtract(t.tensor(1.), 2)
t.subtract(t.tensor(1.), 2, 2)
t.tensor(1.).subtract_(3, 2)
F.pad(t.ones(3, 2), [-3, 3])
F.pad(t.ones(3, 2), [1, -3])
F.pad(t.ones(3, 2), [-3, -1])
F.pad(t.ones(3, 2), [-1, -1, -2, 1])
F.soft_margin_loss(t.tensor(1.), t.ones(1))
t.nn.utils.rnn.pack_padded_sequence(t.ones(2, 1, 1), t.tensor([2**62]))
t.nn.utils.rnn.pack_padded_sequence(t.arange(18.).view(3, 3, 2), t.tensor([5, 2, 2])).batch_sizes
F.soft_margin_loss(t.ones(2, 1), t.ones(1, 2))
t.histogram(t.tensor(.5), t.tensor([0.]))
b = t.tensor([0., 1.]); t.histogram(t.tensor(.5), b)[1] is b
t.tensor([], dtype=t.int16).median()
t.tensor([], dtype=t.int8).nanmedian()
t.tensor([], dtype=t.int64).median()
t.ones(2, 5, 5).to_sparse(0)
t.ones(2).to_sparse(2)
t.tensor(5, dtype=t.uint8).fill_(-0.5)
t.tensor(5, dtype=t.uint8).fill_(-3)
t.ops.aten._prelu_kernel_backward(t.tensor([1., -2.5]), t.tensor([4.]).expand(2), t.tensor(0.))
t.full((2,), -3.5, dtype=t.uint64)
t.tensor([1], dtype=t.uint8).masked_fill(t.tensor([True]), -3.25)
t._foreach_add([t.ones(1)], [t.ones(1)], alpha=True)
t._foreach_sub_([t.ones(1)], [t.ones(1)], alpha=True)
"""
WRITES = """
t.diff(t.ones(5), 0, out=t.tensor([0.]).expand(2))
t.divide(t.tensor(0.), t.ones(0), rounding_mode='floor', out=t.tensor([2.]).expand(2))
t.ldexp(t.tensor(0.), t.tensor(0.), out=t.tensor([0.]).expand(3))
a = t.tensor(2.); t.special.round(a, out=a.view(-1))
a = t.tensor([2., 3]); t.special.xlogy(0, a, out=a[1:])
t.ops.aten.smooth_l1_loss.out(t.ones(2), t.ones(2), 1, out=t.ones(1).expand(3))
a = t.ones(4); t.ops.aten.mse_loss.out(a, a, 1, out=a[0])
t.split_copy(t.ones(3), 2, out=[t.tensor(4.), t.tensor(3.)])
o = [t.zeros(2), t.zeros(1)]; t.split_copy(t.ones(3), 2, out=o); o
a = t.ones(4); t.ops.aten.huber_loss.out(a, a, 0, out=a[1:])
a = t.ones(4); t.ops.aten.mse_loss.out(a, t.zeros(4), 0, out=a)
"""
NUMBERS = """
t.histc(t.tensor(1e30))
t.histc(t.tensor([1e30, 1e30]), 3)
t.poisson(t.tensor([inf, 1e30]))
t.poisson(t.tensor([1e18, 1e19], dtype=t.float64))
t.binomial(t.tensor([inf]), t.tensor([.5]))
t.binomial(t.tensor([3e38]), t.tensor([1e-45]))
t.isclose(t.ones(2), t.ones(2), nan, 0)
t.allclose(t.ones(2), t.ones(2), 0, nan)
t.linspace(-.5, 4, 4, dtype=t.uint8)
t.linspace(1e300, 0, 1, dtype=t.complex64)
t.linspace(0, 70000, 4, dtype=t.half)
t.linspace(1e300, 0, 1, dtype=t.half)
t.linspace(3, -3, 3, dtype=t.uint8)
t.linspace(nan, 3, 3, dtype=t.int64)
t.logspace(1, 1.5, 1, -1., dtype=t.uint8)
t.logspace(-3, 1e300, 3)
t.tensor(4, dtype=t.uint8).clamp_min(-1)
t.tensor([4, -9], dtype=t.int8).clamp(-7, 3)
t.tensor([inf, 2.]).clamp(max=inf)
F.hardtanh(t.tensor(0, dtype=t.uint8))
F.hardtanh(t.tensor([0, 7], dtype=t.uint8), 1, 3)
t.tensor([3, -2]).pow(2)
"""
SHAPES = """
t.nn.functional.adaptive_avg_pool2d(t.ones(1, 3, 0, 1), (1, 1))
t.nn.functional.adaptive_avg_pool2d(t.ones(4, 4), (1, 1))
t.nn.functional.adaptive_avg_pool3d(t.ones(4, 4), 1)
t.nn.functional.adaptive_avg_pool3d(t.ones(4, 4, 4), 1)
t.nn.functional.avg_pool3d(t.zeros(1, 1, 1, 1), 2, ceil_mode=True)
t.normal(t.ones(1), 1., out=t.ones(2))
t.normal(t.ones(3), 1., out=t.ones(2))
t.normal(t.ones(3), 1., out=t.ones(2, 3))
t.ops.aten._reshape_alias.default(t.ones(4), [2, 2], [1])
t._pad_packed_sequence(t.ones(3, 3), t.tensor([1, 0], dtype=t.int32), False, 1, 0)
t._pad_packed_sequence(t.ones(3, 3), t.tensor([], dtype=t.int64), False, 1, 0)
t.segment_reduce(t.ones(5), 'sum', offsets=t.tensor([0, 2, 1]))
t.segment_reduce(t.ones(5), 'sum', lengths=t.tensor([-1, 6]), unsafe=True)
F.scaled_dot_product_attention(t.ones(0, 5, 5), t.ones(0, 3, 5, 5), t.ones(3, 5, 5))
F.scaled_dot_product_attention(t.ones(2, 0, 3), t.ones(2, 4, 3), t.ones(2, 4, 1))
F.scaled_dot_product_attention(t.ones(2, 2, 3), t.ones(2, 3), t.ones(2, 1), enable_gqa=True)
t.linalg.vander(t.ones(2, 3, dtype=t.complex32))
"""
OVERLOADS = """
t.ops.aten._foreach_add_.Scalar([t.ones(2)], 1)
t.ops.aten.topk.values(t.ones(3), 1, values=t.ones(0), indices=t.ones(0).long())
t.ops.aten.rand.out([2, 3], out='a')
t.ops.aten.ceil.out([1, 2], out=t.ones(2))
t.ops.aten.col2im.out(t.ones(4), 4, (2, 2), 1, [4, 3], [1, 1], out=t.ones(2))
t.ops.aten.special_modified_bessel_i0.default(t.ones(2), out=1)
"""
ORDER = """
t.ops.aten.igamma.out(t.ones(2), t.ones(2, dtype=t.complex64), out=t.ones(2))
t.bitwise_left_shift(t.ones(2), t.ones(3))
t.ones(3).lcm_(t.ones(2))
t.ones(1).expand(3).lcm_(t.ones(3))
t.lcm(t.ones(3), t.ones(3))
t.lcm(t.ones(3, device='meta'), t.ones(3, device='meta')).shape
t.hypot(t.ones(3).int(), t.ones(3).int())
"""
LEAKED = """
F.nll_loss(t.ones(3, 2), t.zeros((), dtype=t.long))
t.smm(t.ones(2, 2), t.ones(2, 2))
t.smm(t.ones(2, 2), t.ones(2, 2).to_sparse())
t.smm(t.ones(2, 2).to_sparse(), t.ones(2, 2).to_sparse())
t.smm(t.ones(2, 2).to_sparse(), t.ones(2, 2)).to_dense()
t.ones(0, 2, 2).int().cholesky(True)
F.cross_entropy(t.ones(3, 2), t.zeros((), dtype=t.long))
t.ones(3).var(correction=1j)
t.std_mean(t.ones(3), correction=1j)
t.unbind_copy(t.ones(3), out=[t.ones(1)])
t.split_copy(t.ones(3), 2, out=[t.ones(1)])
t.split_with_sizes_copy(t.ones(3), [1, 2], out=[t.ones(1)])
t.ops.aten.glu_backward(t.ones(2), t.ones(3), 0)
t.ops.aten.glu_backward(t.ones(2), t.tensor(1.), 0)
t.ops.aten.glu_backward(t.ones(2, 3), t.ones(2, 4), 1)
t.ops.aten.glu_backward(t.ones(2, 2), t.ones(2, 4), 1)
"""
RANGES = """
t.arange(0, 1e30)
t.arange(0, 1, 1e-300)
t.arange(0, 5, nan)
t.arange(0, 1e300, 1e-300)
t.arange(4, 1e38, 2, out=t.ones(0))
t.sparse_coo_tensor(t.tensor([[-5]]), t.ones(1))
t.sparse_coo_tensor(t.tensor([[1, 2], [3, -1]]), t.ones(2))
t.ormqr(t.ones(3, 3), t.ones(7), t.ones(3, 3))
F.pixel_shuffle(t.ones(1, 4, 2, 2), 2**32)
"""
NUMBERS_OF_CLASSES = """
class S(float): pass; t.ones(2) * S(3.)
class S(float): pass; t.add(t.ones(2), S(3.), alpha=S(2))
class S(int): pass; S(3) - t.ones(2)
class S(complex): pass; t.ones(2) * S(3)
class S(float): pass; t.ops.aten.mul.Scalar(t.ones(2), S(3))
class S(float): pass; t.where(t.tensor([True, False]), S(2), t.ones(2))
class S(float): pass; t.ones(2).clamp(S(0), S(.5))
class S(float): __float__ = None; t.ones(2) * S(3.)
class S: __index__ = lambda self: 1; t.arange(9).view(3, 3)[S(), S()]
class S: __index__ = lambda self: 1; x = t.arange(3); x[S()] = 5; x
class S: __index__ = lambda self: 9; t.ones(3, 3)[:, S()]
class S: __index__ = lambda self: [].a; t.ones(3, 3)[S(), 0]
"""
INTEGERS = """
t.tensor([1, 2], dtype=t.uint8).clamp(300)
t.tensor([1, 2], dtype=t.uint8).clamp(-1, 5)
t.tensor([1, 2], dtype=t.uint8).clamp_(max=300)
t.clamp_max(t.tensor([1, 2], dtype=t.int8), 200)
t.clamp(t.tensor([1, 2]), 2**63)
t.clamp(t.tensor([], dtype=t.int32), 2**31)
t.clamp(t.tensor([1, 2], dtype=t.uint8, device='meta'), 300).shape
t.clamp(t.tensor([1, 2], dtype=t.uint16), 70000)
t.vmap(lambda x: x.clamp(300))(t.ones(2, 2, dtype=t.uint8))
t._foreach_maximum([t.tensor([1], dtype=t.uint8)], 300)
t.tensor([44, 2], dtype=t.uint8) + 300
t.tensor([44, 2], dtype=t.uint8) == 300
t.tensor([44, 2], dtype=t.uint8).remainder(300)
t.add(t.tensor([44], dtype=t.uint8), 1, alpha=300)
t.rsub(t.tensor([44], dtype=t.uint8), 1, alpha=300)
F.threshold(t.tensor([1, 2], dtype=t.uint8), 0, 300)
t.tensor([1, 2], dtype=t.uint8) ** 300
t.tensor([1, 2], dtype=t.uint8) ** -1
t.tensor([1, 2]) ** 2**63
t.empty(0, dtype=t.int64).pow_(-1)
t.pow(t.empty(0, dtype=t.int64), -1, out=t.ones(0))
t._foreach_pow([t.empty(0, dtype=t.int64)], [-1])
t.pow(t.ones(3, dtype=t.int64, device='meta'), -1).shape
"""
WITHOUT_EXTENT = """
F.conv1d(t.ones(1, 1, 0), t.ones(1, 1, 3), padding=2)
F.conv1d(t.ones(1, 1, 0), t.ones(1, 1, 3), padding=1)
F.conv1d(t.ones(1, 0), t.ones(1, 1, 3), padding=2)
F.conv2d(t.ones(1, 1, 0, 4), t.ones(1, 1, 3, 3), padding=2)
F.conv_transpose1d(t.ones(1, 1, 0), t.ones(1, 1, 3), padding=1)
F.conv1d(t.ones(1, 1, 0, device='meta'), t.ones(1, 1, 3, device='meta'), padding=2).shape
F.conv1d(t.ones(0, 1, 0), t.ones(1, 1, 3), padding=2)
F.conv2d(t.ones(2, 0, 4, 4), t.ones(3, 0, 2, 2), t.ones(3))
b = leaf(1, 2, 3); w = t.ones(3, 0, 2, requires_grad=True); F.conv1d(t.ones(1, 0, 4), w, b).sum().backward(); [b.grad, w.grad]
F.conv1d(t.ones(1, 1, 3), t.ones(1, 1, 0))
F.conv2d(t.ones(1, 1, 3, 3), t.ones(1, 1, 0, 2), dilation=2)
F.conv3d(t.ones(1, 1, 3, 3, 3), t.ones(1, 1, 0, 2, 2))
F.conv_transpose3d(t.ones(1, 1, 3, 3, 3), t.ones(1, 1, 0, 2, 2))
"""
TARGETS = """
F.binary_cross_entropy_with_logits(t.ones(3), t.tensor([True, False, True]))
F.binary_cross_entropy_with_logits(t.ones(3).half(), t.tensor([True, False, True]), pos_weight=t.ones(3))
F.binary_cross_entropy_with_logits(t.ones(3).int(), t.tensor([True, False, True]))
"""
RESIDUALS = """
t.linalg.lstsq(t.ones(3, 2), t.arange(3.).view(3, 1), driver='gelsd').residuals
t.linalg.lstsq(t.ones(3, 2), t.arange(3.).view(3, 1), driver='gelss').residuals
t.linalg.lstsq(t.ones(3, 1), t.arange(3.).view(3, 1), driver='gelsd').residuals
t.linalg.lstsq(t.stack([t.ones(3, 2), t.eye(3)[:, :2]]), t.ones(2, 3, 1), driver='gelsd').residuals
t.linalg.lstsq(t.ones(0, 3, 2), t.ones(0, 3, 2), driver='gelsd').residuals
t.linalg.lstsq(t.ones(3, 2), t.ones(3, 2)).residuals
"""
ENDLESS = """
x = [1]; x.append(x); t.cov(x)
x = [1]; x.append(x); t.add(t.ones(1), x)
x = [1]; x.append(x); t.cat(x)
x = [1]; x.append(x); t.ops.aten.add.Tensor(t.ones(1), x)
x = [1]; x.append(x); F.conv2d(t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 1), stride=x)
x = [1]; x *= 8; x[:] = [x] * 8; t.cat(x)
import functools; x = functools.reduce(lambda inner, _: [inner], range(100000), 1); t.cat(x)
import functools; x = functools.reduce(lambda inner, _: (inner,), range(100000), ()); t.ones(x)
t.cov(eval("type('Nameless', (), {})()", {}))
t.rand(2, generator=eval("type('Nameless', (), {})()", {}))
"""
RECEIVERS = """
t.Tensor.lgamma(None)
t.Tensor.view(3, 1)
t.Tensor.add_(3, t.ones(1))
t.Tensor.to([1.], t.float64)
t.Tensor.add()
t.Tensor.view()
t.Tensor.__add__(t.ones(1), None, alpha=2)
t.Tensor.__add__(t.ones(1), t.ones(1), alpha=2)
t.Tensor.__add__(True, t.ones(1), alpha=2)
t.tensor([1.5]).round(decimals=2**31)
t.tensor([1.5]).round(decimals=-400)
"""
CAST = """
t.ops.aten.view.default(t.ones(4), t.ones(2))
t.ops.aten.view.default(t.ones(4), t.tensor([2, 2]))
t.ops.aten.view.default(t.ones(4), t.ones(2, 2))
t.Size([t.ones(1)])
t.Size([t.ones(2).long()])
t.Size([t.tensor([2]), np.int64(3), True])
t.Size([2.5])
class S: __index__ = lambda self: 1 // 0; t.Size([2, S()])
t.tril_indices(4, 1, 2**62)
t.triu_indices(4, 2, -2**62)
t.ops.aten.linalg_lu_factor_ex.default(t.eye(2), check_errors=np.array([1., 2.]))
t.ops.aten.linalg_lu_factor_ex.default(t.eye(2), check_errors=t.tensor(1.)).info
t.ops.aten.sum.dim_IntList(t.ones(3), np.int64(0))
t.ops.aten.sum.dim_IntList(t.ones(3, 2), t.tensor(0))
t.ops.aten.softmax.int(t.ones(2), t.tensor(nan))
t.ops.aten.softmax.int(t.ones(2), t.tensor(.5))
t.ops.aten.exp.out(t.ones(2), out=())
t.ops.aten.exp.out(t.ones(2), out=[t.ones(2)])
t.ops.aten.split_copy.Tensor_out(t.ones(2), 1, out=t.ones(2))
class S: __index__ = lambda self: 1 // 0; t.ones(3).sum(S())
class S: __index__ = lambda self: 1 // 0; t._adaptive_avg_pool3d(t.ones(1, 2, 2, 2), S())
t.isclose(t.ones(1), t.ones(1), 2**200)
F.pad(t.ones(1).half(), [1, 1], value=2**200)
F.pad(t.ones(1), [1, 1], value=10**30)
F.pad(t.ones(1), [1, 1], value=2**2000)
t.full((2,), 2**200)
"""
PRINTED = """
repr(t.tensor(1.).expand(2**31, 2))
repr(t.tensor(1j).expand(2, 2**31))
repr(t.tensor(True).expand(2**40))
repr(t.arange(10000.).view(10, 2, 500))
repr(t.arange(10000.).bfloat16().view(2, -1, 5))
repr(t.arange(10000.).to(t.complex32).view(-1, 5))
"""
TWICE = """
x = leaf(1, 2); y = x * 2; y.sum().backward(); y.sum().backward()
x = leaf(1, 2); y = (2.5 * x).sum(); y.backward(); y.backward()
x = leaf(1, 2); y = (x / 2).sum(); y.backward(); y.backward()
x = leaf(1, 2); y = (x * 2).sum(); y.backward(retain_graph=True); y.backward(); x.grad
x = leaf(1, 2); y = (x + 2).sum(); y.backward(); y.backward(); x.grad
x = leaf(1, 2); y = (2 - x).sum(); y.backward(); y.backward(); x.grad
x = leaf(1, 2); y = t.ops.aten.mul.Scalar(x, 2).sum(); y.backward(); y.backward(); x.grad
x = leaf(1, 2) * 1; v = x[1:]; v.mul_(3); repr(x)
"""
RESIZED = """
F.interpolate(image(2, 3), scale_factor=1.2)
F.interpolate(image(4, 3), scale_factor=1.3)
F.interpolate(image(4, 3), scale_factor=2.2)
F.interpolate(image(4, 3), scale_factor=1.3, mode='nearest-exact')
F.interpolate(image(2, 3), scale_factor=1.2, mode='bilinear')
F.interpolate(image(2, 3), scale_factor=1.2, mode='bicubic')
F.interpolate(image(2, 3).byte(), scale_factor=1.2, mode='bicubic')
F.interpolate(image(4, 3), scale_factor=1.3, mode='bicubic')
F.interpolate(image(4, 3), scale_factor=1.3, mode='bilinear', antialias=True)
F.interpolate(image(3, 4).byte(), scale_factor=1.3, mode='bilinear', antialias=True)
F.interpolate(image(2, 3), scale_factor=1.2, mode='bicubic', antialias=True)
x = image(4, 3).requires_grad_(); F.interpolate(x, scale_factor=1.3).sum().backward(); x.grad
x = image(4, 3).requires_grad_(); F.interpolate(x, scale_factor=1.3, mode='bicubic').sum().backward(); x.grad
x = image(3, 3).requires_grad_(); F.interpolate(x, scale_factor=1.3, mode='bilinear', antialias=True).sum().backward(); x.grad
"""

ALL = (
    NOT_DIFFERENTIABLE, GRADIENTS, LEAVES, ARGUMENTS, WRITES, NUMBERS, SHAPES, OVERLOADS, ORDER, NUMBERS_OF_CLASSES, TWICE,
    RESIZED, LEAKED, RANGES, INTEGERS, WITHOUT_EXTENT, TARGETS, RESIDUALS, ENDLESS, RECEIVERS,
    PRINTED, CAST,
)  # fmt: skip


@pytest.mark.parametrize("program", "".join(ALL).strip().splitlines())
def test_is_as_in_torch(program: str) -> None:
    assert_as_in_torch(program)
