"""Public names of `nn` read as torch's."""

import types

import pytest

import mindtorch
from mindtorch import _naming, nn


@pytest.mark.parametrize(
    ("name", "shown"),
    [("mindtorch", "torch"), ("mindtorch.nn.init", "torch.nn.init"), ("mindtorch_cpu.x", "mindtorch_cpu.x")],
)
def test_names_of_modules(name, shown):
    assert _naming.torch_name(name) == shown


@pytest.mark.parametrize(
    ("value", "module"),
    [
        (nn.Module, "torch.nn.modules.module"),
        (nn.Linear, "torch.nn.modules.linear"),
        (nn.MultiheadAttention, "torch.nn.modules.activation"),
        (nn.CosineEmbeddingLoss, "torch.nn.modules.loss"),
        (nn.LSTM, "torch.nn.modules.rnn"),
        (nn.Parameter, "torch.nn.parameter"),
        (nn.functional.cross_entropy, "torch.nn.functional"),
        (nn.functional.multi_head_attention_forward, "torch.nn.functional"),
        (nn.init.xavier_normal_, "torch.nn.init"),
        (nn.utils.clip_grad_norm_, "torch.nn.utils.clip_grad"),
    ],
)
def test_home_of(value, module):
    assert value.__module__ == module


def test_adopt_leaves_others_alone():
    def stranger():
        """Defined elsewhere."""

    stranger.__module__ = "somewhere.else"
    namespace = {"__name__": "mindtorch.example", "own": type("Own", (), {"__module__": "mindtorch.example"})}
    namespace["stranger"] = stranger
    _naming.adopt(namespace)
    assert namespace["own"].__module__ == "torch.example"
    assert stranger.__module__ == "somewhere.else"
    with pytest.raises(AttributeError, match=r"module 'torch\.example' has no attribute 'gone'"):
        namespace["__getattr__"]("gone")


def test_missing_names_are_reported_as_torchs():
    with pytest.raises(AttributeError, match=r"module 'torch\.nn\.init' has no attribute 'gone_'"):
        nn.init.gone_
    assert isinstance(mindtorch.nn, types.ModuleType)
