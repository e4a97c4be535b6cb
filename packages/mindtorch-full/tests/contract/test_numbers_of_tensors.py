"""`_cdata` tells tensors apart, also those that are gone, as programs compare it before and after a conversion."""

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def numbers(T, swap):
    T.__future__.set_swap_module_params_on_conversion(swap)
    try:
        module = T.nn.GRU(2, 3, num_layers=2)
        before = [one._cdata for one in module.parameters()]
        module.to(dtype=T.float64)
        after = [one._cdata for one in module.parameters()]
    finally:
        T.__future__.set_swap_module_params_on_conversion(False)
    return [one == other for one, other in zip(before, after, strict=True)], len(set(after))


@pytest.mark.parametrize("swap", [False, True])
def test_conversions_keep_or_exchange_them(swap):
    assert numbers(mt, swap) == numbers(torch, swap)
    assert numbers(mt, swap)[0] == [not swap] * 8


def test_no_number_comes_again():
    seen = {mt.ones(1)._cdata for _ in range(100)}
    assert len(seen) == 100
