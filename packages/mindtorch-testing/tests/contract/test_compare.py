"""The assertions accept what is equal and name what is not; torch stands on both sides."""

import re

import pytest

pytest.importorskip("torch", reason="oracle")

import torch

from mindtorch_testing.compare import assert_same_value, assert_torch_error
from mindtorch_testing.convert import Converter


def _same(ours, theirs, **options):
    assert_same_value(lambda: ours, lambda: theirs, target=torch, **options)


def test_equal_results_pass():
    value = torch.arange(6.0).reshape(2, 3)
    _same({"a": [value, (1, True, None)]}, {"a": [value.clone(), (1, True, None)]})
    _same(value.max(0), value.max(0))
    _same(torch.tensor([float("nan"), float("inf")]), torch.tensor([float("nan"), float("inf")]))


@pytest.mark.parametrize(
    ("ours", "theirs", "kind"),
    [
        (torch.zeros(2), torch.zeros(3), "shape"),
        (torch.zeros(2), torch.zeros(2, dtype=torch.float64), "dtype"),
        (torch.zeros(2), torch.ones(2), "value"),
        (torch.zeros(2, 3).t(), torch.zeros(3, 2), "stride"),
        (torch.zeros(2, requires_grad=True), torch.zeros(2), "requires_grad"),
        (1, 1.0, "type"),
        ((1,), [1], "structure"),
        (torch.zeros(2, 2).max(0), tuple(torch.zeros(2, 2).max(0)), "structure"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "value"),
    ],
)
def test_each_kind_of_difference_is_named(ours, theirs, kind):
    with pytest.raises(AssertionError, match=rf"\n  {kind}"):
        _same(ours, theirs)


def test_tolerance_can_be_given():
    ours, theirs = torch.tensor([1.0]), torch.tensor([1.001])
    with pytest.raises(AssertionError, match="1 of 1 elements differ"):
        _same(ours, theirs)
    _same(ours, theirs, rtol=1e-2)


def _raise(error):
    raise error


def test_errors_compare_type_and_exact_text():
    assert_torch_error(lambda: _raise(ValueError("a b")), lambda: _raise(ValueError("a b")))
    with pytest.raises(AssertionError, match=re.escape("- ValueError: a b")):
        assert_torch_error(lambda: _raise(ValueError("a  b")), lambda: _raise(ValueError("a b")))
    with pytest.raises(AssertionError, match="TypeError"):
        assert_torch_error(lambda: _raise(TypeError("a b")), lambda: _raise(ValueError("a b")))
    with pytest.raises(AssertionError, match="returned without an error"):
        assert_torch_error(lambda: None, lambda: _raise(ValueError("a b")))
    with pytest.raises(AssertionError, match="torch raises nothing"):
        assert_torch_error(lambda: None, lambda: None)


def test_conversion_keeps_geometry_and_sharing():
    base = torch.arange(12, dtype=torch.bfloat16)
    view = base[2:].as_strided((2, 3), (4, 1), 3)
    first, second = Converter(torch).to_target((base, view))
    assert second.stride() == (4, 1)
    assert second.storage_offset() == 3
    first[3] = 77
    assert second[0, 0] == 77
    assert base[3] == 3
