"""`mindtorch doctor` reads programs without running them and says what of torch is missing, and where."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch._doctor import examine, exists, report

PROGRAM = """\
import torch, torch.nn as nn
import torch.nn.functional as F
from torch import Tensor as T, no_such_thing
from torch.nn.quantized import Linear
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
        "torch.nn.quantized.Linear": ["4"],
        "torch.no_such_thing": ["3"],
    }
    found = {use.name for use in uses if not use.missing}
    assert found >= {"torch", "torch.nn.Module", "torch.nn.functional.relu", "torch.Tensor", "torch.float32.itemsize"}
    assert not any("perhaps" in use.name or "vision" in use.name or "anything" in use.name for use in uses)


def test_the_reason_comes_from_the_list_of_what_is_not_offered(program):
    uses, problems = examine([program])
    [use] = [use for use in uses if use.name == "torch.nn.quantized.Linear"]
    assert use.reason.startswith("quantized tensors are not offered")
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
