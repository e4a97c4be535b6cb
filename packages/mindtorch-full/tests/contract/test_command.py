"""The command `mindtorch`: programs run on MindTorch, beside torch or without it."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

REAL = importlib.util.find_spec("torch") is not None

PROGRAM = """
import sys
import torch
from importlib.metadata import version

class Mine(torch.nn.Module):
    pass

print(torch.__name__, torch.__path__[0][-9:], version("torch"))
print(__name__, sys.argv[1:], isinstance(torch.ones(1), torch.Tensor))
print(Mine.__mro__[1].__module__, type(torch.ones(1)), torch.float32)
"""


@pytest.fixture
def command(tmp_path):
    """Runs `python -m mindtorch` in ``tmp_path``, where `program.py` is."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in ("MINDTORCH", "PYTHONPATH")}
        environment |= {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", **variables}
        return subprocess.run(
            [sys.executable, "-m", "mindtorch", *arguments],
            capture_output=True,
            text=True,
            env=environment,
            cwd=tmp_path,
            timeout=300,
        )

    return run


EXPECTED = (
    "torch mindtorch 2.13.0\n__main__ ['a', '--b'] True\ntorch.nn.modules.module <class 'torch.Tensor'> torch.float32\n"
)


@pytest.mark.parametrize(
    "arguments", [["program.py"], ["run", "program.py"], ["-m", "program"], ["run", "-m", "program"], ["-c", PROGRAM]]
)
def test_run(arguments, command):
    result = command(*arguments, "a", "--b")
    assert (result.returncode, result.stdout) == (0, EXPECTED), result.stderr


@pytest.mark.skipif(not REAL, reason="oracle")
@pytest.mark.parametrize("mode", ["0", "auto"])
def test_run_on_the_real_torch(mode, command):
    result = command("-c", "import torch; print(torch.__path__[0].rpartition('/')[2])", MINDTORCH=mode)
    assert result.stdout == "torch\n", result.stderr


@pytest.mark.skipif(REAL, reason="a real torch is installed")
def test_auto_without_a_real_torch(command):
    result = command("-c", "import torch; print(torch.__path__[0].rpartition('/')[2])", MINDTORCH="auto")
    assert result.stdout == "mindtorch\n", result.stderr


def test_exit_status_and_traceback_are_the_programs(command, tmp_path):
    assert command("-c", "raise SystemExit(7)").returncode == 7
    result = command("-c", "import torch\ntorch.nothing")
    assert result.returncode == 1
    first, *_, last, told = result.stderr.splitlines()
    assert (first, last) == (
        "Traceback (most recent call last):",
        "AttributeError: module 'torch' has no attribute 'nothing'",
    )
    assert told.startswith("mindtorch: the program stopped at torch.nothing, which is missing; ")
    assert "mindtorch_proxy" not in result.stderr
    missing = command("-c", "import torch.nothing")
    assert missing.stderr.splitlines()[-2] == "ModuleNotFoundError: No module named 'torch.nothing'"


def test_child_processes(command, tmp_path):
    code = (
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import torch; print(torch.__path__[0][-9:])'])"
    )
    assert command("-c", code).stdout == "mindtorch\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "a program is missing"),
        (["run"], "a program is missing"),
        (["-m"], "-m needs an argument"),
        (["run", "--bad", "x"], "unknown option --bad"),
        (["env", "more"], "env takes --json only"),
    ],
)
def test_wrong_command_line(arguments, text, command):
    result = command(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"mindtorch: {text}; see `mindtorch --help`\n"


def test_wrong_mode(command):
    result = command("program.py", MINDTORCH="maybe")
    assert result.returncode == 2
    assert "MINDTORCH must be 1, 0 or auto, got 'maybe'" in result.stderr


def test_version_help_and_environment(command):
    assert command("--version").stdout.startswith("mindtorch 0.")
    assert "MINDTORCH=0" in command("--help").stdout
    for name in ("run", "env", "doctor", "view"):
        assert "MINDTORCH=0" in command(name, "--help").stdout
    report = json.loads(command("env", "--json").stdout)
    assert report["torch_interface"] == "2.13.0"
    assert set(report["backends"]) == {"cpu", "npu"}
    assert (report["real_torch"] is not None) == REAL
    text = command("env").stdout
    for name in report["mindtorch"]:
        assert f"{name}:" in text
