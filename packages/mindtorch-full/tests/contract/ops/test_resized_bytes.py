"""Images of bytes are resized with whole weights and rounded to bytes after every dimension, as in torch."""

from __future__ import annotations

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

SIZES = ((8, 8, 5, 5), (8, 8, 11, 13), (17, 9, 3, 20), (1, 1, 4, 4), (6, 6, 6, 3), (6, 6, 3, 6), (30, 30, 7, 4))


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("channels", [1, 3, 5])
def test_every_byte(mode: str, antialias: bool, align: bool, channels: int) -> None:
    random = np.random.default_rng(3)
    for height, width, *size in SIZES:
        stripes = (np.indices((2, channels, height, width)).sum(0) % 2 * 255).astype(np.uint8)
        for image in (random.integers(0, 256, stripes.shape).astype(np.uint8), stripes):
            ours, theirs = (
                side.nn.functional.interpolate(
                    side.from_numpy(image.copy()), size=size, mode=mode, antialias=antialias, align_corners=align
                )
                for side in (mt, torch)
            )
            assert ours.numpy().tolist() == theirs.numpy().tolist()
            assert ours.stride() == theirs.stride()
