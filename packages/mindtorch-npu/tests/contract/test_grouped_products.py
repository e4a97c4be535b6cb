"""Products of groups, as models with experts have them: the CPU's numbers and gradients; counts of integers."""

from __future__ import annotations

import pytest

mindtorch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch_npu.backend import launches  # noqa: E402


def draw(*shape, seed):
    return mindtorch.randn(shape, generator=mindtorch.Generator().manual_seed(seed))


CASES = {
    "rows": ((9, 8), (3, 8, 4), (2, 2, 7)),
    "inner": ((4, 16), (16, 8), (4, 4, 16)),
    "columns": ((3, 4, 8), (8, 12), (4, 9, 12)),
    "batches": ((3, 4, 8), (3, 8, 4), None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_grouped_product_has_the_cpus_numbers(npu, case):
    first, second, offsets = CASES[case]
    found = {}
    for device in ("cpu", "npu"):
        x, y = (draw(*shape, seed=n).to(device).requires_grad_() for n, shape in enumerate((first, second)))
        ends = None if offsets is None else mindtorch.tensor(offsets, dtype=mindtorch.int32, device=device)
        out = mindtorch._grouped_mm(x, y, offs=ends)
        filled = out[: offsets[-1]] if case == "rows" else out  # what lies behind the last offset is anything
        gradients = mindtorch.autograd.grad((filled * filled).sum(), (x, y)) if offsets is None else ()
        found[device] = [one.detach().cpu() for one in (filled, *gradients)]
    for ours, theirs in zip(found["npu"], found["cpu"], strict=True):
        assert mindtorch.allclose(ours, theirs, atol=1e-5)


@pytest.mark.parametrize("name", ["int32", "int64", "uint8", "float32"])
def test_integers_are_counted_on_the_device_as_on_others_than_the_cpu(npu, name):
    values = mindtorch.tensor([1, 2, 3, 3, 0]).to(getattr(mindtorch, name))
    counted = mindtorch.histc(values.npu(), 4, 0, 3)
    assert (counted.dtype, counted.cpu().tolist()) == (values.dtype, [1, 1, 1, 2])
    assert mindtorch.histc(values.to("meta"), 4, 0, 3).dtype == values.dtype


def test_the_cpu_counts_no_integers():
    with pytest.raises(NotImplementedError, match="\"histogram_cpu\" not implemented for 'Int'"):
        mindtorch.histc(mindtorch.ones(3, dtype=mindtorch.int32), 4, 0, 3)


@pytest.mark.parametrize("device", ["cpu", "npu"])
@pytest.mark.parametrize("listed", [0, 1])
def test_grouped_matmul_is_one_launch(npu, device, listed):
    torch_npu = pytest.importorskip("mindtorch._torch_npu")
    x, weight = draw(7, 4, seed=0).to(device).requires_grad_(), draw(3, 4, 5, seed=1).to(device).requires_grad_()
    groups = mindtorch.tensor([2, 2, 7] if listed == 0 else [2, 0, 5], device=device)
    launches.clear()
    (out,) = torch_npu.npu_grouped_matmul(
        [x], [weight], group_list=groups, split_item=3, group_type=0, group_list_type=listed
    )
    assert device == "cpu" or dict(launches) == {"aclnnGroupedMatmulV4": 1}
    parts = ((0, 2), (2, 2), (2, 7))
    expected = mindtorch.cat([x[a:b] @ weight[n] for n, (a, b) in enumerate(parts)])
    assert mindtorch.allclose(out, expected, atol=1e-5)
    cotangent = draw(7, 5, seed=2).to(device)
    for ours, theirs in zip(
        *(mindtorch.autograd.grad(y, (x, weight), cotangent) for y in (out, expected)), strict=True
    ):
        assert mindtorch.allclose(ours, theirs, atol=1e-5)
    (inner,) = torch_npu.npu_grouped_matmul(
        [x.t()], [cotangent], group_list=groups, split_item=3, group_type=2, group_list_type=listed
    )
    assert mindtorch.allclose(inner, mindtorch.stack([x[a:b].t() @ cotangent[a:b] for a, b in parts]), atol=1e-5)


def test_rows_of_no_group_give_zeros(npu):
    product = mindtorch.ops.npu._npu_grouped_product
    x, weight = draw(5, 4, seed=0), draw(2, 4, 3, seed=1)
    for device in ("cpu", "npu"):
        out = product(x.to(device), weight.to(device), mindtorch.tensor([1, 3], device=device), 0, 0)
        assert out.shape == (5, 3)
        assert not out[3:].cpu().any()
    with pytest.raises(RuntimeError, match="2 matrices of 4 rows are needed"):
        product(x.npu(), draw(2, 5, 3, seed=1).npu(), mindtorch.tensor([1, 3]).npu(), 0, 0)
