"""Groups of gradients by size, and memory taken from a tensor, beside torch."""

from __future__ import annotations

import pytest

import mindtorch

torch = pytest.importorskip("torch", reason="oracle")
import mindtorch.distributed  # noqa: E402


@pytest.mark.parametrize(
    "arguments",
    [
        ([40, 80],),
        ([40, 80], [True, False, False, True]),
        ([400],),
        ([40], [], [3, 2, 1, 0]),
        ([81, 12], [], [5, 0, 9, 2]),
    ],
)
def test_groups_and_their_limits_are_torchs(arguments):
    found = []
    for side in (mindtorch, torch):
        tensors = [side.empty(10), side.empty(10), side.empty(10, dtype=side.double), side.empty(3)]
        found.append(side.distributed._compute_bucket_assignment_by_size(tensors, *arguments))
    assert found[0] == found[1]


def test_memory_is_taken_from_a_tensor_on_any_device():
    for side in (mindtorch, torch):
        emptied = side.empty(2, 3, device="meta").set_()
        assert (tuple(emptied.shape), emptied.device.type, emptied.untyped_storage().device.type) == (
            (0,),
            "meta",
            "meta",
        )
