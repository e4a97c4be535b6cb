"""Factories and copies on devices that nothing serves: torch's errors, up to its list of registrations."""

import re

import pytest

import mindtorch

from .outcomes import outcome

torch = pytest.importorskip("torch", reason="oracle")

DEVICES = "cuda fpga hip hpu ideep ipu lazy maia mkldnn mps mtia opencl opengl privateuseone ve vulkan xla xpu".split()
CALLS = [
    "t.empty(1, device=d)",
    "t.ones(2, device=t.device(d, 0))",
    "t.ones(2).new_zeros(2, device=d)",
    "t.arange(3, device=d)",
    "t.range(0, 3, device=d)",
    "t.linspace(0, 1, 3, device=d)",
    "t.randn(2, device=d)",
    "t.empty_strided((2,), (1,), device=d)",
    "t.zeros_like(t.ones(2), device=d)",
    "t.rand_like(t.ones(2), device=d)",
    "t.tril_indices(3, 3, device=d)",
    "t.zeros(2, layout=t.sparse_coo, device=d)",
    "t.tensor([1.], device=d)",
    "t.as_tensor([1.], device=d)",
    "t.ones(2).to(d)",
    "t.ones(2).to(d, t.float16)",
    "t.nn.Linear(1, 1, device=d)",
    "t.nn.Linear(1, 1).to(d)",
    "t.UntypedStorage(3, device=d)",
    "t.Generator(d)",
]


def shown(module, call, device):
    kind, text = outcome(lambda: eval(call, {"t": module, "d": device}))
    return kind, re.sub(r" is only available for these backends: .*", "", text, flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore:'mkldnn' is no longer used")
@pytest.mark.parametrize("call", CALLS)
def test_a_device_that_is_not_there_is_refused_as_by_torch(call):
    for device in DEVICES:
        assert shown(mindtorch, call, device) == shown(torch, call, device), device


def test_the_refusal_names_what_there_is():
    with pytest.raises(
        NotImplementedError, match=r"'aten::empty.memory_format' is only available for .*: \[CPU, Meta, NPU\]"
    ):
        mindtorch.ones(2, device="mps")
