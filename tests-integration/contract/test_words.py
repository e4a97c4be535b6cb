"""The lint of words finds what it is there for, and finds nothing in this tree."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "words.py"


@pytest.fixture(scope="module")
def words():
    spec = importlib.util.spec_from_file_location("words", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("the executor's twin", "twin"),
        ("a Door to autograd", "Door"),
        ("bfloat16 is `brain` in bench", None),
        ("twinkle, string, ringing, indoor", None),
        ("to_indices_of_planes = 1", "to_indices_of_planes"),
    ],
)
def test_words_are_found_whole(words, line, word):
    assert [found for _, found, _ in words.findings(line)] == ([] if word is None else [word])


def test_native_code_has_words_of_its_own(words):
    line = "const Vector slope = read(negative_slope);"
    assert words.findings(line) == []
    assert [found for _, found, _ in words.findings(line, native=True)] == ["slope"]


def test_this_tree_has_none():
    shown = subprocess.run([sys.executable, TOOL, "check"], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stdout
