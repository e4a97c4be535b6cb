"""Assertions as operators: what graphs and exporters find under `torch.ops.aten`, and what a failing one says."""

from __future__ import annotations

import pytest
import torch

import mindtorch as mt

EXPRESSIONS = [
    "[str(getattr(getattr(A, name), form)._schema) for name in NAMES for form in getattr(A, name).overloads()]",
    "A._assert_scalar(True, 'x')",
    "A._assert_scalar(0, 'x')",
    "A._assert_scalar(0.0, '')",
    "A._assert_async(T.tensor(0))",
    "A._assert_async.msg(T.tensor(0), 'said')",
    "A._assert_async(T.tensor([]))",
    "A._assert_async(T.tensor([1, 2]))",
    "A._assert_async(T.tensor(1), 'said')",
    "A._functional_assert_scalar(0, 'x', T.ones(1))",
    "A._functional_assert_scalar(1, 'x', T.ones(1)).tolist()",
    "(lambda token: A._functional_assert_async.msg(T.tensor(1), 'x', token) is token)(T.ones(1))",
    "A.sym_constrain_range(3, min=1, max=2)",
    "A.sym_constrain_range(3, min=4, max=2)",
    "A.sym_constrain_range(3, min=4)",
    "A.sym_constrain_range(3.5, max=2)",
    "A.sym_constrain_range(3)",
    "A.sym_constrain_range_for_size(-1)",
    "A.sym_constrain_range_for_size(1)",
    "A.sym_constrain_range_for_size(3, min=1, max=2)",
    "A.sym_constrain_range_for_size(3, max=9)",
    "A._assert_tensor_metadata(T.ones(2), [3])",
    "A._assert_tensor_metadata(T.ones(2), None, [2])",
    "A._assert_tensor_metadata(T.ones(2), [2], None, T.int)",
    "A._assert_tensor_metadata(T.ones(2), device='meta')",
    "A._assert_tensor_metadata(T.ones(2), [2], [1], T.float, device='cpu', layout=T.strided)",
    "A._shape_as_tensor(T.ones(2, 3)).tolist(), A._shape_as_tensor(T.ones(())).tolist()",
    "T._assert_scalar(0, 'q')",
    "T._functional_assert_scalar(0, 'q', T.ones(1))",
    "T._functional_assert_async(T.tensor(0), 'q', T.ones(1))",
    "T.sym_constrain_range(3, min=4)",
    "T.sym_constrain_range_for_size(-1)",
]
NAMES = """
_assert_async _assert_scalar _assert_tensor_metadata _functional_assert_async _functional_assert_scalar _print
_shape_as_tensor sym_constrain_range sym_constrain_range_for_size
""".split()


def _outcome(expression: str, module: object) -> tuple[str, str]:
    try:
        found = eval(expression, {"T": module, "A": module.ops.aten, "NAMES": NAMES})
    except (RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return "", str(found)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_assertions_as_operators_say_what_torchs_say(expression):
    assert _outcome(expression, mt) == _outcome(expression, torch)


def test_a_line_is_printed_by_an_operator(capfd):
    mt.ops.aten._print("a line")
    assert mt._print("another") is None
    assert capfd.readouterr().out == "a line\nanother\n"


@pytest.mark.parametrize("library", [mt, torch])
def test_sizes_are_on_the_cpu_whatever_the_default_device(library):
    with library.device("meta"):
        x = library.ones(2, 3)
        assert library._shape_as_tensor(x).tolist() == library.ops.aten._shape_as_tensor(x).tolist() == [2, 3]
