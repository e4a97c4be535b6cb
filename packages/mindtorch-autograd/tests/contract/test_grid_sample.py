"""Gradients of the gradients of grid samplers, for every way to sample and to pad: ours and torch's give the same."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from .sides import Scenarios, assert_same

scenarios = Scenarios()

WAYS = {
    f"{dims}d-{mode}-{padding}-{align}": (dims, mode, padding, align)
    for dims, mode, padding, align in itertools.product(
        (2, 3), ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False)
    )
    if (dims, mode) != (3, "bicubic")
}


@scenarios.each(**WAYS)
def second_order(T, way):
    dims, mode, padding, align = way
    random = np.random.default_rng(0)
    x = T.tensor(random.standard_normal((2, 2, *(4, 3, 2)[:dims]))).requires_grad_()
    grid = T.tensor(random.uniform(-1.6, 1.6, (2, *(3, 2, 2)[:dims], dims))).requires_grad_()
    out = T.nn.functional.grid_sample(x, grid, mode=mode, padding_mode=padding, align_corners=align)
    cotangent = T.tensor(random.standard_normal(tuple(out.shape))).requires_grad_()
    first = T.autograd.grad(out, (x, grid), cotangent, create_graph=True)
    total = (first[0] ** 2).sum() + (first[1] ** 3).sum()
    second = T.autograd.grad(total, (cotangent, x, grid), allow_unused=True)
    found = [None if one is None else one.detach().round(decimals=9) for one in (*first, *second)]
    return found, first[0].grad_fn


@pytest.mark.parametrize("scenario", scenarios)
def test_same_as_torch(scenario):
    assert_same(scenario)
