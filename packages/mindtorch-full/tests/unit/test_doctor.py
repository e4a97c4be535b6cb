"""`mindtorch doctor` reads programs without running them and says what of torch is missing, and where."""

import builtins
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch as mt
from mindtorch._doctor import examine, exists, report, what_was_missing

PROGRAM = """\
import torch, torch.nn as nn
import torch.nn.functional as F
from torch import Tensor as T, no_such_thing
from torch.nn.quantized import MultiheadAttention
import torchvision.torch_like
class Model(nn.Module):
    def forward(self, x: T, torch_like=None):
        getattr(torch, "perhaps", None)
        getattr(torch, "never_there")
        y = x.anything_goes()
        return F.relu(x) + F.nothing(x) + torch.float32.itemsize + torch.Tensor.no_method
raise SystemExit("this is never run")
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_missing_names_and_their_places(program):
    uses, problems = examine([program])
    assert problems == []
    missing = {use.name: [place.rpartition(":")[2] for place in use.places] for use in uses if use.missing}
    assert missing == {
        "torch.Tensor.no_method": ["11"],
        "torch.never_there": ["9"],
        "torch.nn.functional.nothing": ["11"],
        "torch.nn.quantized.MultiheadAttention": ["4"],
        "torch.no_such_thing": ["3"],
    }
    found = {use.name for use in uses if not use.missing}
    assert found >= {"torch", "torch.nn.Module", "torch.nn.functional.relu", "torch.Tensor", "torch.float32.itemsize"}
    assert not any("perhaps" in use.name or "vision" in use.name or "anything" in use.name for use in uses)


def test_the_reason_comes_from_the_list_of_what_is_not_offered(program):
    uses, problems = examine([program])
    [use] = [use for use in uses if use.name == "torch.nn.quantized.MultiheadAttention"]
    assert use.reason.startswith("quantization is offered in eager mode alone")
    text = "\n".join(report(uses, problems))
    assert f"missing: torch.nn.functional.nothing\n    {program}:11" in text
    assert "5 are missing" in text.splitlines()[0]


def test_folders_and_files_that_are_no_python(program, tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "other.py").write_text("import torch\ntorch.ones(1)\n")
    (tmp_path / "broken.py").write_text("import torch\ndef (:\n")
    uses, problems = examine([tmp_path])
    assert any(use.name == "torch.ones" for use in uses)
    assert ["broken.py" in problem for problem in problems] == [True]
    assert report(uses, problems)[-1].startswith("not read: ")
    with pytest.raises(FileNotFoundError, match="no such file"):
        examine([tmp_path / "absent.py"])


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("torch", True),
        ("torch.nn.modules.linear.Linear.forward", True),
        ("torch.utils.data.DataLoader", True),
        ("torch.nothing.at.all", False),
        ("torch.nn.nothing", False),
    ],
)
def test_exists(name, there):
    assert exists(name) is there


def _command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "mindtorch", "doctor", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_the_command(program, tmp_path):
    done = _command(program)
    assert done.returncode == 1
    assert "missing: torch.never_there" in done.stdout
    fine = tmp_path / "fine.py"
    fine.write_text("import torch\nprint(torch.ones(1))\n")
    assert _command(fine).returncode == 0
    assert _command().returncode == 2
    assert _command(Path("absent.py")).returncode == 2


PROGRAM_OF_MANY_NAMES = """\
import torch
from torch import nn
def later():
    return torch.{later}
{first} = torch.{first}
try:
    from torch import {guarded}
except ImportError:
    {guarded} = None
class Model(nn.Module):
    layer = nn.{inside}
"""


@pytest.mark.parametrize("seed", range(12))
def test_names_removed_at_random_are_found(seed, tmp_path, monkeypatch):
    """And the program stops at the one that runs on import, with a line that names it."""
    chance = random.Random(seed)
    first, later, guarded = chance.sample([name for name in OPERATORS if hasattr(mt, name)], 3)
    inside = chance.choice(sorted(name for name in vars(mt.nn) if name[0].isupper() and name != "Module"))
    path = tmp_path / "program.py"
    path.write_text(PROGRAM_OF_MANY_NAMES.format(first=first, later=later, guarded=guarded, inside=inside))
    removed = {f"torch.{name}" for name in (first, later, guarded)} | {f"torch.nn.{inside}"}
    assert not {use.name for use in examine([path])[0] if use.missing}
    for name in removed:
        owner = mt.nn if name.startswith("torch.nn.") else mt
        monkeypatch.delattr(owner, name.rpartition(".")[2])
    uses = {use.name: use for use in examine([path])[0]}
    assert {name for name, use in uses.items() if use.missing} == removed
    assert {name for name, use in uses.items() if use.stops} == {f"torch.{first}", f"torch.nn.{inside}"}
    with pytest.raises(AttributeError) as caught:
        exec(
            compile(path.read_text(), str(path), "exec"),
            {"torch": mt, "__builtins__": {**vars(builtins), "__import__": ours}},
        )
    assert f"torch.{first}," in what_was_missing(caught.value)


PROGRAM_OF_STARS = """\
import math as m, os.path
from torch import *
from torch.nn.functional import *
from torch.utils.data import *
class Own(Dataset):
    def __len__(self): return int(m.floor({first}(ones(2)).sum()))
