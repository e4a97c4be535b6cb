"""Whole modules, parameters and optimizer states between torch and us."""

from __future__ import annotations

import copy
import io
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def transfer(source: Any, target: Any, obj: Any, **options: Any) -> Any:
    stream = io.BytesIO()
    source.save(obj, stream, **options)
    stream.seek(0)
    return target.load(stream, weights_only=False)


def model(module: Any) -> Any:
    nn = module.nn
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LayerNorm(3), nn.Embedding(3, 4), nn.Dropout(0.1))


@pytest.mark.parametrize("zip_format", [True, False])
def test_modules_both_ways(zip_format: bool) -> None:
    theirs = model(torch)
    ours = transfer(torch, mt, theirs, _use_new_zipfile_serialization=zip_format)
    assert type(ours) is mt.nn.Sequential
    assert repr(ours) == repr(theirs)
    back = transfer(mt, torch, ours, _use_new_zipfile_serialization=zip_format)
    assert repr(back) == repr(theirs)
    for name, value in theirs.state_dict().items():
        assert torch.equal(back.state_dict()[name], value)
        assert ours.state_dict()[name].tolist() == value.tolist()


def test_state_dict_loads_restricted_with_its_metadata() -> None:
    stream = io.BytesIO()
    torch.save(model(torch).state_dict(), stream)
    stream.seek(0)
    state = mt.load(stream)
    assert state._metadata == model(torch).state_dict()._metadata
    assert str(model(mt).load_state_dict(state)) == "<All keys matched successfully>"


def test_parameters_keep_class_and_attributes() -> None:
    parameter = mt.nn.Parameter(mt.ones(2), requires_grad=False)
    parameter.note = "kept"
    theirs = transfer(mt, torch, {"p": parameter})["p"]
    assert type(theirs) is torch.nn.Parameter
    assert (theirs.note, theirs.requires_grad) == ("kept", False)
    ours = transfer(torch, mt, theirs)
    assert type(ours) is mt.nn.Parameter
    assert (ours.note, ours.requires_grad, ours.tolist()) == ("kept", False, [1, 1])


def test_tied_weights_stay_tied() -> None:
    ours = model(mt)
    ours.tied = mt.nn.Linear(3, 4, bias=False)
    ours.tied.weight = mt.nn.Parameter(ours[3].weight)
    copied = transfer(mt, mt, ours)
    assert copied[3].weight.data_ptr() == copied.tied.weight.data_ptr()
    loaded = transfer(mt, torch, ours)
    assert loaded[3].weight.data_ptr() == loaded.tied.weight.data_ptr()


def test_deepcopy_of_a_module() -> None:
    ours = model(mt)
    copied = copy.deepcopy(ours)
    assert [value.tolist() for value in copied.state_dict().values()] == [
        value.tolist() for value in ours.state_dict().values()
    ]
    copied[0].weight.data.fill_(0)
    assert any(any(row) for row in ours[0].weight.tolist())
