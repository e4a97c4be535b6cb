"""Data pipes are read again up to where they were, as torch's are."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


class _Side:
    def __init__(self, lib: Any) -> None:
        name = f"{lib.__name__}.utils.data.datapipes"
        self.lib = lib
        self.restore = importlib.import_module(f"{name}.utils.snapshot")._simple_graph_snapshot_restoration
        self.pipes = importlib.import_module(f"{name}.iter")

    def mapped(self) -> Any:
        return self.pipes.IterableWrapper(range(6)).map(abs)

    def restored(self, count: int) -> Any:
        pipe = self.mapped()
        self.restore(pipe, count)
        return pipe


def _state(pipe: Any) -> tuple[str, int]:
    return str(pipe._snapshot_state), pipe._number_of_samples_yielded


def _restored(side: _Side) -> Any:
    pipe = side.mapped()
    found: list[Any] = [_state(pipe)]
    side.restore(pipe, 2)
    return [*found, _state(pipe), list(pipe), _state(pipe), list(pipe), _state(pipe)]


def _twice(side: _Side) -> Any:
    side.restore(side.restored(2), 2)


def _below(side: _Side) -> Any:
    pipe = side.restored(3)
    above = pipe.map(abs)
    return list(above), list(above), _state(pipe)


def _from_a_file(side: _Side) -> Any:
    pipe = side.mapped()
    source = iter(pipe)
    next(source), next(source)
    again = pickle.loads(pickle.dumps(pipe))
    found = _state(again)
    side.restore(again, again._number_of_samples_yielded)
    return found, list(again), list(again)


def _shuffled(side: _Side) -> Any:
    pipe = side.pipes.IterableWrapper(range(20)).shuffle()
    side.restore(pipe, 5, side.lib.Generator().manual_seed(3))
    return list(pipe)


CASES = {
    "restored": _restored,
    "twice": _twice,
    "below another": _below,
    "from a file": _from_a_file,
    "shuffled": _shuffled,
    "too far": lambda side: side.restored(8),
    "all": lambda side: list(side.restored(6)),
    "reset": lambda side: (pipe := side.restored(2)).reset() or _state(pipe),
}


@pytest.mark.parametrize("name", CASES)
def test_pipes_go_on_where_torchs_do(name: str) -> None:
    found = []
    for lib in (mt, torch):
        try:
            found.append(CASES[name](_Side(lib)))
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]
