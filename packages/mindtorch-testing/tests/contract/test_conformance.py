"""The conformance rules hold of torch itself, and each notices what it is there for."""

import types

import pytest

pytest.importorskip("torch", reason="oracle")

import torch

from mindtorch_testing import conformance
from mindtorch_testing.samples import Call, Sample

OPS = ("add.Tensor", "sum.dim_IntList", "mm", "transpose.int", "softmax.int", "gather", "max.dim", "where.self")


@pytest.mark.parametrize("check", conformance.checks("cpu", ops=OPS, lib=torch), ids=str)
def test_torch_conforms(check):
    try:
        check.run()
    except conformance.NotApplicable as reason:
        pytest.skip(str(reason))


def _check(rule, function, **names):
    lib = types.SimpleNamespace(**{**vars(torch), **names})
    lib.__dict__["ops"] = types.SimpleNamespace(
        aten=types.SimpleNamespace(probe=types.SimpleNamespace(default=function))
    )
    lib.__name__ = "probe"
    sample = Sample("probe", ("float64",), lambda make: iter([Call(make(3))]), True)
    return conformance.Check(rule, sample, "float64", "cpu", lib)


def test_meta_notices_other_strides():
    def probe(tensor):
        return tensor.new_empty(2, 3) if tensor.is_meta else tensor.new_empty(3, 2).t()

    with pytest.raises(AssertionError, match="meta promised"):
        _check("meta", probe).run()


def test_aliasing_notices_changed_inputs():
    with pytest.raises(AssertionError, match="an input was changed"):
        _check("aliasing", lambda tensor: tensor.add_(1).clone()).run()


def test_aliasing_notices_hidden_sharing():
    def probe(tensor):
        return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage(), 0, (3,))

    with pytest.raises(AssertionError, match="shares its input's storage"):
        _check("aliasing", probe).run()


def test_gradient_notices_a_wrong_formula():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, tensor):
            return tensor * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    with pytest.raises(AssertionError, match="gradient"):
        _check("gradient", Wrong.apply).run()


def test_out_notices_what_is_not_written():
    def probe(tensor, out=None):
        return tensor + 1 if out is None else out

    with pytest.raises(AssertionError, match="out= differs"):
        _check("out", probe, probe=probe).run()
