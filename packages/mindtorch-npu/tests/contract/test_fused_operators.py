"""Dropout, root mean square norm, gated units and rotary positions: one launch each way, and the composition's numbers."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch._torch_npu import operators  # noqa: E402
from mindtorch_npu.backend import launches  # noqa: E402
from mindtorch_npu.simulator import libraries  # noqa: E402

from ..simulated import simulated  # noqa: E402

F = mindtorch.nn.functional
HEADS, POSITIONS = (2, 5, 3, 8), (1, 5, 1, 8)
CASES = {
    "rms_norm": (lambda x, w: F.rms_norm(x, (8,), w, 1e-5), [HEADS, (8,)], ["RmsNorm"], ["RmsNormGrad"]),
    "rms_norm over two": (lambda x, w: F.rms_norm(x, (3, 8), w), [HEADS, (3, 8)], ["RmsNorm"], ["RmsNormGrad"]),
    "rms_norm alone": (lambda x: F.rms_norm(x, (8,)), [HEADS], ["InplaceOne", "RmsNorm"], ["RmsNormGrad"]),
    "npu_rms_norm": (lambda x, w: operators.npu_rms_norm(x, w)[0], [HEADS, (8,)], ["RmsNorm"], ["RmsNormGrad"]),
    "npu_add_rms_norm": (
        lambda x, y, w: operators.npu_add_rms_norm(x, y, w)[0], [HEADS, HEADS, (8,)], ["AddRmsNorm"], ["RmsNormGrad"],
    ),
    "npu_swiglu": (lambda x: operators.npu_swiglu(x), [HEADS], ["SwiGlu"], ["SwiGluGrad"]),
    "npu_swiglu of rows": (lambda x: operators.npu_swiglu(x, 0), [HEADS], ["SwiGlu"], ["SwiGluGrad"]),
    **{
        f"npu_rotary_mul {mode}": (
            lambda x, c, s, mode=mode: operators.npu_rotary_mul(x, c, s, mode), [HEADS, POSITIONS, POSITIONS],
            ["RotaryPositionEmbedding"], ["RotaryPositionEmbeddingGrad"],
        )
        for mode in ("half", "interleave")
    },
}  # fmt: skip


def launched(call):
    before = dict(launches)
    result = call()
    names = [name for name, count in launches.items() for _ in range(count - before.get(name, 0))]
    return result, sorted(name.removeprefix("aclnn") for name in names)


def draw(*shape, seed=0):
    return mindtorch.randn(*shape, generator=mindtorch.Generator().manual_seed(seed))


def run(function, shapes, device, dtype=mindtorch.float32):
    given = [draw(*shape, seed=s).to(dtype).to(device).requires_grad_() for s, shape in enumerate(shapes)]
    out, forward = launched(lambda: function(*given))
    cotangent = draw(*out.shape, seed=9).to(dtype).to(device)
    grads, backward = launched(lambda: mindtorch.autograd.grad(out, given, cotangent))
    return [one.detach().cpu() for one in (out, *grads)], forward, backward


@pytest.mark.parametrize("name", CASES)
def test_one_launch_each_way_with_the_cpus_numbers(npu, name):
    function, shapes, forward, backward = CASES[name]
    expected, _, _ = run(function, shapes, "cpu")
    actual, *names = run(function, shapes, "npu")
    assert names == [forward, backward]
    for one, other in zip(actual, expected, strict=True):
        assert mindtorch.allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [mindtorch.float16, mindtorch.bfloat16])
def test_halves_are_rounded_once(npu, name, dtype):
    function, shapes, forward, _ = CASES[name]
    rounded = [draw(*shape, seed=s).to(dtype).float() for s, shape in enumerate(shapes)]
    actual, names, _ = run(function, shapes, "npu", dtype)
    assert names == forward
    exact = function(*rounded)
    assert actual[0].dtype == dtype
    assert mindtorch.allclose(actual[0].float(), exact, rtol=2 * mindtorch.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize("name", ["rms_norm", "npu_rms_norm", "npu_swiglu", "npu_rotary_mul half"])
def test_gradients_of_gradients_are_the_cpus(npu, name):
    function, shapes, _, _ = CASES[name]
    found = []
    for device in ("cpu", "npu"):
        given = [draw(*shape, seed=s).to(device).requires_grad_() for s, shape in enumerate(shapes)]
        grads = mindtorch.autograd.grad(function(*given).square().sum(), given, create_graph=True)
        again = mindtorch.autograd.grad(sum(one.square().sum() for one in grads), given)
        found.append([one.cpu() for one in again])
    for one, other in zip(*found, strict=True):
        assert mindtorch.allclose(one, other, rtol=1e-4, atol=1e-2)


def test_the_sum_beside_the_norm_has_a_gradient_too(npu):
    found = []
    for device in ("cpu", "npu"):
        given = [draw(*shape, seed=s).to(device).requires_grad_() for s, shape in enumerate((HEADS, HEADS, (8,)))]
        normed, rstd, total = operators.npu_add_rms_norm(*given)
        assert (normed.requires_grad, rstd.requires_grad, total.requires_grad) == (True, False, True)
        grads = mindtorch.autograd.grad([normed, total], given, [draw(*HEADS, seed=s).to(device) for s in (7, 8)])
        found.append([one.cpu() for one in grads])
    for one, other in zip(*found, strict=True):
        assert mindtorch.allclose(one, other, atol=1e-5)


def test_dropout_is_one_launch_each_way(npu):
    x = draw(50, 40).to("npu").requires_grad_()
    mindtorch.npu.manual_seed(5)
    out, forward = launched(lambda: F.dropout(x, 0.25))
    grad, backward = launched(lambda: mindtorch.autograd.grad(out, x, mindtorch.ones_like(out), retain_graph=True)[0])
    assert (forward, backward) == (["Dropout"], ["DropoutBackward", "InplaceOne"])
    kept = out.detach().cpu() != 0
    assert 0.7 < kept.float().mean() < 0.8
    assert mindtorch.allclose(out.detach().cpu(), mindtorch.where(kept, x.detach().cpu() / 0.75, 0.0))
    assert mindtorch.allclose(grad.cpu(), kept.float() / 0.75)
    again = mindtorch.autograd.grad(out, x, (weights := draw(50, 40, seed=3)).to("npu"), create_graph=True)[0]
    assert mindtorch.allclose(again.detach().cpu(), weights * kept / 0.75)
    mindtorch.npu.manual_seed(5)
    assert mindtorch.equal(F.dropout(x, 0.25), out)
    assert not mindtorch.equal(F.dropout(x, 0.25), out)


@pytest.mark.parametrize(("chip", "rows"), [("Ascend910B3", 5), ("Ascend310P3", 6), ("cpu", 8)])
def test_a_mask_of_bits_is_that_of_the_result(
    monkeypatch, chip, rows
):  # a geometry each: a process has one kind of chip
    with simulated(monkeypatch, f"{'Ascend910B3' if chip == 'cpu' else chip}:1,memory=256MiB"):
        x = draw(rows, 30).to("cpu" if chip == "cpu" else "npu")
        made, mask = mindtorch.ops.npu._npu_dropout(x, 0.25)
        assert (mask.dtype, mask.shape) == (mindtorch.uint8, (32,))
        again = mindtorch.ops.npu.npu_dropout_backward(x, mask, 0.25)
        made, again, bits = made.cpu(), again.cpu(), mask.cpu().tolist()
        assert mindtorch.allclose(again, made)
        assert 0.6 < (made != 0).float().mean().item() < 0.9
        kept = [value >> place & 1 for value in bits for place in range(8)]
        assert kept[: rows * 30] == (made != 0).flatten().int().tolist()


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_nothing_or_all_is_dropped_as_torch_does(npu, p):
    x = draw(4, 5)
    assert mindtorch.equal(F.dropout(x.to("npu"), p).cpu(), F.dropout(x, p))


def test_what_the_operators_do_not_take_is_composed(npu):
    wide = draw(2, 8).double().to("npu")
    out, names = launched(lambda: F.rms_norm(wide, (8,), wide[0]))
    assert "RmsNorm" not in names
    assert mindtorch.allclose(out.cpu(), F.rms_norm(wide.cpu(), (8,), wide.cpu()[0]))
    _, names = launched(lambda: F.dropout(wide))
    assert "Dropout" not in names
    x, flat = draw(*HEADS).to("npu"), draw(8).to("npu")  # cosines that no layout of heads has
    out, names = launched(lambda: operators.npu_rotary_mul(x, flat, flat))
    assert "RotaryPositionEmbedding" not in names
    assert mindtorch.allclose(out.cpu(), operators.npu_rotary_mul(x.cpu(), flat.cpu(), flat.cpu()), atol=1e-6)


def test_libraries_without_an_operator_compose_it(npu, monkeypatch):
    address = libraries().address
    monkeypatch.setattr(libraries(), "address", lambda name: None if "Rotary" in name else address(name))
    x, c, s = (draw(2, 7, 3, 8, seed=n) for n in range(3))
    _, names = launched(lambda: operators.npu_rotary_mul(*(one.to("npu") for one in (x, c, s))))
    assert "RotaryPositionEmbedding" not in names


def test_chips_without_the_operators_compose(monkeypatch):
    with simulated(monkeypatch, "Ascend910A:1,memory=256MiB"):
        x, w = draw(3, 16), draw(8)
        out, names = launched(lambda: F.rms_norm(operators.npu_swiglu(x.to("npu")), (8,), w.to("npu")))
        assert not {"RmsNorm", "SwiGlu"} & set(names)
        assert mindtorch.allclose(out.cpu(), F.rms_norm(operators.npu_swiglu(x), (8,), w), atol=1e-5)


def heads(*shape):
    return mindtorch.randn(shape, generator=mindtorch.Generator().manual_seed(sum(shape)))


def test_attention_with_dropout_is_one_launch_beside_its_mask(npu):
    given = [heads(2, 4, 8, 16 + extra)[..., :16].contiguous().npu().requires_grad_() for extra in range(3)]
    out, forward = launched(lambda: F.scaled_dot_product_attention(*given, dropout_p=0.25))
    assert [name for name in forward if "Dropout" in name or "Flash" in name] == [
        "DropoutGenMask",
        "FlashAttentionScore",
    ]
    _, backward = launched(lambda: mindtorch.autograd.grad(out, given, mindtorch.ones_like(out)))
    assert [name for name in backward if "Flash" in name] == ["FlashAttentionScoreGrad"]
    assert not any("Matmul" in name or "Softmax" in name for name in (*forward, *backward))


@pytest.mark.parametrize("masked", ["bool", "float"])
def test_attention_with_dropout_keeps_what_its_bits_say(npu, masked):
    q, k, v = (heads(1, 2, 4, 8 + extra)[..., :8] for extra in range(3))
    mask = heads(4, 4) > -1 if masked == "bool" else heads(4, 4)
    mindtorch.npu.manual_seed(3)
    found = F.scaled_dot_product_attention(q.npu(), k.npu(), v.npu(), attn_mask=mask.npu(), dropout_p=0.5).cpu()
    mindtorch.npu.manual_seed(3)
    bits = mindtorch.ops.npu._npu_dropout_mask(q.npu(), 32, 0.5).cpu()
    kept = mindtorch.tensor([(int(byte) >> place) & 1 for byte in bits for place in range(8)][:32]).reshape(1, 2, 4, 4)
    added = mindtorch.zeros(4, 4).masked_fill(~mask, float("-inf")) if masked == "bool" else mask
    weights = mindtorch.softmax(q @ k.transpose(-2, -1) / 8**0.5 + added, -1) * kept * 2
    assert mindtorch.allclose(found, weights @ v, atol=1e-5)


def fused(inputs, **options):
    torch_npu = pytest.importorskip("mindtorch._torch_npu")
    return torch_npu, torch_npu.npu_fusion_attention(*inputs, 2, "BNSD", scale=0.5, **options)


@pytest.mark.parametrize("device", ["cpu", "npu"])
def test_fusion_attention_returns_scores_sums_and_dropouts_numbers(npu, device):
    q, k, v = (heads(1, 2, 4, 8 + extra)[..., :8].to(device).requires_grad_() for extra in range(3))
    torch_npu, (out, largest, sums, _, *drawn) = fused((q, k, v))
    scores = q @ k.transpose(-2, -1) * 0.5
    assert mindtorch.allclose(out, mindtorch.softmax(scores, -1) @ v, atol=1e-5)
    assert largest.shape == sums.shape == (1, 2, 4, 8)
    assert mindtorch.allclose(largest[..., 5], scores.amax(-1), atol=1e-5)
    assert mindtorch.allclose(sums[..., 0], (scores - scores.amax(-1, keepdim=True)).exp().sum(-1), atol=1e-5)
    assert drawn == [0, 0, 0]
    dropped = torch_npu.npu_fusion_attention(q, k, v, 2, "BNSD", scale=0.5, keep_prob=0.5)
    assert dropped[6] == 32
    cotangent = mindtorch.ones_like(out)
    own = mindtorch.autograd.grad(dropped[0], (q, k, v), cotangent)
    seed, offset, numels = dropped[4:]
    others = torch_npu.npu_fusion_attention_grad(
        q, k, v, cotangent, 2, "BNSD", scale_value=0.5, keep_prob=0.5, seed=seed, offset=offset, numels=numels
    )
    for mine, theirs in zip(own, others, strict=False):
        assert mindtorch.allclose(mine, theirs, atol=1e-5)


def test_fusion_attention_of_bands_and_what_it_refuses(npu):
    inputs = [heads(1, 2, 4, 8 + extra)[..., :8].npu() for extra in range(3)]
    corner = mindtorch.ones(4, 4).triu(1).bool().npu()
    torch_npu, (out, *_) = fused(inputs, sparse_mode=4, pre_tockens=1, next_tockens=0, atten_mask=corner)
    rows, columns = mindtorch.arange(4).unsqueeze(1), mindtorch.arange(4)
    seen = (columns <= rows) & (columns >= rows - 1)
    expected = F.scaled_dot_product_attention(*(x.cpu() for x in inputs), attn_mask=seen, scale=0.5)
    assert mindtorch.allclose(out.cpu(), expected, atol=1e-5)
    added = heads(1, 2, 4, 4).npu().requires_grad_()
    made = torch_npu.npu_fusion_attention_v2(*inputs, 2, "BNSD", scale=0.5, pse=added, pse_type=0)[0]
    expected = F.scaled_dot_product_attention(*(x.cpu() for x in inputs), attn_mask=added.detach().cpu(), scale=0.5)
    assert mindtorch.allclose(made.detach().cpu(), expected, atol=1e-5)
    made.sum().backward()
    assert float(added.grad.abs().sum()) > 0
    with pytest.raises(RuntimeError, match="sparse_mode 7 goes with the layout TND alone"):
        fused(inputs, sparse_mode=7)
    with pytest.raises(RuntimeError, match="sparse_mode 6 needs prefix"):
        fused(inputs, sparse_mode=6, atten_mask=corner)
    with pytest.raises(NotImplementedError, match="sink is not supported"):
        fused(inputs, sink=mindtorch.ones(2).npu())


def test_fusion_attention_of_prefixes(npu):
    q, k, v = (heads(2, 2, 4, 8 + extra)[..., :8] for extra in range(3))
    k, v = (mindtorch.cat((x, x.flip(2)), 2)[:, :, :6] for x in (k, v))
    rows, columns = mindtorch.arange(4).unsqueeze(1), mindtorch.arange(6)
    prefix = mindtorch.tensor([1, 4]).reshape(2, 1, 1, 1)
    seen = (columns <= rows + 2) | (columns < prefix)
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=0.5)
    corner = mindtorch.ones(8, 8).triu(1).bool().npu()
    inputs = [x.npu() for x in (q, k, v)]
    for options in ({"sparse_mode": 6, "atten_mask": corner}, {"sparse_mode": 5, "atten_mask": (~seen).npu()}):
        _, (out, *_) = fused(inputs, prefix=[1, 4], **options)
        assert mindtorch.allclose(out.cpu(), expected, atol=1e-5), options
    _, (out, *_) = fused(inputs, sparse_mode=3)  # without a mask the mode says nothing
    assert mindtorch.allclose(out.cpu(), F.scaled_dot_product_attention(q, k, v, scale=0.5), atol=1e-5)


@pytest.mark.parametrize(("mode", "at"), [(7, 1), (8, 0)])
def test_fusion_attention_of_sequences_that_were_cut(npu, mode, at):
    torch_npu = pytest.importorskip("mindtorch._torch_npu")
    q, k, v = (heads(1, 2, 8, 8 + extra)[0, ..., :8].transpose(0, 1) for extra in range(3))
    q = q[:5]
    parts = ((slice(0, 3), slice(0, 3)), (slice(3, 5), slice(3, 8)))
    expected = []
    for place, (r, c) in enumerate(parts):
        rows, columns = mindtorch.arange(r.stop - r.start).unsqueeze(1), mindtorch.arange(c.stop - c.start)
        shift = len(columns) - len(rows)
        if place == at:
            seen = (columns <= rows + shift - 1) & (columns >= rows + shift - 6)
        else:
            seen = columns <= rows + (shift if mode == 7 else 0)
        given = (x[part].transpose(0, 1) for x, part in ((q, r), (k, c), (v, c)))
        expected.append(F.scaled_dot_product_attention(*given, attn_mask=seen, scale=0.5).transpose(0, 1))
    out = torch_npu.npu_fusion_attention(
        q.npu(), k.npu(), v.npu(), 2, "TND", scale=0.5, atten_mask=mindtorch.ones(8, 8).triu(1).bool().npu(),
        pre_tockens=6, next_tockens=-1, sparse_mode=mode, actual_seq_qlen=[3, 5], actual_seq_kvlen=[3, 8],
    )[0]  # fmt: skip
    whole = mindtorch.cat(expected)
    seen = ~whole.isnan()  # a row that sees nothing
    assert mindtorch.allclose(out.cpu()[seen], whole[seen], atol=1e-5)


def test_what_is_added_has_a_gradient_with_dropout(npu):
    q, k, v = (heads(1, 2, 4, 8 + extra)[..., :8].npu() for extra in range(3))
    torch_npu = pytest.importorskip("mindtorch._torch_npu")
    added = heads(1, 2, 4, 4).npu().requires_grad_()
    options = {"scale": 0.5, "keep_prob": 0.5, "pse": added, "pse_type": 0}
    out, *_, seed, offset, numels = torch_npu.npu_fusion_attention_v2(q, k, v, 2, "BNSD", **options)
    out.sum().backward()
    again = torch_npu.npu_fusion_attention_v2(
        q, k, v, 2, "BNSD", **options | {"pse": added.detach()}, seed=seed, offset=offset
    )
    assert mindtorch.allclose(out.detach(), again[0], atol=1e-5)
    backward = torch_npu.npu_fusion_attention_grad_v2(
        q, k, v, mindtorch.ones_like(out), 2, "BNSD", pse=added.detach(), pse_type=0, scale_value=0.5, keep_prob=0.5,
        seed=seed, offset=offset, numels=numels,
    )  # fmt: skip
    assert mindtorch.allclose(backward[3], added.grad, atol=1e-5)
    assert float(added.grad.sum(-1).abs().max()) < 1e-4  # a row's weights stay one in all
