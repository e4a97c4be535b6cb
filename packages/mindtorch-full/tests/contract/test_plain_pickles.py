"""Python's own pickles: torch reads ours and we read torch's, and without the proxy they go through as well."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch import nn

torch = pytest.importorskip("torch", reason="oracle")

OBJECTS = """
import os, pickle, sys, warnings
warnings.simplefilter("ignore")
if sys.argv[1] == "ours":
    import mindtorch_proxy
    mindtorch_proxy.install()
import torch
from torch import nn

def objects():
    torch.manual_seed(0)
    x = torch.arange(6.0).reshape(2, 3)
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.LSTM(3, 2))
    optimizer = torch.optim.AdamW(model.parameters())
    hook = nn.TransformerEncoderLayer(4, 2)
    return [
        x, x.t(), x[:, 1:], x.bfloat16(), x.long(), x.to_sparse(), torch.empty(2, device="meta"), nn.Parameter(x),
        [x[0], x], x.storage(), torch.Size([2]), torch.float16, torch.device("cpu"), torch.strided, torch.per_tensor_affine,
        x.max(0), model, optimizer, hook, torch.distributions.Normal(0.0, 1.0), torch.Generator().manual_seed(3),
        torch.utils.data.TensorDataset(x), torch.utils.data.DataLoader(x), nn.utils.rnn.pack_sequence([x, x[:1]]),
        torch.optim.lr_scheduler.StepLR(optimizer, 2), torch.add, nn.functional.relu, torch.no_grad(), nn.Linear,
        torch.OutOfMemoryError("x"), torch.linalg.LinAlgError("y"), torch.amp.GradScaler("cpu"),
    ]

def shown(one):
    if isinstance(one, nn.Module):
        return repr(one), {name: value.tolist() for name, value in one.state_dict().items()}
    if isinstance(one, torch.Generator):
        return torch.rand(2, generator=one).tolist()
    if isinstance(one, (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler)):
        return type(one).__name__, sorted(one.state_dict())
    if isinstance(one, torch.utils.data.Dataset):
        return str(one[1])
    if isinstance(one, torch.utils.data.DataLoader):
        return str(list(one))
    if callable(one) and not isinstance(one, type):
        return getattr(one, "__name__", type(one).__name__)
    return f"{type(one).__name__}: {one}" if type(one).__repr__ is not object.__repr__ else type(one).__name__

folder, side = sys.argv[2], sys.argv[1]
with open(f"{folder}/{side}", "wb") as file:
    pickle.dump([pickle.dumps(one, protocol) for one in objects() for protocol in (2, 5)], file)
os.rename(f"{folder}/{side}", f"{folder}/{side}.pkl")
input()  # until the other library has written, too
for writer in ("torch", "ours"):
    with open(f"{folder}/{writer}.pkl", "rb") as file:
        for one in pickle.load(file):
            print(writer, shown(pickle.loads(one)))
"""


def test_both_libraries_read_both_pickles(tmp_path: Path) -> None:
    children = {
        side: subprocess.Popen(
            [sys.executable, "-c", OBJECTS, side, str(tmp_path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for side in ("torch", "ours")
    }  # fmt: skip
    deadline = time.monotonic() + 200
    while not all((tmp_path / f"{side}.pkl").exists() for side in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    answers = {side: child.communicate("\n", timeout=200) for side, child in children.items()}
    for side, (_, errors) in answers.items():
        assert children[side].returncode == 0, errors[-3000:]
    lines = answers["torch"][0].splitlines()
    assert lines == answers["ours"][0].splitlines()
    by_torch, by_us = (
        [line.partition(" ")[2] for line in lines if line.startswith(side)] for side in ("torch", "ours")
    )
    assert len(by_torch) >= 64
    assert by_torch == by_us


INSTANCES: list[Any] = [
    lambda: nn.Linear(2, 2), lambda: nn.Sequential(nn.LSTM(2, 2), nn.GELU()),
    lambda: mt.optim.SGD([mt.ones(2, requires_grad=True)], 0.1), lambda: mt.distributions.Normal(0.0, 1.0),
    lambda: mt.utils.data.TensorDataset(mt.ones(2)), lambda: nn.utils.rnn.pack_sequence([mt.ones(2)]),
    lambda: mt.ones(2).to_sparse(), lambda: mt.Generator().manual_seed(1), lambda: mt.ones(2).storage(),
    lambda: mt.optim.lr_scheduler.StepLR(mt.optim.SGD([mt.ones(1, requires_grad=True)], 0.1), 1),
]  # fmt: skip


@pytest.mark.parametrize("make", INSTANCES)
def test_instances_without_the_proxy(make: Any) -> None:
    """Their classes say `torch`, a module that is another library in this process."""
    made = make()
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)


def test_what_is_shared_stays_shared_without_the_proxy() -> None:
    layer = nn.Linear(2, 2)
    optimizer = mt.optim.Adam(layer.parameters())
    layer(mt.ones(2)).sum().backward()
    optimizer.step()
    again, its_optimizer = pickle.loads(pickle.dumps((layer, optimizer)))
    assert its_optimizer.param_groups[0]["params"][0] is again.weight
    assert again.weight.tolist() == layer.weight.tolist()
    again.weight.grad = mt.ones(2, 2)
    its_optimizer.step()
    assert again.weight.tolist() != layer.weight.tolist()


class _Own(nn.Linear):
    def __init__(self) -> None:
        super().__init__(1, 1)
        self.note = "kept"


def test_subclasses_of_programs_keep_their_own_name() -> None:
    again = pickle.loads(pickle.dumps(_Own()))
    assert type(again) is _Own
    assert again.note == "kept"
