"""A module built after a seed has the weight bits that torch gives it, and leaves the stream where torch leaves it."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402 (after the check that torch is there)

MODULES = {
    "linear": lambda t: t.nn.Linear(33, 17),
    "embedding": lambda t: t.nn.Embedding(50, 20, padding_idx=3),
    "convolution": lambda t: t.nn.Conv2d(3, 8, 3),
    "transposed convolution": lambda t: t.nn.ConvTranspose2d(4, 6, 3),
    "bilinear": lambda t: t.nn.Bilinear(3, 4, 5),
    "attention": lambda t: t.nn.MultiheadAttention(16, 4),
    "encoder layer": lambda t: t.nn.TransformerEncoderLayer(16, 4, 32),
    "sequence": lambda t: t.nn.Sequential(t.nn.Linear(5, 6), t.nn.LayerNorm(6), t.nn.Linear(6, 2)),
}

INITS = {
    "uniform_": (0.0, 0.3),
    "normal_": (0.1, 0.2),
    "xavier_uniform_": (),
    "xavier_normal_": (),
    "kaiming_uniform_": (),
    "kaiming_normal_": (),
    "trunc_normal_": (0.0, 0.02),
    "orthogonal_": (),
    "sparse_": (0.3,),
}


def built(module, build):
    module.manual_seed(1)
    weights = {name: value.detach().tolist() for name, value in build(module).state_dict().items()}
    return weights, module.rand(1).tolist()


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    assert built(mt, MODULES[name]) == built(torch, MODULES[name])


@pytest.mark.parametrize("name", INITS)
def test_init(name):
    results = []
    for module in (torch, mt):
        module.manual_seed(1)
        weight = getattr(module.nn.init, name)(module.empty(30, 40), *INITS[name])
        results.append((weight.tolist(), module.rand(1).tolist()))
    assert results[0][1] == results[1][1]
    # What a matrix factorisation rounds is its library's affair; the numbers it starts from are the stream's.
    tolerance = 1e-5 if name == "orthogonal_" else 0
    for theirs, ours in zip(results[0][0], results[1][0], strict=True):
        assert ours == pytest.approx(theirs, rel=0, abs=tolerance)
