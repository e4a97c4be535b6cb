"""Names of torch_npu: options of the devices, operators, optimizers, modules, with the values that they stand for."""

from __future__ import annotations

import subprocess
import sys
import warnings

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch._torch_npu._absent import reasons  # noqa: E402
from mindtorch_npu import switches  # noqa: E402

from ..tensors import draw, near  # noqa: E402

F = mindtorch.nn.functional


@pytest.fixture
def options():
    yield mindtorch.npu
    mindtorch.npu.set_option({"ALLOW_MATMUL_HF32": "disable", "ALLOW_CONV_HF32": "disable", "CUBE_MATH_TYPE": "0"})
    switches.set_deterministic(False)


def test_options_reach_the_operators(npu, options):
    options.matmul.allow_hf32 = True
    assert options.matmul.allow_hf32
    assert switches.cube_math == {"matmul": 3, "conv": 0}
    options.matmul.allow_hf32 = False
    options.matmul.cube_math_type = options.CubeMathType.USE_FP16
    options.conv.allow_hf32 = True
    assert switches.cube_math == {"matmul": 2, "conv": 3}
    assert mindtorch.allclose((draw(2, 3).npu() @ draw(3, 2).npu()).cpu(), draw(2, 3) @ draw(3, 2), atol=1e-5)


def test_options_are_checked(npu, options):
    with pytest.raises(TypeError, match="must be a dict"):
        options.set_option(1)
    with pytest.raises(ValueError, match="value of ACL_PRECISION_MODE should be in"):
        options.set_option({"ACL_PRECISION_MODE": "low"})
    with pytest.raises(TypeError, match="allow_hf32 must be a bool, but got int"):
        options.matmul.allow_hf32 = 1
    with pytest.raises(TypeError, match="Enum CubeMathType"):
        options.matmul.cube_math_type = 1
    with pytest.raises(AssertionError, match="path does not exists"):
        options.set_dump("/nowhere.json")
    options.set_compile_mode(jit_compile=True)
    assert not options.is_jit_compile_false()
    options.set_compile_mode()
    assert options.is_jit_compile_false()
    options.set_mm_bmm_format_nd(False)
    assert not options.get_mm_bmm_format_nd()
    options.set_mm_bmm_format_nd()


def test_limits_of_cores(npu, options):
    assert options.get_device_limit(0) == {"cube_core_num": 20, "vector_core_num": 40}
    options.set_device_limit(1, cube_num=8)
    assert options.get_device_limit(1) == {"cube_core_num": 8, "vector_core_num": 40}
    with pytest.raises(RuntimeError, match="You can only set this interface once"):
        options.set_device_limit(1, cube_num=4)
    with pytest.raises(AssertionError, match="Invalid device id"):
        options.get_device_limit(7)
    with pytest.raises(NotImplementedError, match="only for a device"):
        options.set_stream_limit(options.current_stream(), 1)


def test_overflow_errors_of_memory_and_determinism(npu, options):
    assert options.npu_check_overflow(mindtorch.tensor([1.0, float("inf")]).npu())
    assert not options.npu_check_overflow(1.0)
    with pytest.raises(RuntimeError, match="please use npu_check_overflow"):
        options.get_npu_overflow_flag()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options.clear_npu_overflow_flag()
    assert "useless" in str(caught[0].message)
    assert options.check_uce_in_memory(0) == 0
    options.set_deterministic_level(1)
    assert switches.is_deterministic()
    x = options.disable_deterministic_with_backward(mindtorch.ones(1))
    assert float(x) == 1.0
    assert not switches.is_deterministic()


