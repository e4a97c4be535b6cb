"""Fused attention, ops over lists and Adam's step: one launch, and the numbers of the composition."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu import switches  # noqa: E402
from mindtorch_npu.backend import launches  # noqa: E402
from mindtorch_npu.simulator import libraries, machine  # noqa: E402


def launched(call):
    before = dict(launches)
    result = call()
    return result, {
        name: count - before.get(name, 0) for name, count in launches.items() if count > before.get(name, 0)
    }


def draw(*shape, seed=0):
    return mindtorch.randn(*shape, generator=mindtorch.Generator().manual_seed(seed))


@pytest.mark.parametrize("mask", ["none", "causal", "bool", "heads", "added", "added to heads", "lowest"])
def test_attention_is_one_launch_and_has_the_values_of_the_cpu(npu, mask):
    rows = {"none": {}, "causal": {"is_causal": True}}.get(mask)
    if mask in ("added", "added to heads"):
        rows = {"attn_mask": draw(5, 5, seed=7) if mask == "added" else draw(2, 4, 1, 5, seed=7), "scale": 0.3}
    elif mask == "lowest":  # as models hide what pads a sequence
        hidden = mindtorch.zeros(2, 1, 1, 5)
        hidden[:, :, :, 3:] = mindtorch.finfo(mindtorch.float32).min
        rows = {"attn_mask": hidden}
    if rows is None:
        shape = (5, 5) if mask == "bool" else (2, 1, 5, 5)
        rows = {"attn_mask": mindtorch.ones(shape, dtype=mindtorch.bool).tril()}
    tensors = [draw(2, 4, 5, 8, seed=s) for s in range(3)]
    cotangent = draw(2, 4, 5, 8, seed=9)

    def run(device):
        given = [t.to(device).requires_grad_() for t in tensors]
        options = {k: v.to(device) if hasattr(v, "to") else v for k, v in rows.items()}
        out = mindtorch.nn.functional.scaled_dot_product_attention(*given, **options)
        return [out, *mindtorch.autograd.grad(out, given, cotangent.to(device))]

    expected = run("cpu")
    actual, names = launched(lambda: run("npu"))
    assert names["aclnnFlashAttentionScore"] == 1
    assert names["aclnnFlashAttentionScoreGrad"] == 1
    assert "aclnnBatchMatMul" not in names
    assert "aclnnSoftmax" not in names
    for one, other in zip(actual, expected, strict=True):
        assert mindtorch.allclose(one.cpu(), other, atol=1e-5)


def test_a_mask_that_needs_a_gradient_is_not_for_the_fused_kernel(npu):
    q = draw(1, 2, 4, 8)
    mask = draw(4, 4, seed=3).requires_grad_()
    expected = mindtorch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=mask)
    device = q.to("npu")
    actual, names = launched(
        lambda: mindtorch.nn.functional.scaled_dot_product_attention(device, device, device, attn_mask=mask.to("npu"))
    )
    assert "aclnnFlashAttentionScore" not in names
    assert mindtorch.allclose(actual.cpu(), expected, atol=1e-5)


def test_chips_without_fused_attention_compose_it(monkeypatch):
    from ..simulated import simulated

    with simulated(monkeypatch, "Ascend910_9382:1,memory=256MiB"):
        q = draw(1, 2, 4, 8)
        device = q.to("npu")
        actual, names = launched(lambda: mindtorch.nn.functional.scaled_dot_product_attention(device, device, device))
        assert "aclnnFlashAttentionScore" not in names
        expected = mindtorch.nn.functional.scaled_dot_product_attention(q, q, q)
        assert mindtorch.allclose(actual.cpu(), expected, atol=1e-5)


STEPS = [{}, {"weight_decay": 0.1}, {"amsgrad": True}, {"maximize": True}]


def train(kind, device, count=2, **options):
    parameters = [mindtorch.nn.Parameter(draw(3, 4, seed=s).to(device)) for s in range(count)]
    optimizer = getattr(mindtorch.optim, kind)(parameters, lr=1e-2, **options)
    for step in range(4):
        for number, parameter in enumerate(parameters):
            parameter.grad = draw(3, 4, seed=10 + count * step + number).to(device)
        optimizer.step()
    return [p.detach().cpu() for p in parameters], optimizer


def check_steps(kind, options):
    expected, _ = train(kind, "cpu", **options)
    (actual, optimizer), names = launched(lambda: train(kind, "npu", fused=True, **options))
    for one, other in zip(actual, expected, strict=True):
        assert mindtorch.allclose(one, other, atol=1e-6)
    assert [float(state["step"]) for state in optimizer.state.values()] == [4.0, 4.0]
    return names


@pytest.mark.parametrize("kind", ["Adam", "AdamW"])
@pytest.mark.parametrize("options", STEPS)
def test_a_fused_step_is_one_launch_and_torchs_numbers(npu, kind, options):
    names = check_steps(kind, options)
    assert names["aclnnForeachAddScalarV2"] == 4  # the counters
    if options.get("amsgrad"):  # of which the operator over lists has another kind than torch
        assert names["aclnnApplyAdamWV2"] == 8
    else:
        assert names["aclnnFusedAdamw"] == 4


@pytest.mark.parametrize("options", STEPS)
def test_libraries_without_the_step_over_lists_make_one_launch_per_parameter(npu, monkeypatch, options):
    address = libraries().address
    monkeypatch.setattr(libraries(), "address", lambda name: None if name == "aclnnFusedAdamw" else address(name))
    assert check_steps("AdamW", options)["aclnnApplyAdamWV2"] == 8


def test_a_fused_step_of_twenty_parameters_is_two_launches(npu):
    _, names = launched(lambda: train("AdamW", "npu", 20, fused=True))
    steps = {name: count for name, count in names.items() if "Foreach" in name or "Adam" in name}
    assert steps == {"aclnnFusedAdamw": 4, "aclnnForeachAddScalarV2": 4}


def test_a_fused_step_changes_the_parameters_version(npu):
    parameter = mindtorch.nn.Parameter(draw(3).to("npu"))
    optimizer = mindtorch.optim.AdamW([parameter], fused=True)
    parameter.grad = draw(3, seed=1).to("npu")
    before = parameter._version
    optimizer.step()
    assert parameter._version == before + 1


CALLS = {
    "add": lambda t, a, b: t._foreach_add(a, b, alpha=2),
    "sub": lambda t, a, b: t._foreach_sub(a, b),
    "mul": lambda t, a, b: t._foreach_mul(a, b),
    "div": lambda t, a, b: t._foreach_div(a, b),
    "maximum": lambda t, a, b: t._foreach_maximum(a, b),
    "add_number": lambda t, a, b: t._foreach_add(a, 1.5),
    "mul_number": lambda t, a, b: t._foreach_mul(a, 0.5),
    "sqrt": lambda t, a, b: t._foreach_sqrt(t._foreach_abs(a)),
    "exp": lambda t, a, b: t._foreach_exp(a),
    "sigmoid": lambda t, a, b: t._foreach_sigmoid(a),
    "addcmul": lambda t, a, b: t._foreach_addcmul(a, b, b, value=0.3),
    "addcdiv": lambda t, a, b: t._foreach_addcdiv(a, b, t._foreach_exp(b), value=0.3),
    "lerp": lambda t, a, b: t._foreach_lerp(a, b, 0.3),
}


@pytest.mark.parametrize("name", CALLS)
def test_ops_over_lists_are_one_launch(npu, name):
    lists = [[draw(3, 4, seed=s), draw(5, seed=s + 1)] for s in (0, 7)]
    expected = CALLS[name](mindtorch, *lists)
    moved = [[t.to("npu") for t in tensors] for tensors in lists]
    actual, names = launched(lambda: CALLS[name](mindtorch, *moved))
    assert all(label.startswith("aclnnForeach") for label in names)
    assert sum(names.values()) <= 2
    for one, other in zip(actual, expected, strict=True):
        assert mindtorch.allclose(one.cpu(), other, atol=1e-6)


def test_lists_in_place_are_written_and_versions_counted(npu):
    moved = [draw(3).to("npu"), draw(2, 2).to("npu")]
    versions = [t._version for t in moved]
    expected = [t.cpu() * 3 for t in moved]
    _, names = launched(lambda: mindtorch._foreach_mul_(moved, 3))
    assert names == {"aclnnForeachMulScalarV2": 1}
    assert [t._version for t in moved] == [v + 1 for v in versions]
    for one, other in zip(moved, expected, strict=True):
        assert mindtorch.allclose(one.cpu(), other)


def test_lists_that_are_recorded_for_gradients_are_composed(npu):
    parameter = draw(3).to("npu").requires_grad_()
    (made,), names = launched(lambda: mindtorch._foreach_exp([parameter]))
    assert made.grad_fn is not None
    assert not any(label.startswith("aclnnForeach") for label in names)


def test_nothing_is_left_on_the_device(npu):
    test_ops_over_lists_are_one_launch(npu, "addcmul")
    switches.forget_plans()
    assert not libraries().descriptors.live
    assert not libraries().executors
    assert machine().lost == set()
