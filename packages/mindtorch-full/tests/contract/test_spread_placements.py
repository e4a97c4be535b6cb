"""Where results of ops that know of some dimensions alone lie, on a mesh of one process, beside torch's."""

import importlib

import pytest

pytest.importorskip("torch", reason="oracle")

OPS = {
    "cumsum": lambda T, a: a.cumsum(0),
    "cumsum last": lambda T, a: a.cumsum(1),
    "topk": lambda T, a: a.topk(2, -1)[0],
    "topk first": lambda T, a: a.topk(2, 0)[0],
    "sort": lambda T, a: a.sort(0)[0],
    "sort last": lambda T, a: a.sort()[0],
    "flip": lambda T, a: a.flip(0),
    "flip both": lambda T, a: a.flip(0, 1),
    "roll": lambda T, a: a.roll(1, 1),
    "stack": lambda T, a: T.stack([a, a]),
    "stack last": lambda T, a: T.stack([a, a], -1),
    "stack between": lambda T, a: T.stack([a, a], 1),
}


def placed(library, tmp_path):
    """Return the placements and values of all ops."""
    T = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    tensors = importlib.import_module(f"{library}.distributed.tensor")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/{library}", rank=0, world_size=1)
    mesh = dist.init_device_mesh("cpu", (1,))
    given = T.tensor([[3.0, 1.0, 2.0, 0.0], [7.0, 5.0, 4.0, 6.0], [9.0, 8.0, 11.0, 10.0]])
    found = {}
    for place in (tensors.Shard(0), tensors.Shard(1), tensors.Replicate()):
        spread = tensors.distribute_tensor(given, mesh, [place])
        for name, op in OPS.items():
            result = op(T, spread)
            found[f"{name} of {place!r}"] = repr(result.placements), result.full_tensor().tolist()
    dist.destroy_process_group()
    return found


def test_results_lie_where_torchs_do(tmp_path):
    ours, theirs = placed("mindtorch", tmp_path), placed("torch", tmp_path)
    assert {name: ours[name] for name in theirs} == theirs
