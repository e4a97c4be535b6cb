"""Every overload of aten has an object, which programs name in tables; those that the op table lacks run where others do."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import mindtorch
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

_LISTED = """
import sys
import mindtorch
for name in sys.stdin.read().split():
    packet, _, overload = name.partition(".")
    print(getattr(getattr(mindtorch.ops.aten, packet), overload or "default")._schema)
"""
RUN = (
    "A.index.Tensor_out(T.arange(4.0), [T.tensor([1, 2])], out=T.empty(2))",
    "A.flip.out(T.arange(4.0), [0], out=T.empty(4))",
    "A.isinf.out(T.arange(4.0), out=T.empty(4, dtype=T.bool))",
    "A.unbind_copy.int_out(T.arange(4.0).reshape(2, 2), 0, out=[T.empty(2), T.empty(2)])",
    "A.divide_.Scalar_mode(T.arange(4.0), 2, rounding_mode='floor')",
    "A.multiply.Scalar(T.arange(3), 2.5)",
    "A.size.int(T.ones(2, 3), 1)",
    "A.is_complex(T.ones(2))",
    "A.is_leaf(T.ones(2))",
    "A.item.default(T.ones(1))",
    "A.resize_(T.ones(2), [1]).shape",
    "A.__iand__.Scalar(T.tensor([3, 2]), 1)",
    "A.requires_grad_(T.ones(2)).requires_grad",
    "A.set_.source_Tensor(T.ones(2), T.zeros(3))",
    "A.pow_.Scalar(T.arange(3.0), 2)",
    "A.index.Tensor_out._schema.is_mutable",
    "A.cudnn_batch_norm.default.tags == [T.Tag.pt2_compliant_tag]",
)
OF_OTHER_BACKENDS = (
    "A.cudnn_grid_sampler(T.ones(1, 1, 2, 2), T.ones(1, 2, 2, 2))",
    "A.cudnn_grid_sampler.default(T.ones(1, 1, 2, 2), T.ones(1, 2, 2, 2))",
)
REFUSED = (
    "A.cudnn_grid_sampler.other",
    "A.index.other",
    "A.no_such_operator",
)


def _evaluated(text: str, T: Any) -> Any:
    return eval(text, {"T": T, "A": T.ops.aten})


def test_every_overload_of_torch_has_an_object_and_a_schema() -> None:
    """In a process of its own: operators that are asked for are declared, and others' tests count what is."""
    kept = set(torch._C._dispatch_get_all_op_names())
    named = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")]
    theirs = {f"{one.name[6:]}.{one.overload_name}".rstrip("."): str(one) for one in named}
    names = [name for name in theirs if f"aten::{name}" in kept]
    asked = subprocess.run(
        [sys.executable, "-c", _LISTED], input="\n".join(names), capture_output=True, text=True, check=True
    )
    ours = dict(zip(names, asked.stdout.splitlines(), strict=True))
    assert len(names) > 3000
    assert [name for name in names if not ours[name].startswith(f"aten::{name}(")] == []


@pytest.mark.parametrize("text", RUN)
def test_overloads_compute_what_torch_computes(text: str) -> None:
    assert_same_value(lambda: _evaluated(text, mindtorch), lambda: _evaluated(text, torch))


@pytest.mark.parametrize("text", REFUSED)
def test_overloads_refuse_in_the_words_of_torch(text: str) -> None:
    assert_torch_error(lambda: _evaluated(text, mindtorch), lambda: _evaluated(text, torch))


@pytest.mark.parametrize("text", OF_OTHER_BACKENDS)
def test_operators_of_other_backends_say_so(text: str) -> None:
    """Torch's message goes on with what its build registered, and where."""
    told = []
    for T in (mindtorch, torch):
        with pytest.raises(NotImplementedError, match="Could not run") as caught:
            _evaluated(text, T)
        told.append(str(caught.value).partition(" is only available for")[0])
    assert told[0] == told[1]


def test_operators_are_called_as_before_an_overload_was_asked_for() -> None:
    assert mindtorch.ops.aten.multiply.Scalar is mindtorch.ops.aten.multiply.Scalar
    assert mindtorch.multiply(mindtorch.arange(3), 2.5).tolist() == [0.0, 2.5, 5.0]
    with pytest.raises(TypeError):
        mindtorch.multiply(mindtorch.arange(3), "2")
