"""Programs that import `torch_npu` beside `torch`, and programs for CUDA that are to run on Ascend devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIMULATED = "Ascend910B3:2,memory=256MiB"


def program(text, simulator=SIMULATED):
    paths = [str(p) for p in sorted(ROOT.glob("packages/*/src"))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MINDTORCH_NPU_SIMULATOR": simulator}
    start = "import mindtorch_proxy; mindtorch_proxy.install()\n" + text
    run = subprocess.run(
        [sys.executable, "-c", start], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return run.stdout.splitlines()


def test_torch_npu_is_torchs_module():
    lines = program(
        "import torch, torch_npu\n"
        "import torch_npu.npu\n"
        "from torch_npu.npu import Stream\n"
        "print(torch_npu.npu is torch.npu, Stream is torch.npu.Stream, torch_npu.__version__ == torch.__version__)\n"
        "print(torch.npu.is_available(), torch_npu.npu.device_count())\n"
        "x = torch.ones(3).npu(); print(x.device, x.is_npu, float(x.sum()))\n"
    )
    assert lines == ["True True True", "True 2", "npu:0 True 3.0"]


def test_torch_npu_operators():
    lines = program(
        "import torch, torch_npu\n"
        "x = torch.arange(8.).reshape(2, 4).npu()\n"
        "y, rstd = torch_npu.npu_rms_norm(x, torch.ones(4).npu())\n"
        "print(torch.allclose(y.cpu(), torch.nn.functional.rms_norm(x.cpu(), (4,), eps=1e-6)), tuple(rstd.shape))\n"
        "print(tuple(torch_npu.npu_swiglu(x).shape), torch_npu.npu_dtype_cast(x, torch.float16).dtype)\n"
    )
    assert lines == ["True (2, 1)", "(2, 2) torch.float16"]


ATTENTION = """
import torch, torch_npu
F = torch.nn.functional
q, k, v = (torch.randn(2, 4, 6, 8, generator=torch.Generator().manual_seed(s)) for s in range(3))
plain = F.scaled_dot_product_attention(q, k, v, scale=0.3)
causal = F.scaled_dot_product_attention(q, k, v, scale=0.3, is_causal=True)
hidden = torch.ones(6, 6).triu(1).bool()
forms = {
    "BNSD": lambda x: x, "BSND": lambda x: x.transpose(1, 2), "BSH": lambda x: x.transpose(1, 2).flatten(2),
    "SBH": lambda x: x.permute(2, 0, 1, 3).flatten(2),
}
for layout, form in forms.items():
    given = [form(x).npu() for x in (q, k, v)]
    for mask, mode, expected in ((None, 0, plain), (hidden, 0, causal), (hidden, 2, causal), (hidden, 3, causal)):
        mask = mask if mask is None else mask.npu()
        out = torch_npu.npu_fusion_attention(*given, 4, layout, atten_mask=mask, scale=0.3, sparse_mode=mode)[0]
        assert torch.allclose(out.cpu(), form(expected), atol=1e-5), (layout, mode)
rows = [x.transpose(1, 2).flatten(0, 1).npu() for x in (q, k, v)]
out = torch_npu.npu_fusion_attention(*rows, 4, "TND", scale=0.3, actual_seq_qlen=(6, 12), actual_seq_kvlen=(6, 12))[0]
assert torch.allclose(out.cpu(), plain.transpose(1, 2).flatten(0, 1), atol=1e-5)
late = {"scale": 0.3, "sparse_mode": 3, "atten_mask": hidden.npu()}
short = torch_npu.npu_fusion_attention(q[:, :, 4:].npu(), k.npu(), v.npu(), 4, "BNSD", **late)[0]
assert torch.allclose(short.cpu(), causal[:, :, 4:], atol=1e-5)
band = (hidden | torch.ones(6, 6).tril(-2).bool()).logical_not()
near = F.scaled_dot_product_attention(q, k, v, scale=0.3, attn_mask=band)
given = [x.npu() for x in (q, k, v)]
for options in ({"sparse_mode": 4, "atten_mask": hidden.npu()}, {"atten_mask": band.logical_not().npu()}):
    out = torch_npu.npu_fusion_attention(*given, 4, "BNSD", scale=0.3, pre_tockens=1, next_tockens=0, **options)[0]
    assert torch.allclose(out.cpu(), near, atol=1e-5), options
for options in ({"padding_mask": q}, {"sparse_mode": 5}, {"sparse_mode": 7}):
    try: torch_npu.npu_fusion_attention(q, k, v, 4, "BNSD", **options)
    except RuntimeError as e: print("npu_fusion_attention" in str(e))
