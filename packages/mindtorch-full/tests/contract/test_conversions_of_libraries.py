"""What libraries convert: tensors to classes, arrays of pandas, the description of the processor."""

import numpy as np
import pytest

import mindtorch as mt
from mindtorch._dynamo import config
from mindtorch._dynamo.utils import disable_cache_limit
from mindtorch.ao.quantization.fx import _decomposed


def test_as_subclass_asks_no_override():
    asked = []

    class Asked(mt.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            asked.append(func.__name__)
            return super().__torch_function__(func, types, args, kwargs or {})

    given = mt.ones(2).as_subclass(Asked)
    assert type(given.as_subclass(mt.Tensor)) is mt.Tensor
    assert asked == []
    assert type(given + 1) is Asked


def test_a_tensor_of_an_array_in_fortran_order_is_cut():
    array = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
    for made in (
        mt.tensor(array),
        mt.tensor(array, dtype=mt.float32),
        mt.tensor(array.transpose(1, 0, 2), dtype=mt.int32),
    ):
        kept = made.numpy().copy()
        assert made[1:].tolist() == kept[1:].tolist()
        made[1] = 7
        assert (made.numpy()[1] == 7).all()
        assert (made.numpy()[0] == kept[0]).all()


def test_the_processor_is_described_by_the_native_module():
    assert mt._C._cpu._get_cpu_capability()["num_logical_cores"] >= 1
    assert mt._C._cpu._init_amx() is mt.cpu._init_amx()


def test_plain_tensors_are_quantised_and_back():
    ops, given = mt.ops.quantized_decomposed, mt.tensor([[-1.0, 0.26, 0.5], [2.0, 4.0, -0.1]])
    made = ops.quantize_per_tensor(given, 0.1, 3, -128, 127, mt.int8)
    assert made.tolist() == [[-7, 6, 8], [23, 43, 2]]
    back = ops.dequantize_per_tensor(made, 0.1, 3, -128, 127, mt.int8)
    assert mt.allclose(back, given, atol=0.05)
    scales, points = ops.choose_qparams_per_token_asymmetric(given, mt.int8)
    assert points.tolist() == [[42], [-122]]
    made = ops.quantize_per_token(given, scales, points, -128, 127, mt.int8)
    assert made.tolist() == [[-128, 86, 127], [2, 127, -128]]
    back = ops.dequantize_per_token(made, scales, points, -128, 127, mt.int8, mt.float32)
    assert mt.allclose(back, given, atol=0.02)
    with pytest.raises(
        AssertionError, match="quant_max out of bounds for dtype, quant_max_upper_bound: 127 quant_max: 300"
    ):
        _decomposed.quantize_per_tensor(given, 0.1, 0, 0, 300, mt.int8)
    with pytest.raises(AssertionError, match="num_tokens: 2 scales"):
        _decomposed.quantize_per_token(given, mt.ones(3), mt.zeros(3), 0, 1, mt.int8)


def test_limits_of_compilations_are_lifted_within_a_block():
    before = config.recompile_limit
    with disable_cache_limit():
        assert config.recompile_limit > before
    assert config.recompile_limit == before
