"""Graph modules, interpreters, transformers, rewriting and passes, the same as torch's."""

import copy
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mindtorch as mt
import mindtorch.fx
import mindtorch.fx.passes.shape_prop
import mindtorch.fx.passes.split_module

from .programs import play

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.fx", reason="oracle")
pytest.importorskip("torch.fx.passes.shape_prop", reason="oracle")
pytest.importorskip("torch.fx.passes.split_module", reason="oracle")

MADE = """
class Inner(nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.layers = nn.ModuleList([nn.Linear(2, 2), Inner()])
        self.seq = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Dropout(0.0))
        self.w = nn.Parameter(torch.ones(2))
        self.register_buffer("b", torch.zeros(2))
        self.c = torch.ones(2)
        self.unused = nn.Linear(5, 5)
    def forward(self, x, scale=2.0):
        for layer in self.layers:
            x = layer(x)
        return self.seq(self.inner(x) * self.w + self.b + self.c * scale + self.w.size(0))
class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = self.a
    def forward(self, x):
        return self.b(self.a(self.a(x)))
class Keep(fx.Tracer):
    def is_leaf_module(self, m, name):
        return isinstance(m, Inner) or super().is_leaf_module(m, name)
model = Model()
for number, p in enumerate(model.parameters()):
    p.data.fill_(0.1 * number + 0.1)
gm = fx.symbolic_trace(model)
x = torch.arange(4.).view(2, 2)
out = None
"""

CASES = Path(__file__).with_name("module_cases.txt").read_text().splitlines()


@pytest.mark.parametrize("case", CASES)
def test_module(case: str) -> None:
    """A call, or a few, on a traced module."""
    found = []
    for T, name in ((mt, "mindtorch"), (torch, "torch")):
        source = case.replace("{fx}", f"{name}.fx").replace("{tx}", name)
        if source.startswith("class "):
            source = source.replace(":     ", ":\n    ", 1).replace("; out =", "\nout =", 1)
        found.append(play(T, MADE + source))
    assert found[0] == found[1]


class Pair(mt.nn.Module):
    """A module to pickle."""

    def __init__(self) -> None:
        super().__init__()
        self.first = mt.nn.Linear(2, 2)
        self.register_buffer("b", mt.ones(2))

    def forward(self, x: mt.Tensor) -> mt.Tensor:
        return mt.relu(self.first(x)) + self.b


def test_saved_modules_come_back() -> None:
    """`torch.save` of a graph module keeps its code, tensors and name of class as torch does."""
    gm = mt.fx.symbolic_trace(Pair())
    stream = io.BytesIO()
    mt.save(gm, stream)
    stream.seek(0)
    loaded = mt.load(stream, weights_only=False)
    assert (loaded.code, type(loaded).__name__) == (gm.code, "GraphModule")
    x = mt.ones(3, 2)
    assert mt.equal(loaded(x), gm(x))
    assert copy.deepcopy(loaded).code == gm.code


def test_folders(tmp_path: Path) -> None:
    """The files of `to_folder` are torch's, and make the module again where `torch` is this library."""
    texts = []
    for name, T in (("ours", mt), ("theirs", torch)):
        T.manual_seed(0)
        gm = T.fx.symbolic_trace(T.nn.Sequential(T.nn.Linear(2, 3), T.nn.ReLU()))
        with pytest.warns(UserWarning, match="as pickled files instead"):
            gm.to_folder(tmp_path / name, "Made")
        assert sorted(os.listdir(tmp_path / name)) == ["1.pt", "__init__.py", "module.py", "state_dict.pt"]
        texts.append((tmp_path / name / "module.py").read_text().replace(str(tmp_path / name), "FOLDER"))
    assert texts[0] == texts[1]
    program = "import torch, ours; m = ours.Made(); print(m(torch.ones(1, 2)).shape, 'mindtorch' in torch.__file__)"
    command = [sys.executable, "-m", "mindtorch", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ})
    assert done.stdout.strip() == "torch.Size([1, 3]) True", done.stderr


def test_torch_reads_the_pickles_of_graph_modules(tmp_path: Path) -> None:
    """A file with a whole graph module goes both ways."""
    for writer, reader in ((mt, torch), (torch, mt)):
        gm = writer.fx.symbolic_trace(writer.nn.Sequential(writer.nn.Linear(2, 3), writer.nn.ReLU()))
        writer.save(gm, tmp_path / "gm.pt")
        loaded = reader.load(tmp_path / "gm.pt", weights_only=False)
        assert loaded.code == gm.code
        assert loaded(reader.ones(2)).tolist() == pytest.approx(gm(writer.ones(2)).tolist())


def test_pickled_under_the_proxy() -> None:
    """`pickle` of a graph module, in a program where `torch` is this library."""
    program = (
        "import torch, pickle\ngm = torch.fx.symbolic_trace(torch.nn.Linear(2, 2))\n"
        "print(pickle.loads(pickle.dumps(gm)).code == gm.code)"
    )
    command = [sys.executable, "-m", "mindtorch", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ})
    assert done.stdout.strip() == "True", done.stderr
