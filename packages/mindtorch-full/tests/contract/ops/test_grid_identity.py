"""Grids of maps that are the identity have torch's bits: their positions are whole, and a bit decides gradients there."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch  # noqa: E402


@pytest.mark.parametrize("extent", [5, 7, 28, 32])
@pytest.mark.parametrize("align", [True, False])
def test_grids_of_the_identity_have_torchs_bits(extent, align):
    found = []
    for side in (mindtorch, torch):
        theta = side.tensor([[[1.0, 0, 0], [0, 1, 0]]]).repeat(3, 1, 1)
        found.append(side.nn.functional.affine_grid(theta, (3, 1, extent, extent), align_corners=align).numpy())
    assert np.array_equal(*found)
