"""What storages, `to`, pinning and value types say when they refuse, beside torch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_dispatch.interface.wiring import wired

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")

FACTORIES = [
    "zeros(2, {})", "ones(2, {})", "empty(2, {})", "empty(0, {})", "full((2,), 1, {})", "rand(2, {})", "randn(2, {})",
    "arange(2, {})", "linspace(0, 1, 2, {})", "tensor([1.0], {})", "tensor(1.0, {})", "zeros_like(t.ones(2), {})",
    "empty_like(t.ones(2), {})", "ones(2).new_zeros(2, {})", "ones(2).new_empty(2, {})", "eye(2, {})",
    "randperm(2, {})", "randint(2, (2,), {})", "empty_strided((2,), (1,), {})", "hann_window(3, {})",
    "tril_indices(2, 2, {})", "fft.fftfreq(3, {})", "zeros(2, device='meta', {})",
]  # fmt: skip
TEXTS = [
    "FloatStorage(2.5)", "FloatStorage('a')", "FloatStorage(None)", "FloatStorage([1, 2], [3])",
    "FloatStorage([1.5, 'a'])", "FloatStorage(2, device='cpu')", "FloatStorage(2, dtype=t.float32)",
    "FloatStorage(wrap_storage=3)", "FloatStorage(1, wrap_storage=t.UntypedStorage(4))", "TypedStorage(2.5)",
    "TypedStorage(1, 2)", "TypedStorage(wrap_storage=t.UntypedStorage(4))", "TypedStorage(wrap_storage=3, dtype=t.int8)",
    "TypedStorage([1, 2], dtype=t.int32).type()", "TypedStorage([1, 2], dtype=t.int32).type('torch.FloatStorage')",
    "TypedStorage([1, 2], dtype=t.int32).type(t.FloatStorage)", "TypedStorage([1], dtype=t.int32).type('IntStorage')",
    "TypedStorage([1], dtype=t.int32).type('torch.cuda.IntStorage')", "TypedStorage([1], dtype=t.int32).type('abc.def')",
    "TypedStorage([1], dtype=t.int32).type(3)", "TypedStorage(0).type('torch.FloatStorage')",
    "TypedStorage([1], dtype=t.int32).hpu()", "UntypedStorage(4).type()", "UntypedStorage(4).type('torch.FloatStorage')",
    "UntypedStorage(0).type('torch.IntStorage')", "UntypedStorage(4).hpu()", "UntypedStorage(4).mps()",
    "UntypedStorage(4, device='cuda')",
    "ones(2).to([1])", "ones(2).to(1.5)", "ones(2).to(True)", "ones(2).to(1j)", "ones(2).to(1.5, True)",
    "ones(2).to(tensor=t.ones(1, dtype=t.int32))", "ones(2).to(other=t.ones(1))", "ones(2).to(t.float64, t.float32)",
    "ones(2).to('cpu', t.float64, 3)", "ones(2).to(foo=1)", "ones(2).to(dtype='float32')", "ones(2).to('abc')",
    "ones(2).to('cuda:0')", "ones(2).to('xpu')", "ones(2, device='meta').to('cpu')", "ones(2, device='meta').type()",
    "ones(2).__cuda_array_interface__", "ones(2, device='meta').__cuda_array_interface__",
    "ones(2, requires_grad=True).__cuda_array_interface__", "ones(2).cuda()", "ones(2).cuda('cuda')",
    "ones(2).cuda('cpu')", "ones(2).cuda('cuda:0')", "ones(2).xpu()",
    "ones(2).pin_memory('cpu')", "ones(2).pin_memory('meta')", "ones(2).pin_memory('xpu')", "ones(2).is_pinned()",
    "finfo(3)", "finfo(t.int32)", "iinfo(t.float32)", "iinfo()", "set_default_dtype(t.int32)", "set_default_dtype('float')",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.filterwarnings("ignore")
def test_texts(text: str) -> None:
    code = compile(f"t.{text}", "case", "eval")
    assert_same(lambda: eval(code, {"t": mt}), lambda: eval(code, {"t": torch}))


@pytest.fixture
def no_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests of the same process may have simulated one."""
    monkeypatch.setattr(wired, "can_pin", lambda: False)


@pytest.mark.usefixtures("no_accelerator")
@pytest.mark.parametrize("form", FACTORIES)
def test_pinned_results_need_an_accelerator(form: str) -> None:
    code = compile(f"t.{form.format('pin_memory=True')}", "case", "eval")
    assert_same(lambda: eval(code, {"t": mt}), lambda: eval(code, {"t": torch}))


@pytest.mark.usefixtures("no_accelerator")
def test_refused_pinning_draws_no_random_numbers() -> None:
    mt.manual_seed(0)
    expected = mt.rand(3)
    mt.manual_seed(0)
    with pytest.raises(RuntimeError, match="pinned memory allocator"):
        mt.rand(3, pin_memory=True)
    assert mt.equal(mt.rand(3), expected)


@pytest.mark.parametrize("call", [lambda t: t.is_pinned("cpu"), lambda t: t.is_pinned(device="cuda")])
def test_the_device_of_pinning_is_deprecated(call: Any) -> None:
    texts = []
    for module in (mt, torch):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            call(module.ones(1))
        texts.append([(one.category, str(one.message).partition(" (Triggered")[0]) for one in seen])
    assert texts[0] == texts[1]