X, G = draw(2, 4, 8), draw(8, seed=1)
COS, SIN = draw(1, 4, 8, seed=2), draw(1, 4, 8, seed=3)
IDS = mindtorch.tensor([[1, 0], [0, 2], [2, 1]])
OPERATORS = {
    "npu_rms_norm": ((X, G), lambda: F.rms_norm(X, (8,), G, 1e-6)),
    "npu_add_rms_norm": ((X, X, G), lambda: F.rms_norm(X + X, (8,), G, 1e-6)),
    "npu_add_layer_norm": ((X, X, G, G), lambda: F.layer_norm(X + X, (8,), G, G, 1e-5)),
    "npu_swiglu": ((X,), lambda: F.silu(X[..., :4]) * X[..., 4:]),
    "npu_geglu": ((X,), lambda: X[..., :4] * F.gelu(X[..., 4:], approximate="tanh")),
    "npu_fast_gelu": ((X,), lambda: X / (1 + (-1.702 * X.abs()).exp()) * (0.851 * (X - X.abs())).exp()),
    "npu_rotary_mul": ((X, COS, SIN), lambda: X * COS + mindtorch.cat((-X[..., 4:], X[..., :4]), -1) * SIN),
    "npu_scaled_masked_softmax": (
        (X, (X > 0), 0.5),
        lambda: mindtorch.softmax(mindtorch.where(X > 0, mindtorch.tensor(-10000.0), X * 0.5), -1),
    ),
    "npu_confusion_transpose": ((X, (0, 2, 1), (2, 32), True), lambda: X.permute(0, 2, 1).reshape(2, 32)),
    "npu_transpose": ((X, (2, 0, 1)), lambda: X.permute(2, 0, 1)),
    "npu_slice": ((X, (0, 1, 2), (1, 2, -1)), lambda: X[:1, 1:3, 2:]),
    "npu_pad": ((X, (1, 0, 0, 2, 0, 0)), lambda: F.pad(X, (0, 0, 0, 2, 1, 0))),
    "npu_max": ((X, 1), lambda: X.max(1).values),
    "npu_linear": ((X, draw(3, 8, seed=4)), lambda: F.linear(X, draw(3, 8, seed=4))),
    "npu_broadcast": ((G, (2, 8)), lambda: G.expand(2, 8)),
    "npu_softmax_cross_entropy_with_logits": (
        (X[0], X[1].softmax(-1)),
        lambda: F.cross_entropy(X[0], X[1].softmax(-1), reduction="none"),
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_have_their_values_on_the_device(npu, name):
    arguments, expected = OPERATORS[name]
    given = [one.npu() if isinstance(one, mindtorch.Tensor) else one for one in arguments]
    found = getattr(torch_npu, name)(*given)
    found = found[0] if isinstance(found, tuple) else found
    assert found.device.type == "npu"
    assert mindtorch.allclose(found.cpu(), expected(), atol=1e-5)


def test_experts(npu):
    tokens = draw(3, 4)
    moved, places = torch_npu.npu_moe_token_permute(tokens.npu(), IDS.npu())
    back = torch_npu.npu_moe_token_unpermute(moved, places, mindtorch.full((3, 2), 0.5).npu())
    assert mindtorch.allclose(back.cpu(), tokens)
    assert moved.cpu()[0].tolist() == tokens[0].tolist()
    weights, rows = [draw(4, 5, seed=s) for s in range(2)], [draw(2, 4, seed=7), draw(3, 4, seed=8)]
    (made,) = torch_npu.npu_grouped_matmul(
        [mindtorch.cat(rows).npu()], [w.npu() for w in weights], group_list=[2, 5], split_item=2
    )
    assert mindtorch.allclose(made.cpu(), mindtorch.cat([r @ w for r, w in zip(rows, weights, strict=True)]), atol=1e-5)
    with pytest.raises(NotImplementedError, match="scale is not supported"):
        torch_npu.npu_grouped_matmul([], [], scale=[draw(2)])


@pytest.mark.parametrize("name", ["npu_prompt_flash_attention", "npu_fused_infer_attention_score"])
def test_attention_of_inference(npu, name):
    q, k, v = (draw(1, 4, 16, seed=s) for s in range(3))
    heads = [one.unflatten(-1, (2, 8)).transpose(1, 2) for one in (q, k, v)]
    expected = F.scaled_dot_product_attention(*heads, scale=0.3).transpose(1, 2).flatten(2)
    key = "scale" if "infer" in name else "scale_value"
    found = getattr(torch_npu, name)(q.npu(), k.npu(), v.npu(), num_heads=2, **{key: 0.3})
    found = found[0] if isinstance(found, tuple) else found
    assert mindtorch.allclose(found.cpu(), expected, atol=1e-5)


def test_formats_are_advice_and_checked(npu):
    x = draw(2, 3).npu()
    assert torch_npu.npu_format_cast(x, 29) is x
    assert torch_npu.get_npu_format(x) == 2
    with pytest.raises(ValueError, match="there is no format 77"):
        torch_npu.npu_format_cast(x, 77)


def test_a_step_of_adamw_by_hand(npu):
    grad, var = draw(3, seed=1), draw(3)
    parameter = mindtorch.nn.Parameter(var.clone())
    parameter.grad = grad.clone()
    mindtorch.optim.AdamW([parameter], lr=0.1, weight_decay=0.01).step()
    out = tuple(one.npu() for one in (var, mindtorch.zeros(3), mindtorch.zeros(3)))
    torch_npu.npu_apply_adam_w(1.0, 1.0, 0.1, 0.01, 0.9, 0.999, 1e-8, grad.npu(), None, False, False, out=out)
    assert mindtorch.allclose(out[0].cpu(), parameter.detach(), atol=1e-6)


def test_optimizers_modules_and_utils(npu):
    model = mindtorch.nn.Sequential(torch_npu.contrib.NpuDropPath(0.5), mindtorch.nn.Linear(4, 2)).npu()
    optimizer = torch_npu.optim.NpuFusedSGD(model.parameters(), lr=0.1)
    model(draw(3, 4).npu()).sum().backward()
    norm = optimizer.clip_grad_norm_fused_(1e-3)
    assert float(norm) > 1e-3
    optimizer.step()
    loss = torch_npu.contrib.LabelSmoothingCrossEntropy(5, 0.1)(draw(3, 5), mindtorch.tensor([0, 1, 4]))
    assert float(loss) > 0
    tensors = [mindtorch.nn.Parameter(draw(2, 2, seed=s).npu()) for s in range(2)]
    whole = torch_npu.utils.npu_combine_tensors(tensors)
    assert whole.numel() == 8
    whole.zero_()
    assert float(tensors[1].sum()) == 0.0
    with pytest.raises(RuntimeError, match="Tensors to combine must be on NPU, got cpu"):
        torch_npu.utils.npu_combine_tensors([draw(2)])
    batches = torch_npu.contrib.Prefetcher([(draw(2), draw(2)), (draw(1), draw(1))])
    sizes = [batches.next()[0].numel() for _ in range(2)]
    assert sizes == [2, 1]
    assert batches.next() == (None, None)


def test_the_profiler_takes_the_vendors_options(npu, tmp_path):
    profiler = torch_npu.profiler
    config = profiler._ExperimentalConfig(profiler_level=profiler.ProfilerLevel.Level1)
    with profiler.profile(activities=[profiler.ProfilerActivity.NPU], experimental_config=config) as found:
        draw(2).npu().exp()
    assert any("exp" in entry.key for entry in found.key_averages())
    with pytest.raises(NotImplementedError, match="is not read"):
        profiler._ExperimentalConfig(aic_metrics=profiler.AiCMetrics.L2Cache)
    with pytest.raises(ValueError, match="is no activity"):
        profiler.profile(activities=["GPU"])


def scaled_steps(when, dynamic=True):
    """Return how far each of two parameters went when the gradient of the first one is infinite."""
    parameters = [mindtorch.ones(2, device="npu", requires_grad=True) for _ in range(2)]
    optimizers = [mindtorch.optim.SGD([one], lr=1.0) for one in parameters]
    scaler = mindtorch.npu.amp.GradScaler(init_scale=4.0, growth_interval=1, dynamic=dynamic)
    scaler.scale(sum(one.sum() for one in parameters)).backward()
    parameters[0].grad.fill_(float("inf"))
    order = optimizers[:: 1 if when != "last" else -1]
    if when == "before all":
        for optimizer in order:
            scaler.unscale_(optimizer)
        order = order[::-1]
    for optimizer in order:
        scaler.step(optimizer)
    scaler.update()
    went = [one.detach().tolist() for one in parameters]
    return went, scaler


@pytest.mark.parametrize(("when", "second"), [("first", 1.0), ("last", 0.0), ("before all", 1.0)])
def test_an_overflow_leaves_out_the_steps_that_follow(npu, when, second):
    went, scaler = scaled_steps(when)
    assert went == [[1.0, 1.0], [second, second]]
    assert scaler.get_scale() == 2.0
    parameter = mindtorch.ones(2, device="npu", requires_grad=True)  # the next iteration begins anew
    scaler.scale(parameter.sum()).backward()
    scaler.step(mindtorch.optim.SGD([parameter], lr=1.0))
    assert parameter.tolist() == [0.0, 0.0]


def test_a_scale_that_is_not_dynamic_leaves_no_step_out(npu):
    went, scaler = scaled_steps("first", dynamic=False)
    assert went == [[-float("inf")] * 2, [0.0, 0.0]]
    assert scaler.get_scale() == 4.0


def test_options_of_the_compiler_are_checked(npu):
    for wrong in ("at", "0", 33):
        with pytest.raises(ValueError, match="ACL_AICORE_NUM"):
            mindtorch.npu.set_option({"ACL_AICORE_NUM": wrong})
    mindtorch.npu.set_option({"ACL_AICORE_NUM": 24})
    with pytest.warns(UserWarning, match="ACL_OP_SELECT_IMPL_MODE is deprecated"):
        mindtorch.npu.set_option({"ACL_OP_SELECT_IMPL_MODE": "high_precision"})


def test_options_of_other_names_are_refused(npu, options):
    with pytest.raises(RuntimeError, match="invalid npu option name:ACL_OP_SELECT_IMPL"):
        options.set_option({"ACL_OP_SELECT_IMPL": "high_precision"})


@pytest.mark.parametrize("ask", ["memory_allocated", "memory_reserved", "max_memory_allocated", "memory_stats"])
def test_memory_of_a_device_that_is_not_there(npu, ask):
    mindtorch.ones(1).npu()
    with pytest.raises(RuntimeError, match="Invalid device argument 99"):
        getattr(mindtorch.npu, ask)("npu:99")


def test_memory_of_tensors_becomes_a_part_of_anothers(npu):
    tensors = [draw(2, 3).npu(), draw(4, seed=1).npu()]
    kept = [one.clone() for one in tensors]
    whole = torch_npu.utils.npu_combine_tensors(tensors)
    assert [torch_npu.get_storage_size(one) for one in (*tensors, whole)] == [6, 4, 10]
    assert tensors[1].data_ptr() == whole.data_ptr() + 6 * 4
    assert all(near(one, other) for one, other in zip(tensors, kept, strict=True))
    with pytest.raises(RuntimeError, match="4 elements from 7 on are not in 10"):
        torch_npu.npu_change_data_ptr(tensors[1], whole, 7)


def test_absent_names_say_why(npu):
    for name, reason in reasons()["torch_npu"].items():
        value = getattr(torch_npu, name)
        with pytest.raises(NotImplementedError) as caught:
            value()
        assert str(caught.value) == f"torch_npu.{name}: {reason}"
        if name.islower():
            assert getattr(mindtorch.ops.npu, name) is value or callable(getattr(mindtorch.ops.npu, name))
    with pytest.raises(AttributeError, match="module 'torch_npu' has no attribute 'never'"):
        torch_npu.never


def test_names_below_are_imported(npu):
    code = (
        "import torch_npu\n"
        "from torch_npu.profiler.scheduler import Schedule\n"
        "from torch_npu.profiler.experimental_config import _ExperimentalConfig\n"
        "from torch_npu.distributed import is_available, is_hccl_available\n"
        "from torch_npu.distributed.fsdp import fully_shard\n"
        "from torch_npu.contrib.module.roi_align import ROIAlign\n"
        "print(Schedule(1, 1, 1)(2), is_available(), is_hccl_available())\n"
        "print(torch_npu._C._empty_strided_npu((2, 3), (3, 1), torch_npu.npu.FloatTensor.dtype).stride())\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch", "-c", code],
        capture_output=True, text=True, env={"MINDTORCH_NPU_SIMULATOR": "Ascend910B3:1,memory=64MiB"},
    )  # fmt: skip
    assert done.stdout.splitlines() == ["ProfilerAction.RECORD_AND_SAVE True True", "(3, 1)"], done.stderr[-800:]
