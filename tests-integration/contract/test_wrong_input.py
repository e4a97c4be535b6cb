"""Wrong input of every kind gives torch's error: class and text."""

import pytest

import mindtorch
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

CASES = {
    "missing function": lambda t: t.no_such_function(1),
    "missing method": lambda t: t.ones(2).no_such_method(),
    "missing module attribute": lambda t: t.nn.functional.no_such_function(1),
    "wrong dtype": lambda t: t.nn.functional.gelu(t.ones(2, dtype=t.int64)),
    "two dtypes in a product": lambda t: t.ones(2, 2) @ t.ones(2, 2, dtype=t.float64),
    "bool subtraction": lambda t: t.tensor([True]) - t.tensor([False]),
    "in-place result type": lambda t: t.ones(2, dtype=t.int64).add_(0.5),
    "shapes that do not broadcast": lambda t: t.ones(3) + t.ones(4),
    "shapes that do not multiply": lambda t: t.ones(2, 3) @ t.ones(2, 3),
    "view of a wrong size": lambda t: t.ones(6).view(4, 2),
    "view across strides": lambda t: t.ones(4, 5).t().view(20),
    "dim out of range": lambda t: t.ones(2, 3).sum(2),
    "dim given twice": lambda t: t.ones(2, 3).sum((0, 0)),
    "index out of range": lambda t: t.ones(3)[3],
    "too many indices": lambda t: t.ones(3)[0, 0],
    "index of a wrong dtype": lambda t: t.ones(3)[t.tensor([0.5])],
    "argument of a wrong type": lambda t: t.ones(2).sum(dim="x"),
    "argument too many": lambda t: t.ones(2).exp(1),
    "argument missing": lambda t: t.mm(t.ones(2, 2)),
    "unknown keyword": lambda t: t.sum(t.ones(2), wrong=1),
    "no overload": lambda t: t.add("a", 1),
    "unknown device": lambda t: t.ones(2, device="gpu"),
    "device of another build": lambda t: t.ones(2).cuda(),
    "device index": lambda t: t.device("cpu:x"),
    "negative size": lambda t: t.empty(2, -3),
    "ragged data": lambda t: t.tensor([[1, 2], [3]]),
    "not a number": lambda t: t.tensor("abc"),
    "item of many": lambda t: t.ones(3).item(),
    "truth of many": lambda t: bool(t.ones(3)),
    "data of meta": lambda t: t.ones(2, device="meta").tolist(),
    "grad of integers": lambda t: t.ones(2, dtype=t.int64, requires_grad=True),
    "in place on a leaf": lambda t: t.ones(2, requires_grad=True).add_(1),
    "backward of many": lambda t: (t.ones(2, requires_grad=True) * 2).backward(),
    "backward without graph": lambda t: t.ones(1).backward(),
    "numpy of a tracked tensor": lambda t: t.ones(2, requires_grad=True).numpy(),
    "module without forward": lambda t: t.nn.Module()(1),
    "linear of a wrong width": lambda t: t.nn.Linear(3, 2)(t.ones(1, 4)),
    "embedding of floats": lambda t: t.nn.Embedding(3, 2)(t.ones(1)),
    "embedding out of range": lambda t: t.nn.Embedding(3, 2)(t.tensor([3])),
    "target out of range": lambda t: t.nn.functional.cross_entropy(t.ones(1, 3), t.tensor([3])),
    "state of another module": lambda t: t.nn.Linear(3, 2).load_state_dict({"weight": t.ones(2, 2)}),
    "optimizer without parameters": lambda t: t.optim.AdamW([]),
    "learning rate below zero": lambda t: t.optim.AdamW([t.nn.Parameter(t.ones(1))], lr=-1.0),
    "seed too large": lambda t: t.manual_seed(2**64),
    "generator state of a wrong size": lambda t: t.set_rng_state(t.zeros(3, dtype=t.uint8)),
}


@pytest.mark.parametrize("case", CASES)
def test_error_is_torchs(case):
    assert_torch_error(lambda: CASES[case](mindtorch), lambda: CASES[case](torch))


@pytest.mark.parametrize("damage", ["empty", "text", "cut", "no pickle"])
def test_corrupt_checkpoint(tmp_path, damage):
    path = tmp_path / "model.pt"
    torch.save({"weight": torch.ones(64)}, path)
    whole = path.read_bytes()
    path.write_bytes(
        {"empty": b"", "text": b"not a checkpoint\n", "cut": whole[: len(whole) // 2], "no pickle": whole[:30]}[damage]
    )
    assert_torch_error(lambda: mindtorch.load(path), lambda: torch.load(path))