try:
    value = {later}(ones(2))
except Exception as error:
    print(error, __name__, [one for one in os.path.sep])
match value:
    case [head, *rest]: print(head, rest)
print({inside}(range(3)), linalg.norm(ones(2)))
"""


@pytest.mark.parametrize("seed", range(6))
def test_names_that_a_star_brings_are_found(seed, tmp_path, monkeypatch):
    chance = random.Random(seed)
    first, later = chance.sample(["relu", "softmax", "exp", "cumsum", "sort", "unique"], 2)
    inside = chance.choice(["DataLoader", "Subset", "ConcatDataset", "SequentialSampler"])
    path = tmp_path / "program.py"
    path.write_text(PROGRAM_OF_STARS.format(first=first, later=later, inside=inside))
    uses = {use.name: use for use in examine([path])[0]}
    assert not [name for name, use in uses.items() if use.missing]
    assert {f"torch.utils.data.{inside}", "torch.utils.data.Dataset", "torch.ones", "torch.linalg.norm"} <= set(uses)
    monkeypatch.delattr(mt.utils.data, inside)
    for name in (first, later):
        for owner in (mt, mt.nn.functional):
            if hasattr(owner, name):
                monkeypatch.delattr(owner, name)
    missing = [use for use in examine([path])[0] if use.missing]
    assert {use.name.rpartition(".")[2] for use in missing} == {first, later, inside}
    path.write_text("from torch import *\nfrom os.path import *\nprint(join('a', 'b'), ones(2))\n")
    assert not [use.name for use in examine([path])[0] if use.missing]


def ours(name, globals=None, locals=None, fromlist=(), level=0):
    """Import as the proxy does."""
    return builtins.__import__(name.replace("torch", "mindtorch", 1), globals, locals, fromlist or ("ones",), level)


OPERATORS = "add relu softmax stack where cumsum einsum matmul norm sort topk unique zeros arange bmm clamp diag exp flip".split()


def test_packages_are_followed_from_import_to_import(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "__init__.py").write_text("from .used import thing\n")
    (folder / "used.py").write_text("import torch\nthing = torch.never_there\n")
    (folder / "unused.py").write_text("import torch\nthing = torch.not_there_either\n")
    (tmp_path / "program.py").write_text("import library\n")
    stops = {use.name: use.stops for use in examine([folder])[0] if use.missing}
    assert stops == {"torch.never_there": True, "torch.not_there_either": False}
    uses, problems = examine([tmp_path / "program.py"])
    assert {use.name for use in uses if use.stops} == {"torch.never_there"}
    lines = report(uses, problems)
    assert f"    {folder / 'used.py'}:2 *" in lines
    assert lines[-1].startswith("missing names raise")


def test_names_that_raise_are_told_apart(tmp_path):
    (tmp_path / "program.py").write_text("from torch.export import draft_export\ndraft_export(None, ())\n")
    [use] = [one for one in examine([tmp_path / "program.py"])[0] if one.missing]
    assert (use.name, use.raises, use.stops) == ("torch.export.draft_export", True, False)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("torch.never_there", "the program stopped at torch.never_there, which is missing"),
        ("from torch.nn import never_there", "the program stopped at torch.nn.never_there, which is missing"),
        ("import torch.never.there", "the program stopped at torch.never, which is missing"),
        (
            "torch.export.draft_export(None, ())",
            "the program stopped at torch.export.draft_export, which is missing (programs are captured",
        ),
        ("raise AttributeError('another')", None),
        ("raise ImportError('another')", None),
        ("raise AttributeError(\"module 'torchvision' has no attribute 'never_there'\")", None),
    ],
)
def test_a_program_that_stops_at_a_name_says_so(code, line):
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch", "-c", f"import torch; {code}"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert last.startswith(f"mindtorch: {line}") if line else "mindtorch:" not in last


def test_the_npu_without_its_package_is_missing_and_says_what_brings_it(tmp_path):
    """The import system answers for an absent package as for a name that is bound to None."""
    (tmp_path / "program.py").write_text("import torch\nprint(torch.npu.is_available())\n")
    start = (
        "import sys; sys.modules['mindtorch_npu'] = None; from mindtorch.__main__ import main; sys.exit(main({0!r}))"
    )
    wanted = "torch.npu, which is missing (pip install 'mindtorch-full[npu]')"
    for words, text in (
        (["run", "program.py"], wanted),
        (["doctor", "program.py"], "(pip install 'mindtorch-full[npu]')"),
    ):
        command = [sys.executable, "-c", start.format(words)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert text in done.stdout + done.stderr
        assert "AttributeError: module 'torch' has no attribute 'npu'" in done.stderr or words[0] == "doctor"
