"""Collectives over a store, groups written in Python, and a world for every thread, beside torch."""

import importlib
import re
import threading
from datetime import timedelta
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="oracle")
LIBRARIES = ("mindtorch", "torch")
SHORT = timedelta(milliseconds=200)
TABLES = "pg_map pg_names pg_group_ranks pg_backend_config tags_to_pg pg_to_tag pg_coalesce_state".split()


def said(action):
    """What an action returns, or the first line of what it raises without the place in torch's sources."""
    try:
        return action()
    except (RuntimeError, TypeError) as error:
        text = re.sub(r'.*INTERNAL ASSERT FAILED at "[^"]*":\d+, please report a bug to PyTorch\. ', "", str(error))
        return type(error).__name__, text.split("\n")[0]


def alone(library):
    """What one of two ranks says whose other one never comes."""
    dist = importlib.import_module(f"{library}.distributed")
    store = dist.HashStore()
    one = dist._StoreCollectives(store, 0, 2)
    return [
        said(action)
        for action in (
            lambda: one.barrier("barrier", SHORT, True),
            lambda: one.barrier("barrier", SHORT, True),
            lambda: one.barrier("passing", SHORT, False),
            lambda: one.gather_send("sent", "x", SHORT),
            lambda: one.gather_recv("gathered", "x", SHORT),
            lambda: one.all_gather("all", b"x", SHORT),
            lambda: one.all_sum("sum", 1, SHORT),
            lambda: one.scatter_send("scattered", ["a", "b"], SHORT),
            lambda: one.scatter_recv("missed", SHORT),
            lambda: one.broadcast_send("told", "v", SHORT),
            lambda: one.broadcast_recv("not told", SHORT),
            dist._ControlCollectives,
        )
    ]


def together(library):
    """What three threads get from one another."""
    dist = importlib.import_module(f"{library}.distributed")
    store = dist.HashStore()

    def rank(number):
        own = dist._StoreCollectives(store, number, 3)
        own.barrier("start")
        found = [own.all_sum("sum", number + 1), own.all_gather("all", str(number))]
        found.append(own.gather_recv("one", "1") if number == 1 else own.gather_send("one", str(number)))
        found.append(own.scatter_send("parts", ["a", "b", "c"]) if number == 2 else own.scatter_recv("parts"))
        found.append(own.broadcast_send("word", "x") if number == 0 else own.broadcast_recv("word"))
        return found

    with ThreadPool(3) as pool:
        return pool.map(rank, range(3))


@pytest.mark.parametrize("program", [alone, together])
def test_collectives_over_a_store(program):
    ours, torchs = map(program, LIBRARIES)
    assert ours == torchs


def futures(library):
    torch = importlib.import_module(library)
    make = importlib.import_module(f"{library}._C._distributed_c10d")._create_work_from_future
    good, later = torch.futures.Future(), torch.futures.Future()
    good.set_result([torch.ones(2)])
    waited = threading.Timer(0.05, lambda: later.set_result(torch.zeros(1)))
    works = [make(future) for future in (good, later)]
    before = [work.is_completed() for work in works]
    waited.start()
    found = [works[0].wait(), works[1].wait(), works[0].get_future().wait()[0].tolist()]
    return before, found


def test_works_of_futures():
    ours, torchs = map(futures, LIBRARIES)
    assert ours == torchs


def worlds(library):
    """Groups of two threads, each with a world and names of its own."""
    torch = importlib.import_module(library)
    dist = importlib.import_module(f"{library}.distributed")
    c10d = dist.distributed_c10d
    inner = importlib.import_module(f"{library}._C._distributed_c10d")
    of_process, own = c10d._world, threading.local()

    class Worlds:
        def __getattr__(self, name):
            if not hasattr(own, "world"):
                own.world = SimpleNamespace(default_pg=None, group_count=0, comms=[], **{table: {} for table in TABLES})
            return getattr(own.world, name)

        def __setattr__(self, name, value):
            self.__getattr__(name)  # makes the world of the thread
            setattr(own.world, name, value)

    def rank(number):
        dist.init_process_group("fake", rank=number, world_size=2, store=dist.HashStore())
        pair = dist.new_group([0, 1])
        found = [dist.get_rank(), dist.get_world_size(), len(c10d._world.pg_map)]
        same = inner._resolve_process_group(pair.group_name) is pair
        dist.destroy_process_group()
        return [*found, same, dist.is_initialized()]

    inner._set_thread_isolation_mode(True)
    c10d._world = Worlds()
    try:
        with ThreadPool(2) as pool:
            found = pool.map(rank, [0, 1], chunksize=1)
    finally:
        c10d._world = of_process
        inner._set_thread_isolation_mode(False)
    assert c10d._world is of_process
    return found, dist.is_initialized(), torch.ones(1).item()


def test_every_thread_has_a_world(monkeypatch):
    importlib.import_module("torch.testing._internal.distributed.fake_pg")  # torch's backend `fake` is registered there
    ours, torchs = map(worlds, LIBRARIES)
    assert ours == torchs
