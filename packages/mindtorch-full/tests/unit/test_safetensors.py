"""The safetensors package over our tensors, with torch being us."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("safetensors")

SCRIPT = """
import sys
import torch
from safetensors import safe_open
from safetensors.torch import load, load_file, save, save_file

assert "mindtorch" in torch.__file__
path = sys.argv[1]
data = {
    "matrix": torch.arange(6.0).reshape(2, 3), "empty": torch.zeros(0), "bf16": torch.ones(2, dtype=torch.bfloat16),
    "half": torch.ones(3, dtype=torch.float16), "ints": torch.arange(3), "mask": torch.tensor([True, False]),
}
save_file(data, path)
for loaded in (load_file(path), load(save(data)), torch.load(path)):
    for name, value in data.items():
        assert loaded[name].dtype == value.dtype and loaded[name].tolist() == value.tolist(), name
with safe_open(path, "pt") as file:
    assert file.get_slice("matrix")[:, 1:].tolist() == [[1, 2], [4, 5]]
    assert file.get_tensor("bf16").tolist() == [1, 1]
loaded = load_file(path)
loaded["matrix"][0, 0] = 9
assert load_file(path)["matrix"][0, 0] == 0, "the mapping is private"
shared = torch.zeros(4)
try:
    save_file({"a": shared, "b": shared[:2]}, path)
except RuntimeError as error:
    assert "share memory" in str(error), error
else:
    raise AssertionError("shared memory went unnoticed")
print("fine")
"""


def test_safetensors_under_the_proxy(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, "-m", "mindtorch", "run", str(script), str(tmp_path / "data.safetensors")],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("fine\n")
