"""Pages that the library's commands write, made when the site is built: a trace and a memory snapshot to look at."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SIMULATOR = "Ascend910B3:1,memory=1GiB"
TRACE = """
import torch
from torch.profiler import ProfilerActivity, profile, record_function

model = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(8, 32, 64)


def step():
    with record_function("forward"):
        loss = model(batch).square().mean()
    with record_function("backward"):
        loss.backward()
    with record_function("optimizer"):
        optimizer.step()
        optimizer.zero_grad()


step()
with profile(activities=[ProfilerActivity.CPU]) as seen:
    step()
    step()
seen.export_chrome_trace("trace.json")
"""


def pages(guide: str) -> dict[str, str]:
    """Return the pages by their paths; the snapshot is of the program that `guide` shows."""
    grows = guide.split('```python title="grows.py"\n')[1].split("```")[0]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "step.py").write_text(TRACE)
        (folder / "grows.py").write_text(grows)
        _run(folder, "mindtorch", "step.py")
        _run(folder, "mindtorch", "view", "trace.json", "-o", "trace.html")
        _run(folder, "mindtorch", "grows.py")
        _run(folder, "mindtorch_npu", "snapshot", "view", "snapshot.pickle", "-o", "snapshot.html")
        return {f"pictures/{one}.html": (folder / f"{one}.html").read_text() for one in ("trace", "snapshot")}


def _run(folder: Path, module: str, *arguments: str) -> None:
    environment = {**os.environ, "MINDTORCH_NPU_SIMULATOR": SIMULATOR}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
