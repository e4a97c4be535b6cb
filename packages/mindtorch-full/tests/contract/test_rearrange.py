"""`torch.func.rearrange`, batching under its former name, and operators with kernels in Python, beside torch."""

import warnings
from functools import partial
from typing import Any

import pytest

import mindtorch as mt
import mindtorch._higher_order_ops.invoke_subgraph as our_regions
import mindtorch._vmap_internals
from mindtorch._functorch_package.einops import _parsing as ours_parsing
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")
theirs_parsing = pytest.importorskip("functorch.einops._parsing", reason="oracle")
their_regions = pytest.importorskip("torch._higher_order_ops.invoke_subgraph", reason="oracle")

GOOD = [
    ("a b c -> c b a", {}),
    ("a b c -> (a b) c", {}),
    ("a b (c d) -> a d (c b)", {"c": 2}),
    ("... (b e) -> b e ...", {"b": 2}),
    ("a ... -> (... a)", {}),
    ("a b c -> a 1 b () c", {}),
    ("a b 1 -> b a", {}),
    ("... -> (...)", {}),
    ("1 b c -> c b", {}),
]
BAD = [
    ("a b c", {}),
    ("a -> b -> c", {}),
    ("a b -> b a", {}),
    ("a b c d ... -> a b c d", {}),
    ("a b c -> a b c ...", {}),
    ("(...) -> ...", {}),
    ("a b ((c) d) -> a b c d", {"c": 2}),
    ("a b (c d -> a b c d", {"c": 2}),
    ("a b c) -> a b c", {}),
    ("a a b -> a b", {}),
    ("_a b c -> b c _a", {}),
    ("1a b c -> b c 1a", {}),
    ("a b, c -> a b c", {}),
    ("a . c -> a c", {}),
    ("... b ... -> b", {}),
    ("a b c -> a b", {}),
    ("a 2 c -> a c", {}),
    ("a b 0 -> a b", {}),
    ("a b c -> c b a", {"d": 2}),
    ("a b c -> c b a", {"c": 2.5}),
    ("a b c -> c b a", {"c": 7}),
    ("a b (c d) -> a b c d", {}),
    ("a b (c d) -> a b c d", {"c": 3}),
    ("a b (c d) -> a b c d", {"c": 3, "d": 5}),
]


def given(lib: Any) -> Any:
    return lib.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(("pattern", "lengths"), GOOD)
def test_dimensions_are_split_joined_and_permuted(pattern, lengths):
    assert_same_value(*(partial(lib.func.rearrange, given(lib), pattern, **lengths) for lib in (mt, torch)))


@pytest.mark.parametrize(("pattern", "lengths"), BAD)
def test_a_pattern_that_does_not_fit_raises(pattern, lengths):
    assert_torch_error(*(partial(lib.func.rearrange, given(lib), pattern, **lengths) for lib in (mt, torch)))


def test_a_list_of_tensors_is_stacked():
    assert_same_value(
        *(lambda lib=lib: lib.func.rearrange([given(lib)] * 2, "z a b c -> c (z a) b") for lib in (mt, torch))
    )
    assert_same_value(*(lambda lib=lib: lib.func.rearrange(lib.tensor(3), "->") for lib in (mt, torch)))


def test_patterns_are_parsed_to_the_same_names():
    for text in ("a (b c) ... 1 ()", "(a ... 3) 5", "a1 zz"):
        ours, theirs = (module.ParsedExpression(text) for module in (ours_parsing, theirs_parsing))
        assert str(ours.composition) == str(theirs.composition)
        for name in ("has_ellipsis", "has_ellipsis_parenthesized", "has_non_unitary_anonymous_axes"):
            assert getattr(ours, name) == getattr(theirs, name)
    assert ours_parsing.comma_separate(["a", ["b", "c"]]) == theirs_parsing.comma_separate(["a", ["b", "c"]])
    assert ours_parsing.AnonymousAxis("2") != ours_parsing.AnonymousAxis("2")


RESULTS = [
    (lambda x: None, 0),
    (lambda x: 3.0, 0),
    (lambda x: (x, 3), 0),
    (lambda x: [x, x], 0),
    (lambda x: x, "lol"),
    (lambda x: x, [0]),
    (lambda x: x, (0, 0)),
    (lambda x: (x, x), (0,)),
    (lambda x: x, 5),
]


