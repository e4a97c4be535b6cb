"""A stand-in for the package `mindtorch`, so that the proxy is tested alone, beside a real torch or without one."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

_STAND_IN = {
    "mindtorch/__init__.py": (
        "from mindtorch import nn\n__version__ = '2.13.0'\nclass Tensor:\n    __module__ = 'torch'\n"
    ),
    "mindtorch/__about__.py": "__version__ = '0.0'\n",
    "mindtorch/nn/__init__.py": "from mindtorch.nn.modules import Linear\n",
    "mindtorch/nn/functional.py": "def relu(x):\n    return max(x, 0)\n",
    "mindtorch/nn/modules/__init__.py": "from mindtorch.nn.modules.linear import Linear\n",
    "mindtorch/nn/modules/linear.py": "class Linear:\n    __module__ = 'torch.nn.modules.linear'\n",
    "mindtorch/lazy/__init__.py": "",
    "mindtorch/lazy/deep.py": "loads = globals().get('loads', 0) + 1\n",
    "mindtorch/needs.py": "import a_module_nobody_has\n",
    "mindtorch/circular.py": "import torch.circular\nseen = torch.circular\n",
    "mindtorch/program.py": "import sys\nprint(__name__, sys.argv[1:])\n",
}


def _concerns_torch(name: str) -> bool:
    return name.partition(".")[0] in ("torch", "mindtorch")


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A directory holding the stand-in package `mindtorch`."""
    root = tmp_path / "stand_in"
    for name, text in _STAND_IN.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.fixture
def clean_process(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """This process with no torch and no mindtorch imported, and the stand-in first on the path."""
    taken = {name: module for name, module in sys.modules.items() if _concerns_torch(name)}
    for name in taken:
        del sys.modules[name]
    monkeypatch.syspath_prepend(stand_in)
    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if not _concerns_torch(type(one).__module__)])
    try:
        yield stand_in
    finally:
        for name in [name for name in sys.modules if _concerns_torch(name)]:
            del sys.modules[name]
        sys.modules.update(taken)


RunPython = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_python(stand_in: Path, tmp_path: Path) -> RunPython:
    """Runs this Python in a new process with the stand-in and the proxy on the path, in ``tmp_path``."""

    def run(*arguments: str, path: tuple[Path, ...] = (), **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if name not in ("MINDTORCH", "PYTHONPATH")}
        environment["PYTHONPATH"] = os.pathsep.join(map(str, (stand_in, SOURCE, *path)))
        environment.update(variables)
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120
        )

    return run


@pytest.fixture
def fake_torch(tmp_path: Path) -> Path:
    """A directory with a package `torch` that is not MindTorch; stands for a real torch where none is installed."""
    package = tmp_path / "other" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from torch import nn\n__version__ = 'the other torch'\n")
    (package / "nn.py").write_text("")
    return package.parent
