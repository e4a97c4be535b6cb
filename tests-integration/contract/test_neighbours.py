"""The matrix of neighbours: complete, and its comparison sees what differs."""

import math
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "neighbours"


@pytest.fixture
def matrix(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    import matrix

    yield matrix
    del sys.modules["matrix"]


def test_every_neighbour_has_a_program_and_every_program_a_neighbour(matrix):
    named = {one["program"] for one in matrix.NEIGHBOURS.values()}
    assert named == {path.name for path in (FOLDER / "programs").glob("*.py")}
    # A program called like the library would be imported in its place.
    assert not {name.removesuffix(".py") for name in named} & {name.replace("-", "_") for name in matrix.NEIGHBOURS}


def test_no_neighbour_installs_torch(matrix):
    for one in matrix.NEIGHBOURS.values():
        for requirement in [*one["requires"], *one["without_dependencies"]]:
            assert requirement.partition("==")[0] != "torch"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]}, 0.2),
        ({"a": 0.25}, {"a": 0.5}, 0.25),
        ({"a": 1}, {"b": 1}, math.inf),
        ([1.0], [1.0, 2.0], math.inf),
        ("cpu", "cuda", math.inf),
        (1, 1.0, math.inf),
        ({"a": ["x", 3]}, {"a": ["x", 3]}, 0.0),
    ],
)
def test_the_distance(matrix, ours, theirs, expected):
    assert matrix.distance(ours, theirs) == pytest.approx(expected)


def test_the_page_keeps_what_was_not_run(matrix):
    first, second = list(matrix.NEIGHBOURS)[:2]
    passed = [matrix.Row(name, "x 1", True, 1e-7, 1e-3) for name in (second, first)]
    whole = matrix.page(passed)
    assert whole.index(f"| {first} |") < whole.index(f"| {second} |")
    assert matrix.page(passed[:1], whole) == whole
    failed = matrix.page([matrix.Row(second, "x 2", False, None, 1e-3, "no")], whole)
    assert passed[1].line() in failed
    assert "| x 2 | fails: no | not compared |" in failed
    assert passed[0].line() not in failed
