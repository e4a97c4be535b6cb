"""What elastic agents tell one another by a store, beside torch's."""

import importlib
from multiprocessing.pool import ThreadPool

import pytest

pytest.importorskip("torch", reason="oracle")


def caught(action):
    try:
        return action()
    except RuntimeError as error:
        return type(error).__name__, str(error).split("\n")[0].split("Exception raised")[0]


def exchange(library):
    """What three ranks get, the keys that are left, and what two say of a third that does not come."""
    dist = importlib.import_module(f"{library}.distributed")
    tool = importlib.import_module(f"{library}.distributed.elastic.utils.store")
    store, left = dist.HashStore(), dist.HashStore()
    with ThreadPool(3) as pool:
        found = pool.map(
            lambda rank: tool.synchronize(store, b"of %d" % rank, rank, 3, "all", 20), range(3), chunksize=1
        )
        pool.map(lambda rank: tool.barrier(store, 3, "end", 20, rank), range(3), chunksize=1)

    left.set("gated/TRACING_GATE", "")
    said = [
        caught(lambda key=key, rank=rank: tool.barrier(left, 3, key, 0.2, rank, lambda one: f"host{one}", 0.1))
        for key, rank in (("late", 1), ("late", 0), ("gated", 1))
    ]
    said.append(caught(lambda: tool.barrier(left, 2, "nobody", 0.1)))
    return found, sorted(store.list_keys()), said, left.timeout


def test_exchange():
    ours, torchs = map(exchange, ("mindtorch", "torch"))
    assert ours == torchs