from torch_npu.optim import NpuFusedAdamW
print(NpuFusedAdamW([torch.ones(2).npu().requires_grad_()]).defaults["fused"])
"""


def test_attention_in_the_vendors_layouts():
    assert program(ATTENTION) == ["True"] * 4


def test_transformers_finds_its_way():
    pytest.importorskip("transformers", reason="oracle")
    lines = program(
        "from transformers.utils import is_torch_npu_available\n"
        "from transformers.integrations.npu_flash_attention import npu_flash_attn_func\n"
        "import torch\n"
        "x = torch.randn(1, 4, 2, 8).npu()\n"
        "print(is_torch_npu_available(), tuple(npu_flash_attn_func(x, x, x, causal=True).shape))\n"
    )
    assert lines == ["True (1, 4, 2, 8)"]


def test_a_name_that_is_not_there():
    lines = program(
        "import torch_npu\n"
        "try: torch_npu.npu_nothing\n"
        "except AttributeError as e: print(e)\n"
        "try: import torch_npu.nothing\n"
        "except ModuleNotFoundError as e: print(e)\n"
    )
    assert lines == [
        "module 'torch_npu' has no attribute 'npu_nothing'",
        "No module named 'torch_npu.nothing'",
    ]


def test_without_the_runtime_there_is_no_torch_npu():
    lines = program(
        "from mindtorch_proxy import companions\ncompanions.find_elsewhere = lambda name: None\n"
        "try: import torch_npu\nexcept ModuleNotFoundError as e: print(e)\n"
    )
    assert lines == ["No module named 'torch_npu'"]


def test_after_the_proxy_there_is_no_torch_npu():
    lines = program(
        "import sys, torch_npu, torch_npu.npu\n"
        "mindtorch_proxy.uninstall()\n"
        "print([n for n in sys.modules if n.startswith('torch_npu')])\n"
        "try: import torch_npu\nexcept ModuleNotFoundError as e: print(e)\n"
    )
    assert lines == ["[]", "No module named 'torch_npu'"]


TRANSFERRED = """
import torch, torch_npu
from torch_npu.contrib import transfer_to_npu
device = torch.device("cuda:1" if torch.cuda.is_available() else "cpu")
print(device, torch.cuda.device_count(), torch.cuda.get_device_name(0))
torch.cuda.set_device(1)
model = torch.nn.Linear(4, 2).cuda()
x = torch.randn(3, 4, device="cuda")
print(next(model.parameters()).device, x.is_cuda, x.cuda().device)
loss = model(x).sum()
loss.backward()
torch.cuda.synchronize()
print(model.weight.grad.device, torch.cuda.memory_allocated() > 0, torch.cuda.max_memory_allocated() > 0)
with torch.cuda.stream(torch.cuda.Stream()), torch.autocast("cuda", dtype=torch.float16):
    print(model(x).dtype)
scaler = torch.cuda.amp.GradScaler()
print(torch.zeros(2).to("cuda:0").device, torch.load and torch.cuda.Event(enable_timing=True).query())
print(torch.cuda.current_device(), torch.cuda.memory_summary().count("NPU") > 0)
"""


def test_a_program_for_cuda_runs_on_the_devices():
    lines = program(TRANSFERRED)
    assert lines == [
        "npu:1 2 Ascend910B3 (simulated)",
        "npu:1 True npu:1",
        "npu:1 True True",
        "torch.float16",
        "npu:0 True",
        "1 True",
    ]


@pytest.mark.parametrize("given", ["cuda", "cuda:1"])
def test_checkpoints_of_cuda_are_loaded_onto_the_devices(given, tmp_path):
    torch = pytest.importorskip("mindtorch")
    path = tmp_path / "weights.pt"
    torch.save({"w": torch.arange(4.0)}, path)
    lines = program(
        "import torch, torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
        f"w = torch.load({str(path)!r}, map_location={given!r})['w']\nprint(w.device, w.cpu().tolist())\n"
    )
    assert lines == [f"{given.replace('cuda', 'npu') if ':' in given else 'npu:0'} [0.0, 1.0, 2.0, 3.0]"]


def test_operators_against_formulas():
    lines = program((Path(__file__).parent / "torch_npu_operators.py").read_text(encoding="utf-8"))
    assert lines == [
        "stream should be torch_npu.npu.Stream",
        "True",
        "True",
        "torch_npu.npu_grouped_matmul: scale is not supported",
        "npu::npu_swiglu(Tensor self, int dim=-1) -> Tensor",
    ]


def test_no_name_of_torch_npu_is_lost():
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools/npu_names.py"), "check"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(str(p) for p in sorted(ROOT.glob("packages/*/src")))},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
