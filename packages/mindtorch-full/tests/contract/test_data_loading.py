"""Datasets, samplers, collation and the loader give what torch's give, worker processes included."""

from __future__ import annotations

import collections
import os
import random
import re
import time
import warnings

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")
__import__("torch.utils.data.distributed")

Named = collections.namedtuple("Named", "a b")


def _plain(value):
    """A value as what both libraries share; tensors as dtype and content."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return type(value).__name__, {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [_plain(inner) for inner in value]
    return value


def _outcome(lib, call):
    lib.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = _plain(call(lib))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            result = f"{type(error).__name__}: {error}"
    texts = [(w.category.__name__, re.sub(r"0x[0-9a-f]+", "0x", str(w.message))) for w in caught]
    return re.sub(r"0x[0-9a-f]+", "0x", result) if isinstance(result, str) else result, texts


def _rows(lib, count=10):
    class Rows(lib.utils.data.Dataset):
        def __len__(self):
            return count

        def __getitem__(self, index):
            return lib.tensor(index), str(index)

    return Rows()


def _stream(lib, count=7, length=None):
    class Stream(lib.utils.data.IterableDataset):
        def __iter__(self):
            info = lib.utils.data.get_worker_info()
            numbers = range(count) if info is None else range(info.id, count, info.num_workers)
            return iter([float(number) for number in numbers])

    if length is not None:
        Stream.__len__ = lambda self: length
    return Stream()


def _load(lib, dataset, *args, **kwargs):
    return list(lib.utils.data.DataLoader(dataset, *args, **kwargs))


def _data(name, *args, **kwargs):
    return lambda lib: getattr(lib.utils.data, name)(*args, **kwargs)


def _generator(lib, seed=7):
    return lib.Generator().manual_seed(seed)


def _distributed(*args, **kwargs):
    return lambda lib: list(lib.utils.data.distributed.DistributedSampler(*args, **kwargs))


CALLS = {
    "dataset": lambda lib: lib.utils.data.Dataset()[0],
    "sum": lambda lib: len(_rows(lib) + _rows(lib, 3)),
    "chained": lambda lib: list(_stream(lib, 2) + _stream(lib, 3)),
    "tensors": lambda lib: lib.utils.data.TensorDataset(lib.ones(3, 2), lib.zeros(3))[1],
    "tensors mismatch": lambda lib: lib.utils.data.TensorDataset(lib.ones(3), lib.ones(2)),
    "concat": lambda lib: [lib.utils.data.ConcatDataset([_rows(lib, 2), _rows(lib, 3)])[i] for i in (3, -1)],
    "concat empty": _data("ConcatDataset", []),
    "concat stream": lambda lib: lib.utils.data.ConcatDataset([_stream(lib)]),
    "concat range": lambda lib: lib.utils.data.ConcatDataset([_rows(lib, 2)])[-5],
    "concat old": lambda lib: lib.utils.data.ConcatDataset([_rows(lib, 2)]).cummulative_sizes,
    "chain refused": lambda lib: list(lib.utils.data.ChainDataset([_rows(lib)])),
    "subset": lambda lib: lib.utils.data.Subset(_rows(lib), [3, 4]).__getitems__([0, 1]),
    "stack": lambda lib: lib.utils.data.StackDataset(a=_rows(lib, 3), b=range(3))[1],
    "stack mismatch": lambda lib: lib.utils.data.StackDataset(_rows(lib, 3), _rows(lib, 2)),
    "stack both": lambda lib: lib.utils.data.StackDataset(_rows(lib, 2), a=_rows(lib, 2)),
    "stack none": _data("StackDataset"),
    "split": lambda lib: [part.indices for part in lib.utils.data.random_split(range(10), [3, 7])],
    "split fractions": lambda lib: [
        part.indices for part in lib.utils.data.random_split(range(10), [0.33, 0.33, 0.34], _generator(lib))
    ],
    "split wrong": _data("random_split", range(10), [3, 3]),
    "split outside": _data("random_split", range(10), [1.5, -0.5]),
    "split empty": lambda lib: [len(p) for p in lib.utils.data.random_split(range(2), [0.1, 0.1, 0.8])],
    "random": lambda lib: [*lib.utils.data.RandomSampler(range(10)), lib.rand(1).item()],
    "random generator": lambda lib: list(lib.utils.data.RandomSampler(range(10), generator=_generator(lib))),
    "random again": lambda lib: list(lib.utils.data.RandomSampler(range(10), True, 70, _generator(lib))),
    "random wrapped": lambda lib: list(lib.utils.data.RandomSampler(range(4), num_samples=10)),
    "random replacement": _data("RandomSampler", range(4), replacement=3),
    "random none": _data("RandomSampler", []),
    "subset random": lambda lib: list(lib.utils.data.SubsetRandomSampler([3, 4, 5, 6])),
    "weighted": lambda lib: list(lib.utils.data.WeightedRandomSampler([0.1, 0.9, 0.5], 6)),
    "weighted once": lambda lib: list(lib.utils.data.WeightedRandomSampler([0.1, 0.9, 0.5], 2, False)),
    "weighted none": _data("WeightedRandomSampler", [0.1], 0),
    "weighted matrix": _data("WeightedRandomSampler", [[0.1]], 1),
    "batches": lambda lib: [
        [*list(lib.utils.data.BatchSampler(range(7), 3, drop)), len(lib.utils.data.BatchSampler(range(7), 3, drop))]
        for drop in (False, True)
    ],
    "batches none": _data("BatchSampler", range(7), 0, False),
    "batches drop": _data("BatchSampler", range(7), 3, 1),
    "distributed": _distributed(range(10), 3, 1, seed=5),
    "distributed in order": _distributed(range(10), 3, 1, shuffle=False),
    "distributed dropping": _distributed(range(10), 3, 2, drop_last=True),
    "distributed tiny": _distributed(range(2), 5, 4),
    "distributed rank": _distributed(range(3), 2, 5),
    "load": lambda lib: _load(lib, _rows(lib, 5), 2),
    "load shuffled": lambda lib: [_load(lib, _rows(lib, 6), 4, shuffle=True), lib.rand(1).item()],
    "load dropping": lambda lib: _load(lib, _rows(lib, 5), 2, drop_last=True),
    "load single": lambda lib: _load(lib, _rows(lib, 3), None),
    "load stream": lambda lib: _load(lib, _stream(lib), 3),
    "load stream dropping": lambda lib: _load(lib, _stream(lib), 3, drop_last=True),
    "load stream single": lambda lib: _load(lib, _stream(lib, 3), None),
    "load sampler": lambda lib: _load(lib, _rows(lib, 5), 2, sampler=[4, 3]),
    "load batch sampler": lambda lib: _load(lib, _rows(lib, 5), batch_sampler=[[1, 2], [3]]),
    "load collate": lambda lib: _load(lib, _rows(lib, 4), 2, collate_fn=lambda batch: [x[1] for x in batch]),
    "load generator": lambda lib: [b[1] for b in _load(lib, _rows(lib, 6), 6, shuffle=True, generator=_generator(lib))],
    "load pinned": lambda lib: _load(lib, [1, 2], 2, pin_memory=True),
    "lengths": lambda lib: [
        len(lib.utils.data.DataLoader(_stream(lib, 7, 3), 2, drop_last=drop)) for drop in (False, True)
    ],
    "many workers": lambda lib: lib.utils.data.DataLoader(_rows(lib), num_workers=999) and None,
    "stream shuffled": lambda lib: lib.utils.data.DataLoader(_stream(lib), shuffle=True),
    "stream sampler": lambda lib: lib.utils.data.DataLoader(_stream(lib), sampler=[1]),
    "set later": lambda lib: setattr(lib.utils.data.DataLoader(_rows(lib)), "batch_size", 3),
}
BAD_OPTIONS = [
    {"num_workers": -1},
    {"timeout": -1},
    {"prefetch_factor": 2},
    {"persistent_workers": True},
    {"sampler": [1], "shuffle": True},
    {"batch_sampler": [[1]], "batch_size": 2},
    {"batch_size": None, "drop_last": True},
    {"batch_size": 0},
    {"num_workers": 1, "prefetch_factor": -1},
    {"multiprocessing_context": "spawn"},
    {"num_workers": 1, "multiprocessing_context": "foo"},
    {"num_workers": 1, "multiprocessing_context": 3},
]
for number, options in enumerate(BAD_OPTIONS):
    CALLS[f"option {number}"] = lambda lib, options=options: lib.utils.data.DataLoader(_rows(lib), **options) and None


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert _outcome(mt, CALLS[name]) == _outcome(torch, CALLS[name])


def test_too_long_stream_is_reported():
    def call(lib):
        loader = lib.utils.data.DataLoader(_stream(lib, 7, 3), 2)
        len(loader)
        return len(list(loader))

    assert _outcome(mt, call)[0] == _outcome(torch, call)[0]
    assert len(_outcome(mt, call)[1]) == 1


BATCHES = [
    [1, 2],
    [1.5, 2],
    [True, False],
    ["a", "b"],
    [b"a", b"b"],
    [np.ones(2), np.zeros(2)],
    [np.float32(1), np.float32(2)],
    [np.array(3), np.array(4)],
    [{"a": 1, "b": [1, 2]}, {"a": 2, "b": [3, 4]}],
    [(1, "a"), (2, "b")],
    [[1, 2], [3, 4]],
    [Named(1, 2.0), Named(3, 4.0)],
    [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
    [None, None],
    [object(), object()],
    [np.array(["a"]), np.array(["b"])],
    [[1, 2], [3]],
    [range(2), range(2)],
    [{"a": 1}, {"b": 1}],
]
SINGLES = [1, "a", np.ones(2), [np.ones(1), "x"], {"a": np.zeros(1)}, Named(np.ones(1), 2), (1, np.ones(1)), None]


@pytest.mark.parametrize("index", range(len(BATCHES)))
def test_collate(index):
    call = lambda lib: lib.utils.data.default_collate(BATCHES[index])  # noqa: E731
    assert _outcome(mt, call) == _outcome(torch, call)


@pytest.mark.parametrize("make", ["eye(2).to_sparse()", "nested.nested_tensor([lib.ones(2)])"])
@pytest.mark.filterwarnings("ignore:.*prototype stage", "ignore:.*beta state")
def test_collate_refuses(make):
    call = lambda lib: lib.utils.data.default_collate([eval(f"lib.{make}", {"lib": lib})] * 2)  # noqa: E731
    assert _outcome(mt, call)[0] == _outcome(torch, call)[0]  # warnings of making them are another matter


@pytest.mark.parametrize("index", range(len(SINGLES)))
def test_convert(index):
    call = lambda lib: lib.utils.data.default_convert(SINGLES[index])  # noqa: E731
    assert _outcome(mt, call) == _outcome(torch, call)


class Items(mt.utils.data.Dataset):
    """Items whose kind is chosen; at module level, so that any start method can send it."""

    def __init__(self, kind, count=7):
        self.kind = kind
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if self.kind == "fails" and index == 3:
            raise ValueError("bad item")
        if self.kind == "dies":
            os._exit(3)
        if self.kind == "sleeps":
            time.sleep(30)
        if self.kind == "streams":
            info = mt.utils.data.get_worker_info()
            return info.id, info.seed - info.id, mt.rand(1).item(), random.random(), float(np.random.rand())
        if self.kind == "float16":
            return mt.tensor([index, index + 1], dtype=mt.float16)
        if self.kind == "empty":
            return mt.zeros(0, 3)
        return mt.tensor(index)


class Numbers(mt.utils.data.IterableDataset):
    """A stream that workers share."""

    def __iter__(self):
        info = mt.utils.data.get_worker_info()
        return iter(range(info.id, 7, info.num_workers))


def _lists(batches):
    return [batch.tolist() for batch in batches]


def test_workers_give_the_same_batches_in_order():
    assert _lists(_load(mt, Items("plain"), 2, num_workers=2)) == [[0, 1], [2, 3], [4, 5], [6]]
    assert _lists(_load(mt, Numbers(), 2, num_workers=2)) == [[0, 2], [1, 3], [4, 6], [5]]
    unordered = _lists(_load(mt, Items("plain"), 2, num_workers=2, in_order=False))
    assert sorted(unordered) == [[0, 1], [2, 3], [4, 5], [6]]


@pytest.mark.parametrize("kind", ["float16", "empty"])
def test_tensors_cross_whole(kind):
    here, there = _load(mt, Items(kind, 4), 2), _load(mt, Items(kind, 4), 2, num_workers=1)
    assert [(b.dtype, b.shape, b.tolist()) for b in here] == [(b.dtype, b.shape, b.tolist()) for b in there]


def test_workers_draw_torchs_random_numbers():
    class Theirs(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, index):
            info = torch.utils.data.get_worker_info()
            return info.id, info.seed - info.id, torch.rand(1).item(), random.random(), float(np.random.rand())

    mt.manual_seed(5)
    ours = _load(mt, Items("streams", 4), None, num_workers=2)
    torch.manual_seed(5)
    assert ours == _load(torch, Theirs(), None, num_workers=2)
    assert mt.rand(1).item() == torch.rand(1).item()


def test_an_error_in_a_worker_is_raised_here():
    with pytest.raises(ValueError, match=r"Caught ValueError in DataLoader worker process 1\.\nOriginal Traceback"):
        _load(mt, Items("fails"), 2, num_workers=2)


def test_a_dying_worker_is_reported():
    with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"):
        _load(mt, Items("dies"), 2, num_workers=2)


def test_a_worker_that_died_is_reported_by_every_later_pass():
    loader = mt.utils.data.DataLoader(Items("dies"), 2, num_workers=2, persistent_workers=True)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly"):
            list(loader)


def test_a_slow_worker_times_out():
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.5 seconds"):
        _load(mt, Items("sleeps"), 2, num_workers=1, timeout=0.5)


def test_persistent_workers_stay():
    loader = mt.utils.data.DataLoader(Items("plain"), 3, num_workers=2, persistent_workers=True)
    first = _lists(loader)
    pids = [worker.pid for worker in loader._iterator._workers]
    assert _lists(loader) == first
    assert [worker.pid for worker in loader._iterator._workers] == pids


def test_worker_init_sees_its_own_dataset():
    def init(worker_id):
        mt.utils.data.get_worker_info().dataset.kind = "empty" if worker_id else "float16"

    shapes = [tuple(batch.shape) for batch in _load(mt, Items("plain", 4), 2, num_workers=2, worker_init_fn=init)]
    assert shapes == [(2, 2), (2, 0, 3)]
    assert mt.utils.data.get_worker_info() is None


def test_leaving_early_ends_the_workers():
    iterator = iter(mt.utils.data.DataLoader(Items("plain", 40), 1, num_workers=2))
    next(iterator)
    workers = iterator._workers
    del iterator
    assert not any(worker.is_alive() for worker in workers)


def test_spawned_workers():
    dataset = mt.utils.data.TensorDataset(mt.arange(6.0))
    batches = _load(mt, dataset, 2, num_workers=1, multiprocessing_context="spawn")
    assert [batch[0].tolist() for batch in batches] == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
