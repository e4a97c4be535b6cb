"""New memory on a device, and fills of elements that share memory."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")


@pytest.fixture
def deterministic(npu):
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int64, torch.bool]
)
def test_it_holds_known_values_while_the_same_bits_are_wanted(deterministic, dtype):
    made = [
        torch.empty(5, dtype=dtype, device="npu"),
        torch.empty_like(torch.zeros(5, dtype=dtype, device="npu")),
        torch.empty_strided((2, 2), (1, 3), dtype=dtype, device="npu"),
        torch.zeros(2, dtype=dtype, device="npu").resize_(7)[2:],
    ]
    for one in made:
        if dtype.is_floating_point or dtype.is_complex:
            assert one.isnan().all()
        else:
            assert (one == (True if dtype == torch.bool else torch.iinfo(dtype).max)).all()


@pytest.mark.parametrize(
    ("size", "stride"), [((10,), (0,)), ((2, 3, 4), (1, 0, 1)), ((3, 2), (2, 1)), ((2, 3), (0, 0)), ((3, 4), (2, 1))]
)
def test_elements_that_share_memory_are_filled(npu, size, stride):
    for fill in (lambda x: x.fill_(3), lambda x: x.zero_()):
        host, device = torch.ones(40), torch.ones(40, device="npu")
        fill(host.as_strided(size, stride))
        fill(device.as_strided(size, stride))
        assert device.tolist() == host.tolist()
