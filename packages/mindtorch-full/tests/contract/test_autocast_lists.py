"""What autocast does to every op on the CPU is what torch does, and registered casts join the list."""

import pytest

import mindtorch as mt
from mindtorch.amp.state import policies

torch = pytest.importorskip("torch", reason="oracle")


def test_the_ops_are_torchs():
    names = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    cast = {n for n in names if torch._C._dispatch_has_kernel_for_dispatch_key(n, "AutocastCPU")}
    assert set(policies()["cpu"].casts) == {name[6:].partition(".")[0] for name in cast}


def square(T, dtype):
    return (T.eye(3) * 2 + 0.5).to(dtype)


def image(T, dtype, dims):
    return T.ones((1, 1, *[4] * dims), dtype=dtype)


def unit(T, dtype):
    return T.full((3, 3), 0.5).to(dtype)


CALLS = {
    "conv1d": lambda T, d: T.conv1d(image(T, d, 1), image(T, d, 1)),
    "conv2d": lambda T, d: T.conv2d(image(T, d, 2), image(T, d, 2)),
    "conv3d": lambda T, d: T.conv3d(image(T, d, 3), image(T, d, 3)),
    "conv_transpose2d": lambda T, d: T.conv_transpose2d(image(T, d, 2), image(T, d, 2)),
    "mm": lambda T, d: T.mm(square(T, d), square(T, d)),
    "bmm": lambda T, d: T.bmm(square(T, d)[None], square(T, d)[None]),
    "addmm": lambda T, d: T.addmm(*[square(T, d)] * 3),
    "addbmm": lambda T, d: T.addbmm(square(T, d), *[square(T, d)[None]] * 2),
    "baddbmm": lambda T, d: T.baddbmm(*[square(T, d)[None]] * 3),
    "matmul": lambda T, d: T.matmul(square(T, d), square(T, d)),
    "linear": lambda T, d: T.nn.functional.linear(square(T, d), square(T, d)),
    "attention": lambda T, d: T.nn.functional.scaled_dot_product_attention(*[square(T, d)[None]] * 3),
    "vecdot": lambda T, d: T.linalg.vecdot(square(T, d), square(T, d)),
    "prelu": lambda T, d: T.prelu(square(T, d), T.ones(1, dtype=d)),
    "trace": lambda T, d: T.trace(square(T, d)),
    "prod": lambda T, d: T.prod(square(T, d)),
    "quantile": lambda T, d: T.quantile(square(T, d), 0.5),
    "cdist": lambda T, d: T.cdist(square(T, d), square(T, d)),
    "mse_loss": lambda T, d: T.nn.functional.mse_loss(square(T, d), square(T, d)),
    "l1_loss": lambda T, d: T.nn.functional.l1_loss(square(T, d), square(T, d)),
    "smooth_l1": lambda T, d: T.nn.functional.smooth_l1_loss(square(T, d), square(T, d)),
    "huber": lambda T, d: T.nn.functional.huber_loss(square(T, d), square(T, d)),
    "kl_div": lambda T, d: T.nn.functional.kl_div(unit(T, d), unit(T, d), reduction="sum"),
    "bce": lambda T, d: T.nn.functional.binary_cross_entropy(unit(T, d), unit(T, d)),
    "bce_logits": lambda T, d: T.nn.functional.binary_cross_entropy_with_logits(unit(T, d), unit(T, d)),
    "cross_entropy": lambda T, d: T.nn.functional.cross_entropy(square(T, d), T.arange(3)),
    "nll_loss": lambda T, d: T.nn.functional.nll_loss(square(T, d), T.arange(3)),
    "soft_margin": lambda T, d: T.nn.functional.soft_margin_loss(square(T, d), square(T, d)),
    "inverse": lambda T, d: T.inverse(square(T, d)),
    "svd": lambda T, d: T.linalg.svdvals(square(T, d)),
    "eigvalsh": lambda T, d: T.linalg.eigvalsh(square(T, d)),
    "solve": lambda T, d: T.linalg.solve(square(T, d), square(T, d)),
    "cholesky": lambda T, d: T.linalg.cholesky(square(T, d)),
    "qr": lambda T, d: T.linalg.qr(square(T, d))[1],
    "reflection": lambda T, d: T.nn.functional.pad(image(T, d, 1), (1, 1), mode="reflect"),
    "replication": lambda T, d: T.nn.functional.pad(image(T, d, 2), (1, 1, 1, 1), mode="replicate"),
    "avg_pool3d": lambda T, d: T.nn.functional.avg_pool3d(image(T, d, 3), 2),
    "max_pool3d": lambda T, d: T.nn.functional.max_pool3d(image(T, d, 3), 2),
    "adaptive3d": lambda T, d: T.nn.functional.adaptive_avg_pool3d(image(T, d, 3), 2),
    "grid_sample": lambda T, d: T.nn.functional.grid_sample(image(T, d, 2), T.zeros(1, 2, 2, 2, dtype=d)),
    "stack": lambda T, d: T.stack([square(T, d), square(T, T.float32)]),
    "cat": lambda T, d: T.cat([square(T, d), square(T, T.float32)]),
    "index_copy": lambda T, d: T.index_copy(square(T, d), 0, T.arange(3), square(T, T.float32)),
    "softmax": lambda T, d: T.softmax(square(T, d), 0),
    "layer_norm": lambda T, d: T.nn.functional.layer_norm(square(T, d), (3,)),
    "add": lambda T, d: square(T, d) + square(T, d),
    "relu": lambda T, d: T.relu(square(T, d)),
    "sum": lambda T, d: square(T, d).sum(),
    "exp": lambda T, d: square(T, d).exp(),
    "pow": lambda T, d: square(T, d) ** 2,
}


@pytest.mark.parametrize("lower", ["bfloat16", "float16"])
@pytest.mark.parametrize("given", ["float32", "bfloat16", "float16", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_results_have_torchs_dtype(name, given, lower):
    def outcome(T):
        with T.autocast("cpu", dtype=getattr(T, lower)):
            try:
                return str(CALLS[name](T, getattr(T, given)).dtype)
            except (RuntimeError, NotImplementedError) as error:
                return type(error).__name__

    expected = outcome(torch)
    if expected.startswith("torch"):
        assert outcome(mt) == expected


def test_registered_casts_apply_on_the_simulated_device_key_alone():
    lib = mt.library.Library("autocast_lists", "DEF")
    lib.define("op(Tensor x) -> Tensor")
    lib.impl("op", lambda x: x * 1, "CPU")
    mt.library.register_autocast("autocast_lists::op", "npu", mt.float16, lib=lib)
    with mt.autocast("cpu"):
        assert mt.ops.autocast_lists.op(mt.ones(2)).dtype is mt.float32
    mt.library.register_autocast("autocast_lists::op", "cpu", mt.bfloat16, lib=lib)
    with mt.autocast("cpu"):
        assert mt.ops.autocast_lists.op(mt.ones(2)).dtype is mt.bfloat16
        assert mt.ops.autocast_lists.op(mt.ones(2, dtype=mt.int64)).dtype is mt.int64
    assert mt.ops.autocast_lists.op(mt.ones(2)).dtype is mt.float32
