"""`MINDTORCH_FALLBACK`: what an operator does that the device lacks."""

from __future__ import annotations

import warnings

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_dispatch.execute import fallback  # noqa: E402

LACKING = {
    "value": lambda t: mindtorch.special.bessel_j0(t),
    "several": lambda t: mindtorch.linalg.eigh(t @ t.T)[0],
    "named": lambda t: mindtorch.linalg.lstsq(t, t).solution,
    "out": lambda t: mindtorch.special.bessel_j1(t, out=mindtorch.empty_like(t)),
    "gradient": lambda t: mindtorch.autograd.grad(mindtorch.digamma(t.requires_grad_()).sum(), t)[0],
    "in_place": lambda t: t.clone().polygamma_(1),
}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch):
    """Plans and warnings of other tests do not count."""
    monkeypatch.setattr(fallback, "_warned", set())
    from mindtorch_dispatch.table import packets

    for packet in packets.values():
        packet.plans.clear()
    yield
    for packet in packets.values():
        packet.plans.clear()


@pytest.mark.parametrize("setting", [None, "error"])
def test_a_missing_kernel_raises_unless_asked_otherwise(npu, monkeypatch, setting):
    monkeypatch.delenv(fallback.VARIABLE, raising=False)
    if setting is not None:
        monkeypatch.setenv(fallback.VARIABLE, setting)
    with pytest.raises(NotImplementedError, match=r"aten::special_bessel_j0: no kernel for device 'npu'"):
        mindtorch.special.bessel_j0(mindtorch.ones(2, device="npu"))


@pytest.mark.parametrize("name", LACKING)
def test_on_the_host_it_has_the_values_of_the_cpu(npu, monkeypatch, name):
    monkeypatch.setenv(fallback.VARIABLE, "warn")
    given = mindtorch.rand(3, 3, generator=mindtorch.Generator().manual_seed(0)) + 0.5
    with pytest.warns(UserWarning, match="runs on the CPU"):
        actual = LACKING[name](given.to("npu"))
    assert actual.device.type == "npu"
    assert mindtorch.allclose(actual.cpu(), LACKING[name](given.clone()), atol=1e-4)


def test_each_operator_warns_once_at_the_line_of_the_program(npu, monkeypatch):
    monkeypatch.setenv(fallback.VARIABLE, "warn")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for size in (2, 3):
            mindtorch.special.bessel_j0(mindtorch.ones(size, device="npu"))
        mindtorch.special.bessel_j1(mindtorch.ones(2, device="npu"))
    assert [str(one.message).partition(":  ")[0].split(": no")[0] for one in caught] == [
        "aten::special_bessel_j0",
        "aten::special_bessel_j1",
    ]
    assert {one.filename for one in caught} == {__file__}


def test_a_call_with_a_generator_is_not_for_the_host(npu, monkeypatch):
    monkeypatch.setenv(fallback.VARIABLE, "warn")
    counts = mindtorch.ones(2, device="npu")
    with pytest.raises(NotImplementedError, match="aten::binomial: no kernel"):
        mindtorch.binomial(counts, counts, generator=mindtorch.Generator())


def test_another_value_of_the_variable_is_refused(npu, monkeypatch):
    monkeypatch.setenv(fallback.VARIABLE, "silent")
    with pytest.raises(ValueError, match="MINDTORCH_FALLBACK must be 'error' or 'warn', got 'silent'"):
        mindtorch.special.bessel_j0(mindtorch.ones(2, device="npu"))


def test_the_variable_of_torch_npu_forbids_it(npu, monkeypatch):
    monkeypatch.setenv(fallback.VARIABLE, "warn")
    monkeypatch.setenv(fallback.FORBIDDEN, "1")
    with pytest.raises(RuntimeError, match=r"aten::special_bessel_j0: no kernel .* TORCH_NPU_FALLBACK_CPU_DISABLE=1"):
        mindtorch.special.bessel_j0(mindtorch.ones(2, device="npu"))