@pytest.mark.parametrize(("function", "out_dims"), RESULTS)
@pytest.mark.filterwarnings("ignore:Please use .torch.vmap:FutureWarning")
def test_what_a_batched_function_may_not_return_before_torch_func(function, out_dims):
    assert_torch_error(
        *(lambda lib=lib: lib._vmap_internals.vmap(function, 0, out_dims)(lib.ones(2, 3)) for lib in (mt, torch))
    )


def test_batching_under_its_former_name_warns():
    for lib in (mt, torch):
        with pytest.warns(FutureWarning, match="Please use `torch.vmap` instead of `torch._vmap_internals.vmap`"):
            mapped = lib._vmap_internals.vmap(lambda x: (x, x * 2), (0,), (1, 0))
        first, second = mapped(lib.ones(2, 3))
        assert (first.shape, second.shape) == ((3, 2), (2, 3))


def test_each_loop_over_examples_can_be_made_to_warn():
    def loops() -> int:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            for _ in range(2):
                mt.vmap(lambda x: mt.histc(x, 4))(mt.ones(3, 2))
        return sum("performance drop" in str(one.message) for one in found)

    loops()
    assert loops() == 0
    mt._C._debug_only_display_vmap_fallback_warnings(True)
    try:
        assert mt._C._debug_only_are_vmap_fallback_warnings_enabled()
        assert loops() == 2
    finally:
        mt._C._debug_only_display_vmap_fallback_warnings(False)


def test_an_operator_of_functions_runs_the_kernel_of_its_key():
    for lib in (mt, torch):

        class Twice(lib._ops.HigherOrderOperator):
            def __init__(self) -> None:
                super().__init__("twice")

            def __call__(self, function: Any, x: Any) -> Any:
                return super().__call__(function, x)

        twice = Twice()
        assert (twice.name(), twice.namespace, str(twice)) == ("twice", "higher_order", "twice")
        with pytest.raises(
            NotImplementedError, match=r"HigherOrderOperator twice at dispatch key DispatchKey.AutogradCPU"
        ):
            twice(lambda x: x, lib.ones(1))
        with pytest.raises(NotImplementedError, match=r"for twice at dispatch key DispatchKey.Undefined"):
            twice(lambda x: x, 1)
        twice.py_impl(lib._C.DispatchKey.CPU)(lambda function, x: function(function(x)))
        with pytest.raises(RuntimeError, match="Trying to override a python impl"):
            twice.py_impl(lib._C.DispatchKey.CPU)(lambda function, x: x)
        twice.py_impl(lib._C.DispatchKey.AutogradCPU)(lambda function, x: function(function(x)) * 10)
        assert twice(lambda x: x + 1, lib.ones(1)).item() == 30
        with pytest.raises(TypeError, match="abstract"):
            lib._ops.HigherOrderOperator("x")


def test_a_region_to_compile_is_called_where_nothing_compiles():
    for module in (our_regions, their_regions):
        assert module.mark_compile_region(lambda x: x + 1)(2) == 3
        assert module.mark_compile_region(max_reuse_entries=2)(lambda x: x + 1)(2) == 3


def test_the_way_of_a_convolution():
    x, w = mt.zeros(2, 6, 7, 8), mt.zeros(6, 6, 3, 3)
    select, ways = mt._C._select_conv_backend, mt._C._ConvBackend
    assert select(x, w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1) is ways.Slow2d
    assert select(x, w, None, [1, 1], [0, 0], [2, 2], False, [0, 0], 1) is ways.SlowDilated2d
    assert select(x, w, None, [1, 1], [0, 0], [2, 2], True, [0, 0], 1) is ways.SlowTranspose2d
    assert select(x[:0], w, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1) is ways.Empty
    theirs = torch._C._ConvBackend.__members__
    assert {name: ways[name].value for name in ways.__members__} == {
        name: int(value) for name, value in theirs.items() if name in ways.__members__
    }


def test_reflected_shifts_leave_what_they_do_not_know_to_the_other_operand():
    for lib in (mt, torch):
        one = lib.tensor([1])
        assert one.__rlshift__(object()) is one.__rrshift__("a") is NotImplemented
        assert (2 << one).item() == 4
