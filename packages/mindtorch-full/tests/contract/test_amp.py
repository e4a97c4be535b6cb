"""Autocast state and gradient scaling answer as torch's."""

from __future__ import annotations

import re
import warnings

import pytest

import mindtorch as mt
from mindtorch.amp import state

torch = pytest.importorskip("torch", reason="oracle")


def _outcome(lib, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call(lib)
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            result = f"{type(error).__name__}: {error}"
    texts = [(w.category.__name__, str(w.message)) for w in caught if w.category is not RuntimeWarning]
    return re.sub(r"0x[0-9a-f]+", "0x", str(result)), texts


def _scaler(lib, **options):
    return lib.amp.GradScaler("cpu", **options)


def _setup(lib, **options):
    param = lib.nn.Parameter(lib.tensor([1.0, -2.0, 0.5]))
    return param, lib.optim.SGD([param], lr=0.1), _scaler(lib, **options)


def _training(lib, **options):
    param, optimizer, scaler = _setup(lib, init_scale=4.0, growth_interval=2, **options)
    trail = []
    for step in range(6):
        optimizer.zero_grad()
        scaler.scale((param * param).sum()).backward()
        if step == 3:
            param.grad[0] = float("inf")
        scaler.step(optimizer)
        scaler.update()
        trail.append((scaler.get_scale(), scaler._get_growth_tracker(), param.tolist()))
    return trail, scaler.state_dict()


def _sequence(*names):
    """Call these methods of a scaler after one backward."""

    def call(lib):
        param, optimizer, scaler = _setup(lib)
        scaler.scale(param.sum()).backward()
        for name in names:
            getattr(scaler, name)(optimizer)

    return call


def _new_scale(value):
    def call(lib):
        param, optimizer, scaler = _setup(lib)
        scaler.scale(param.sum()).backward()
        scaler.step(optimizer)
        scaler.update(value if isinstance(value, float) else lib.tensor(value))
        return scaler.get_scale()

    return call


def _half(lib):
    param = lib.nn.Parameter(lib.ones(2, dtype=lib.half))
    scaler = _scaler(lib)
    param.grad = lib.ones(2, dtype=lib.half)
    scaler.scale(lib.ones(1))
    scaler.step(lib.optim.SGD([param], lr=0.1))


CALLS = {
    "training": _training,
    "training without": lambda lib: _training(lib, enabled=False)[1],
    "unscale twice": _sequence("unscale_", "unscale_"),
    "unscale late": _sequence("step", "unscale_"),
    "step twice": _sequence("step", "step"),
    "step early": lambda lib: _scaler(lib).step(_setup(lib)[1]),
    "update early": lambda lib: _scaler(lib).update(),
    "new scale": _new_scale(3.0),
    "new scale tensor": _new_scale([5.0]),
    "new scale vector": _new_scale([5.0, 1.0]),
    "closure": lambda lib: _scaler(lib).step(_setup(lib)[1], closure=lambda: 1),
    "scale nothing": lambda lib: _scaler(lib).scale(3),
    "half": _half,
    "growth": lambda lib: _scaler(lib, growth_factor=0.5),
    "backoff": lambda lib: _scaler(lib, backoff_factor=2.0),
    "no cuda": lambda lib: lib.amp.GradScaler("cuda").is_enabled(),
    "empty state": lambda lib: _scaler(lib).load_state_dict({}),
    "state": lambda lib: (_scaler(lib).state_dict(), _scaler(lib, enabled=False).state_dict()),
    "no device": lambda lib: lib.amp.autocast(),
    "unknown device": lambda lib: lib.amp.autocast("foo"),
    "device type": lambda lib: lib.amp.autocast(3),
    "meta": lambda lib: lib.amp.autocast("meta"),
    "cuda": lambda lib: lib.amp.autocast("cuda")._enabled,
    "float32": lambda lib: lib.amp.autocast("cpu", dtype=lib.float32)._enabled,
    "off": lambda lib: vars(lib.amp.autocast("cpu", enabled=False)),
    "decorator": lambda lib: lib.amp.autocast("cpu", enabled=False)(lambda x: x + 1)(1),
    "available": lambda lib: [lib.amp.is_autocast_available(d) for d in ("cpu", "cuda", "xpu", "mps", "meta")],
    "forward device": lambda lib: lib.amp.custom_fwd(device_type=3),
}


def _scaled_steps(lib, make, overflows, unscales):
    """What an optimizer that divides by the scale itself sees and does."""
    param = lib.nn.Parameter(lib.tensor([1.0, -2.0, 0.5]))
    optimizer, scaler, trail = make(lib, [param]), _scaler(lib, init_scale=4.0), []
    for step in range(3):
        optimizer.zero_grad()
        scaler.scale((param * param).sum() * (float("inf") if overflows and step == 1 else 1)).backward()
        if unscales:
            scaler.unscale_(optimizer)
        said = scaler.step(optimizer)
        trail.append(
            (said, [round(x, 5) for x in param.tolist()], param.grad.tolist(), hasattr(optimizer, "found_inf"))
        )
        scaler.update()
    return trail, scaler.get_scale()


def _own_step(lib, params):
    class Own(lib.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None):
            return self.grad_scale, self.found_inf

    return Own(params, lr=0.1)


def _step_with_scaler(lib, params):
    class WithScaler(lib.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure=None, *, grad_scaler=None):
            return type(grad_scaler).__name__, hasattr(self, "grad_scale")

    return WithScaler(params, lr=0.1)


SCALED = {
    "adam": lambda lib, params: lib.optim.Adam(params, lr=0.1, fused=True),
    "sgd": lambda lib, params: lib.optim.SGD(params, lr=0.1, fused=True),
    "adagrad": lambda lib, params: lib.optim.Adagrad(params, lr=0.1, fused=True),
    "own": _own_step,
    "with scaler": _step_with_scaler,
}


@pytest.mark.parametrize("unscales", [True, False])
@pytest.mark.parametrize("overflows", [True, False])
@pytest.mark.parametrize("name", SCALED)
def test_optimizers_that_take_the_scale(name, overflows, unscales):
    ours, theirs = (
        _outcome(lib, lambda lib: _scaled_steps(lib, SCALED[name], overflows, unscales)) for lib in (mt, torch)
    )
    assert ours == theirs


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert _outcome(mt, CALLS[name]) == _outcome(torch, CALLS[name])


def test_state_follows_nested_regions():
    def seen(cast, enabled, dtype):
        trail = [enabled("cpu")]
        with cast("cpu"):
            trail += [enabled("cpu"), str(dtype("cpu"))]
            with cast("cpu", enabled=False):
                trail.append(enabled("cpu"))
            trail.append(enabled("cpu"))
        return [*trail, enabled("cpu")]

    ours = seen(mt.amp.autocast, state.is_autocast_enabled, state.get_autocast_dtype)
    assert ours == seen(torch.amp.autocast, torch.is_autocast_enabled, torch.get_autocast_dtype)


def _operands(lib):
    lib.manual_seed(0)
    a, b = lib.randn(3, 3), lib.randn(3, 3, requires_grad=True)
    return lib, lib.nn.functional, a, b, lib.randn(2, 3, 8, 8), lib.randn(4, 3, 3, 3)


REGION = {
    "matmul": lambda lib, f, a, b, x, w: a @ b,
    "linear": lambda lib, f, a, b, x, w: f.linear(a, b, b[0]),
    "addmm": lambda lib, f, a, b, x, w: lib.addmm(a, a, b, beta=2, alpha=0.5),
    "conv": lambda lib, f, a, b, x, w: f.conv2d(x, w),
    "bmm": lambda lib, f, a, b, x, w: lib.bmm(x[:, 0], x[:, 1]),
    "attention": lambda lib, f, a, b, x, w: f.scaled_dot_product_attention(x, x, x),
    "float32 loss": lambda lib, f, a, b, x, w: f.mse_loss(a.bfloat16(), a.bfloat16() + 1),
    "float32 prod": lambda lib, f, a, b, x, w: a.bfloat16().prod(),
    "promoted": lambda lib, f, a, b, x, w: lib.cat([a, a.bfloat16()]),
    "left alone": lambda lib, f, a, b, x, w: (a @ b).softmax(-1) + a,
    "double": lambda lib, f, a, b, x, w: a.double() @ a.double(),
    "integers": lambda lib, f, a, b, x, w: lib.ones(2, 2, dtype=lib.long) @ lib.ones(2, 2, dtype=lib.long),
}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", REGION)
def test_ops_in_a_region(name, dtype):
    def computed(lib):
        operands = _operands(lib)
        with lib.amp.autocast("cpu", dtype=getattr(lib, dtype)):
            result = REGION[name](*operands)
        return str(result.dtype), tuple(result.shape), result.detach().double().reshape(-1).tolist()

    ours, theirs = computed(mt), computed(torch)
    assert ours[:2] == theirs[:2]
    assert ours[2] == pytest.approx(theirs[2], rel=2e-2, abs=2e-2)


def test_gradients_of_a_region_have_the_parameters_dtype():
    def trained(lib):
        _, _, a, b, _, _ = _operands(lib)
        with lib.amp.autocast("cpu"):
            loss = ((a @ b) @ b).float().sum()
        loss.backward()
        return str(b.grad.dtype), (a @ b).dtype is lib.float32, b.grad.reshape(-1).tolist()

    ours, theirs = trained(mt), trained(torch)
    assert ours[:2] == theirs[:2]
    assert ours[2] == pytest.approx(theirs[2], rel=2e-2, abs=2e-2)
