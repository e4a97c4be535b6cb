"""Switches and questions of `torch._C`, inner checks of references, and inner operators, beside torch."""

import warnings
from typing import Any

import pytest

import mindtorch as mt
import mindtorch._prims
import mindtorch._prims_common
import mindtorch._refs
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch._refs", reason="oracle")

VALUES = {
    "broadcast shape": lambda T: T._C._infer_size(T.Size([2, 1]), T.Size([3])),
    "deploy": lambda T: T._running_with_deploy(),
    "float16": lambda T: T._C._get_cpu_allow_fp16_reduced_precision_reduction(),
    "add_relu": lambda T: T._add_relu(T.tensor([-1.0, 2.0]), T.tensor([-1.0, 3.0]), alpha=2),
    "add_relu number": lambda T: T._VF._add_relu(T.tensor([-1.0, 2.0]), -3),
    "add_relu integers": lambda T: T._VF._add_relu(T.tensor([-1, 2]), T.tensor([-1, 2])),
    "add_relu_": lambda T: T._VF._add_relu_(T.tensor([-1.0, 2.0]), T.tensor([-1.0, 3.0])),
    "add_relu out": lambda T: T._add_relu(T.tensor([-1.0, 2.0]), T.tensor([-1.0, 3.0]), out=T.empty(0)),
    "all": lambda T: T._is_all_true(T.tensor([[True, False]])),
    "all of none": lambda T: T._is_all_true(T.tensor([], dtype=T.bool)),
    "any": lambda T: T.tensor([[True, False]])._is_any_true(),
    "combination": lambda T: T._compute_linear_combination(T.arange(12.0).view(3, 2, 2), T.arange(6.0).view(2, 3)),
    "combination of integers": lambda T: T._compute_linear_combination(T.arange(6).view(3, 2), T.arange(6).view(2, 3)),
    "combination added": lambda T: T._compute_linear_combination(
        T.arange(6.0).view(3, 2), T.arange(6.0).view(2, 3), out=T.ones(2, 2)
    ),
    "masked identity": lambda T: T.masked._reduction_identity("masked.prod", T.ones(2, dtype=T.int8)),
    "reference of a scalar": lambda T: T._refs.amax(T.tensor(3.0), dim=0, keepdim=True),
    "shapes together": lambda T: T._refs._broadcast_shapes((2, 1), None, T.Size([1, 3]), 3),
    "shapes without numbers": lambda T: T._refs._broadcast_shapes((0,), (1,)),
    "no shapes": lambda T: T._refs._broadcast_shapes(None),
    "utils of prims": lambda T: T._prims.utils.is_integer_dtype(T.int8),
}
ERRORS = {
    "shapes": lambda T: T._C._infer_size(T.Size([2]), T.Size([3])),
    "no shape": lambda T: T._C._infer_size([2], (3,)),
    "other shapes": lambda T: T._refs._broadcast_shapes((2, 4), (3, 4)),
    "a negative shape": lambda T: T._refs._broadcast_shapes((2, 1), (-1,)),
    "a negative shape that differs": lambda T: T._refs._broadcast_shapes((2, 3), -1),
    "float16": lambda T: T._C._set_cpu_allow_fp16_reduced_precision_reduction(1),
    "mkldnn": lambda T: T._C._set_mkldnn_enabled(1),
    "combination": lambda T: T._compute_linear_combination(T.ones([]), T.ones(2, 2)),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case: str) -> None:
    assert_same_value(lambda: VALUES[case](mt), lambda: VALUES[case](torch))


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case: str) -> None:
    assert_torch_error(lambda: ERRORS[case](mt), lambda: ERRORS[case](torch))


def test_settings_are_read_anew_each_time() -> None:
    for lib in (mt, torch):
        before = lib.backends.mkldnn.enabled, lib.backends.cudnn.enabled
        try:
            for enabled in (True, False, True):
                lib._C._set_mkldnn_enabled(enabled)
                assert lib._C._get_mkldnn_enabled() is lib.backends.mkldnn.enabled is enabled
                lib._C._set_cudnn_enabled(enabled)
                assert lib._C._get_cudnn_enabled() is lib.backends.cudnn.enabled is enabled
        finally:
            lib._C._set_mkldnn_enabled(before[0])
            lib._C._set_cudnn_enabled(before[1])


def test_a_loop_over_examples_can_be_forbidden() -> None:
    def looped(T: Any) -> Any:
        T._C._functorch._set_vmap_fallback_enabled(False)
        try:
            return T.vmap(lambda x: T.histc(x, 4))(T.ones(3, 2))
        finally:
            T._C._functorch._set_vmap_fallback_enabled(True)

    assert_torch_error(lambda: looped(mt), lambda: looped(torch))
    assert mt._C._functorch._is_vmap_fallback_enabled()


def test_strides_are_compared_where_they_matter() -> None:
    def answers(T: Any) -> list[Any]:
        pairs = [(T.ones(2, 3), T.ones(3, 2).t()), (T.ones(1, 3), T.ones(3, 1).t()), (T.ones(0, 3), T.ones(3, 0).t())]
        ask = T._prims_common
        return [
            check(*pair, only_cuda=only)
            for check in (ask.check_all_strides, ask.check_significant_strides)
            for pair in pairs
            for only in (True, False)
        ]

    assert answers(mt) == answers(torch)


def test_the_former_check_of_references_warns() -> None:
    for lib in (mt, torch):
        with pytest.warns(FutureWarning, match="_prims_common.check` is deprecated"):
            lib._prims_common.check(True, lambda: "no")

        def refused(lib: Any = lib) -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lib._prims_common.check(False, lambda: "no", ValueError)

        with pytest.raises(ValueError, match=r"^no$"):
            refused()
