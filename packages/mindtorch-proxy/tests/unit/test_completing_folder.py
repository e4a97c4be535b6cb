"""Modules of torch that MindTorch lacks come from the folders of `MINDTORCH_TORCH_PATH`, under their own names."""

import os
import subprocess
import sys
import textwrap

PROGRAM = """
import mindtorch_proxy
mindtorch_proxy.install()
import torch.completed.inner as inner
import torch.completed
print(inner.NAME, torch.completed.__name__, torch.completed.inner is inner, torch.nn.__name__)
try:
    import torch.completed.nowhere
except ModuleNotFoundError as error:
    print(error)
try:
    import torch.not_there
except ModuleNotFoundError as error:
    print(error)
"""


def test_a_package_of_the_folder_is_found_below_torch(tmp_path):
    package = tmp_path / "torch" / "completed"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("NAME = __name__\n")
    (tmp_path / "torch" / "nn").mkdir()
    (tmp_path / "torch" / "nn" / "__init__.py").write_text("raise RuntimeError('MindTorch has this module')\n")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM)],
        env={**os.environ, "MINDTORCH_TORCH_PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "torch.completed.inner torch.completed True torch.nn",
        "No module named 'torch.completed.nowhere'",
        "No module named 'torch.not_there'",
    ]
