"""The same program on torch and on MindTorch: same weight bits, gradients, training losses, generated tokens, files."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("transformers")

import torch

PROGRAM = Path(__file__).parent / "program.py"
MODELS = ("bert", "gpt2", "llama")


def _run(name: str, out: Path, *, ours: bool, load: Path | None = None) -> dict:
    launcher = ["-m", "mindtorch", "run"] if ours else []
    command = [sys.executable, *launcher, str(PROGRAM), name, str(out), *([str(load)] if load else [])]
    environment = {key: value for key, value in os.environ.items() if key != "MINDTORCH"}
    done = subprocess.run(command, capture_output=True, text=True, env={**environment, "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-3000:]
    return torch.load(out)


@pytest.fixture(scope="module", params=MODELS)
def both(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    theirs = _run(request.param, folder / "torch.pt", ours=False)
    return request.param, folder, _run(request.param, folder / "ours.pt", ours=True), theirs


def _relative(ours: torch.Tensor, theirs: torch.Tensor, floor: float = 0.0) -> float:
    scale = max(theirs.abs().max().item(), floor)
    return (ours - theirs).abs().max().item() / scale if scale else ours.abs().max().item()


@pytest.mark.slow
class TestSameProgram:
    def test_initial_weights_are_equal_bit_for_bit(self, both):
        _, _, ours, theirs = both
        assert list(ours["initial"]) == list(theirs["initial"])
        different = [
            name for name, weight in theirs["initial"].items() if not torch.equal(ours["initial"][name], weight)
        ]
        assert different == []

    def test_logits_and_loss(self, both):
        _, _, ours, theirs = both
        assert _relative(ours["logits"], theirs["logits"]) < 1e-5
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-5)

    def test_every_gradient(self, both):
        _, _, ours, theirs = both
        # A gradient that is zero in exact arithmetic (a key's bias) is rounding noise on both sides.
        floor = 1e-6 * max(gradient.abs().max().item() for gradient in theirs["gradients"].values())
        far = {
            name: difference
            for name, gradient in theirs["gradients"].items()
            if (difference := _relative(ours["gradients"][name], gradient, floor)) > 1e-5
        }
        assert far == {}

    def test_training_with_dropout_draws_the_same_numbers(self, both):
        _, _, ours, theirs = both
        assert ours["losses"] == pytest.approx(theirs["losses"], abs=1e-4)
        assert torch.equal(ours["rng"], theirs["rng"])

    def test_generation(self, both):
        name, _, ours, theirs = both
        if name == "bert":
            pytest.skip("BERT does not generate")
        assert list(ours["generated"]) == list(theirs["generated"])
        other = {
            way: (ours["generated"][way].tolist(), tokens.tolist())
            for way, tokens in theirs["generated"].items()
            if not torch.equal(ours["generated"][way], tokens)
        }
        assert other == {}

    def test_files_are_read_by_the_other_side(self, both, tmp_path):
        name, folder, ours, _ = both
        again = _run(name, tmp_path / "again.pt", ours=True, load=folder / "torch.pt")
        assert again["loss"] == pytest.approx(ours["loss"], rel=1e-6)
        assert ours["optimizer"]["param_groups"][0]["lr"] == 1e-3
