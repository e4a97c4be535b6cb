"""Numbers beyond the largest half in tensors of one element, and the device of what old constructors make, as torch's."""

from __future__ import annotations

import numpy
import pytest
import torch

import mindtorch as mt

EXPRESSIONS = [
    f"T.{call.format(n=number)}"
    for number in ("-1e9", "1e39", "10**9", "2.5", "-float('inf')")
    for call in (
        "zeros(1, dtype=T.half).fill_({n})",
        "zeros((), dtype=T.half).fill_({n})",
        "zeros(1, dtype=T.bfloat16).fill_({n})",
        "zeros(2, dtype=T.half).fill_({n})",
        "zeros(0, dtype=T.half).fill_({n})",
        "zeros(3, dtype=T.half)[1].fill_({n})",
        "full((1,), {n}, dtype=T.half)",
        "full((1, 1), {n}, dtype=T.bfloat16)",
        "full_like(T.zeros(1, dtype=T.half), {n})",
        "zeros(1).half().new_full((1,), {n})",
        "scalar_tensor({n}, dtype=T.half)",
        "zeros(1).fill_({n})",
    )
]
EXPRESSIONS += [
    "T.zeros(1, dtype=T.half).fill_(1e9 + 2j)",
    "T.zeros(1, dtype=T.half).fill_(True)",
    "T.nn.init.constant_(T.zeros((), dtype=T.half), -1e9)",
]
MADE = [
    "T.as_tensor(N.ones(2))",
    "T.asarray(N.ones(2))",
    "T.as_tensor(T.ones(2, device='cpu'))",
    "T.as_tensor(T.ones(2, device='cpu'), dtype=T.half)",
    "T.asarray(T.ones(2, device='cpu'))",
    "T.as_tensor(N.ones(2), device='cpu')",
    "T.tensor(T.ones(2, device='cpu'))",
    "T.from_numpy(N.ones(2))",
    "T.Tensor([1.0, 2.0])",
    "T.Tensor(N.linspace(0, 1, 4))",
    "T.Tensor()",
    "T.FloatTensor([1.0])",
    "T.LongTensor([3])",
    "T.ones(2, device='cpu').new([1.0])",
    "T.ones(2).new([1.0])",
    "T.tensor([1.0])",
]


def _outcome(expression, module):

    try:
        found = eval(expression, {"T": module, "N": numpy})
    except RuntimeError as error:
        return str(error)
    return str(found.dtype), str(found.device), None if found.is_meta else found.tolist()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_single_half_becomes_infinite_and_several_are_refused(expression):
    assert _outcome(expression, mt) == _outcome(expression, torch)


@pytest.mark.parametrize("expression", MADE)
def test_what_is_made_of_data_lies_where_torch_has_it_under_a_default_device(expression):
    answers = []
    for T in (mt, torch):
        with T.device("meta"):
            answers.append(_outcome(expression, T))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("expression", ["T.Tensor(2, 3)", "T.DoubleTensor(3)", "T.Tensor(T.Size([2]))"])
def test_old_constructors_of_sizes_make_tensors_on_the_cpu(expression):
    for T in (mt, torch):
        with T.device("meta"):
            assert eval(expression).device.type == "cpu"
