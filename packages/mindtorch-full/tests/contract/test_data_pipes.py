"""Data pipes against torch: samples, order, lengths, texts, warnings, and what data loaders make of them."""
# ruff: noqa: E501 (cases as data)

from __future__ import annotations

import io
import operator
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch.utils import data as our_data
from mindtorch.utils.data import graph as our_graph
from mindtorch.utils.data import graph_settings as our_settings
from mindtorch_testing import assert_torch_error

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")
from torch.utils.data import graph as their_graph  # noqa: E402
from torch.utils.data import graph_settings as their_settings  # noqa: E402


class Side:
    def __init__(self, base: Any, graph: Any, settings: Any) -> None:
        self.base, self.data, self.graph, self.settings = base, base.utils.data, graph, settings
        self.iter, self.map = base.utils.data.datapipes.iter, base.utils.data.datapipes.map

    def r(self, count: int = 5) -> Any:
        return self.iter.IterableWrapper(range(count))

    def w(self, items: Any) -> Any:
        return self.iter.IterableWrapper(items)

    def s(self, items: Any = range(5)) -> Any:
        return self.map.SequenceWrapper(items)


OURS, THEIRS = Side(mt, our_graph, our_settings), Side(torch, their_graph, their_settings)


def odd(value: int) -> int:
    return value % 2


def large(value: int) -> bool:
    return value > 2


def fails(value: Any) -> Any:
    raise ValueError("no")


def two(first: Any, second: Any) -> Any:
    return first + second


def keyword(value: Any, *, needed: Any) -> Any:
    return value


def invalidated(pipe: Any) -> Any:
    first = iter(pipe)
    next(first)
    next(iter(pipe))
    return next(first)


def shown(value: Any) -> Any:
    """Values as lists; a pipe is read."""
    if hasattr(value, "functions") and hasattr(value, "__iter__"):
        return [shown(item) for item in value]
    if isinstance(value, list | tuple):
        return type(value).__name__, [shown(item) for item in value]
    return repr(value)


CASES: list[Callable[[Side], Any]] = [
    lambda m: m.r(), lambda m: repr(m.r()), lambda m: str(m.r().map(odd)), lambda m: len(m.r().map(odd)), lambda m: m.r().foo,
    lambda m: m.r().map(odd), lambda m: m.r().map(fails), lambda m: m.r().map(two), lambda m: m.r().map(keyword), lambda m: m.r().map(3),
    lambda m: m.w([(1, 2), (3, 4)]).map(two, input_col=[0, 1]), lambda m: m.w([(1, 2), (3, 4)]).map(odd, input_col=1, output_col=0),
    lambda m: m.w([(1, 2)]).map(odd, input_col=0, output_col=-1), lambda m: m.w([[1, 2]]).map(two, input_col=[0, 1], output_col=[1]),
    lambda m: m.w([{"a": 1, "b": 2}]).map(odd, input_col="a"), lambda m: m.r().map(odd, output_col=1), lambda m: m.r().map(odd, input_col=0, output_col=[1, 2]),
    lambda m: m.r().map(odd, input_col=[0, 1, 2]), lambda m: invalidated(m.r()), lambda m: invalidated(m.r().map(odd)),
    lambda m: len(m.r().filter(large)), lambda m: m.r().filter(large), lambda m: m.r().filter(odd), lambda m: m.w([(1, 5)]).filter(large, input_col=1),
    lambda m: m.r().batch(2), lambda m: m.r().batch(2, drop_last=True), lambda m: len(m.r().batch(2)), lambda m: m.r().batch(0), lambda m: len(m.r().filter(large).batch(2)),
    lambda m: m.r().batch(2).batch(2).unbatch(2), lambda m: m.r().batch(2).batch(2).unbatch(), lambda m: m.w([[1, [2]], [3]]).unbatch(-1), lambda m: m.r().unbatch(-2), lambda m: m.w([[1, 2], 3]).unbatch(3),
    lambda m: m.r().groupby(odd), lambda m: m.r().groupby(odd, group_size=2), lambda m: m.r().groupby(odd, keep_key=True),
    lambda m: m.r().groupby(odd, buffer_size=2, group_size=2, guaranteed_group_size=1), lambda m: m.r().groupby(odd, buffer_size=2, group_size=3),
    lambda m: m.r().groupby(odd, group_size=2, guaranteed_group_size=3), lambda m: m.r().groupby(odd, buffer_size=3, group_size=3, guaranteed_group_size=3),
    lambda m: m.r(9).groupby(odd, buffer_size=3, group_size=3, guaranteed_group_size=3, drop_remaining=True),
    lambda m: m.r().fork(0), lambda m: m.r().fork(1), lambda m: m.r().fork(2), lambda m: m.r().fork(2, copy="x"), lambda m: list(m.r().fork(2, buffer_size=2)[0]),
    lambda m: [list(pipe) for pipe in m.r().fork(3)], lambda m: list(zip(*m.r().fork(2, buffer_size=1), strict=True)), lambda m: len(m.r().fork(2)[1]),
    lambda m: [list(pipe) for pipe in m.r().demux(2, odd)], lambda m: m.r().demux(2, abs), lambda m: list(m.r().demux(2, abs)[0]),
    lambda m: [list(pipe) for pipe in m.r().demux(2, lambda v: None, drop_none=True)], lambda m: list(m.r().demux(2, lambda v: None)[0]), lambda m: m.r().demux(0, odd),
    lambda m: list(m.r().demux(2, odd, buffer_size=1)[0]), lambda m: list(m.r().demux(2, odd, buffer_size=2)[1]), lambda m: list(m.r(3).demux(2, odd, buffer_size=0)[0]),
    lambda m: len(m.r().demux(2, odd)[0]), lambda m: m.iter.Concater(), lambda m: m.iter.Concater(3), lambda m: m.r().concat(m.w("ab")), lambda m: len(m.r().concat(m.w("ab"))),
    lambda m: m.r().mux(m.r(2)), lambda m: len(m.r().mux(m.r(2))), lambda m: m.r().zip(m.w("abc")), lambda m: len(m.r().zip(m.w("abc"))), lambda m: m.iter.Zipper(m.r(), 3), lambda m: m.iter.Zipper(),
    lambda m: m.r().shuffle(buffer_size=0), lambda m: m.r().shuffle(), lambda m: m.r().shuffle(buffer_size=2), lambda m: m.r().shuffle().set_seed(3), lambda m: m.r().shuffle().set_shuffle(False),
    lambda m: m.r().batch(2).shuffle(unbatch_level=1), lambda m: len(m.r().shuffle()), lambda m: m.iter.Sampler(m.r()), lambda m: m.iter.Sampler(m.r(), sampler=m.data.RandomSampler),
    lambda m: m.iter.Sampler(m.r().filter(large)), lambda m: m.iter.Sampler(m.r(), sampler=3), lambda m: m.r().batch(2).collate(), lambda m: m.r().collate(), lambda m: m.r().batch(2).collate(collate_fn=sum),
    lambda m: m.r().sharding_filter(), lambda m: m.r().sharding_filter().apply_sharding(2, 3), lambda m: len(m.r().sharding_filter()),
    lambda m: list(m.settings.apply_sharding(m.r().sharding_filter().map(odd), 3, 1)), lambda m: m.settings.apply_sharding(m.r().sharding_filter().sharding_filter(), 3, 1),
    lambda m: m.settings.apply_shuffle_settings(m.r(), True), lambda m: m.settings.apply_shuffle_settings(m.r().shuffle().map(odd), False), lambda m: m.settings.apply_shuffle_settings(3, True),
    lambda m: [type(pipe).__name__ for pipe in m.settings.get_all_graph_pipes(m.graph.traverse_dps(m.r().zip(m.w("ab")).map(odd)))],
    lambda m: [type(pipe).__name__ for pipe, _ in m.graph.traverse_dps(m.r().map(odd)).values()], lambda m: m.graph.traverse_dps(3),
    lambda m: m.w([1, 2]).list_files(), lambda m: m.iter.FileLister(str(Path(__file__).parent / "ops"), "test_complex*.py").map(Path).map(operator.attrgetter("name")),
    lambda m: m.iter.FileLister("/nowhere"), lambda m: len(m.iter.FileLister(".")), lambda m: m.iter.FileOpener([__file__], mode="x"), lambda m: m.iter.FileOpener([__file__], mode="rb", encoding="utf8"),
    lambda m: m.iter.FileOpener([__file__], mode="rb").read_from_stream(100).map(len, input_col=1).map(operator.itemgetter(1)), lambda m: m.iter.FileOpener([3]), lambda m: len(m.iter.FileOpener([__file__], length=7)),
    *(lambda m, mode=mode: m.iter.FileOpener([__file__], mode=mode).map(lambda pair: (pair[1].mode, pair[1].read(9))) for mode in ("b", "t", "r", "rb", "rt")),
    lambda m: m.s(), lambda m: repr(m.s()), lambda m: m.s()[9], lambda m: m.s().map(odd)[3], lambda m: len(m.s().map(odd)), lambda m: list(m.s().batch(2)), lambda m: m.s().batch(2)[7], lambda m: m.s().batch(2, drop_last=True)[2],
    lambda m: len(m.s().batch(2)), lambda m: m.s().concat(m.s("ab"))[6], lambda m: m.s().concat(m.s("ab"))[16], lambda m: len(m.s().concat(m.s("ab"))), lambda m: m.s().zip(m.s("ab"))[1], lambda m: m.s().zip(m.s("ab"))[3],
    lambda m: m.map.Concater(), lambda m: m.map.Zipper(3), lambda m: m.s().shuffle(), lambda m: m.s().shuffle(indices=[1, 2]).set_seed(5), lambda m: m.s({"a": 1})["a"], lambda m: m.s().foo, lambda m: m.s().shuffle()[1],
    lambda m: m.data.DataChunk([1, [2]]), lambda m: m.data.DataChunk([1, [2]]).as_str("  "), lambda m: list(m.data.DataChunk([[1], 2]).raw_iterator()),
    lambda m: m.data.functional_datapipe("map")(type("X", (m.data.IterDataPipe,), {})), lambda m: m.data.non_deterministic(3), lambda m: m.data.non_deterministic(int),
    lambda m: list(type("X", (m.data.IterDataPipe,), {})()), lambda m: len(type("X", (m.data.IterDataPipe,), {})()), lambda m: type("X", (m.data.MapDataPipe,), {})()[1],
    lambda m: list(m.data.DataLoader(m.r(7).shuffle(), batch_size=3)), lambda m: list(m.data.DataLoader(m.r(7), batch_size=3, shuffle=True)), lambda m: list(m.data.DataLoader(m.r(7).shuffle(), shuffle=False)),
    lambda m: [list(loader) for loader in [m.data.DataLoader(m.r(7).shuffle(), batch_size=None)] for _ in range(2)], lambda m: list(m.data.DataLoader(m.s(range(7)), batch_size=3, shuffle=True)), lambda m: len(m.data.DataLoader(m.r(7), batch_size=2)),
]  # fmt: skip


def run(case: Callable[[Side], Any], side: Side) -> Any:
    side.base.manual_seed(5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = shown(case(side))
    return value, [str(warning.message) for warning in caught]


@pytest.mark.parametrize("case", CASES)
def test_same_as_torch(case: Callable[[Side], Any]) -> None:
    assert_same(lambda: run(case, OURS), lambda: run(case, THEIRS))


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("persistent", [False, True])
def test_workers_divide_and_shuffle_alike(workers: int, persistent: bool) -> None:
    def epochs(side: Side) -> Any:
        side.base.manual_seed(3)
        pipe = side.r(12).shuffle().sharding_filter().map(odd).batch(2)
        loader = side.data.DataLoader(pipe, batch_size=None, num_workers=workers, persistent_workers=persistent)
        return [[list(batch) for batch in loader] for _ in range(2)]

    assert_same(lambda: epochs(OURS), lambda: epochs(THEIRS))


def test_outputs_that_are_read_again_start_anew() -> None:
    def texts(side: Side) -> Any:
        first, second = side.r().fork(2)
        started = [next(iter(first)), next(iter(second))]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            again = list(first)
        return started, again, [str(warning.message) for warning in caught], list(second)

    assert_same(lambda: texts(OURS), lambda: texts(THEIRS))


def test_a_reader_that_ends_after_a_reset_leaves_its_output_readable() -> None:
    def read(side: Side) -> Any:
        first, second, third = side.r(10).fork(3)
        whole = list(first), list(second)
        for value in third:
            if value == 4:
                again = list(first)
                break
        return whole, again, list(third)

    assert_same(lambda: read(OURS), lambda: read(THEIRS))


def test_outputs_that_are_being_read_are_copied_from_the_start() -> None:
    def copied(side: Side) -> Any:
        pipes = [*side.r(5).fork(2), *side.r(5).demux(2, odd)]
        readers = [iter(pipes[0]), iter(pipes[2])]
        started = [next(reader) for reader in readers]
        again = [list(pickle.loads(pickle.dumps(pipe))) for pipe in pipes]
        return started, again, [list(reader) for reader in readers]

    assert_same(lambda: copied(OURS), lambda: copied(THEIRS))


def test_a_wrapped_stream_is_pickled_as_its_stream() -> None:
    def pickled(side: Side) -> Any:
        wrapper = side.data.datapipes.utils.common.StreamWrapper
        again = pickle.loads(pickle.dumps(wrapper(io.BytesIO(b"abc"))))
        return type(again) is wrapper, type(again.file_obj), again.read()

    assert_same(lambda: pickled(OURS), lambda: pickled(THEIRS))

    def refused(side: Side) -> Any:
        with open(__file__) as file:
            return pickle.dumps(side.data.datapipes.utils.common.StreamWrapper(file))

    assert_torch_error(lambda: refused(OURS), lambda: refused(THEIRS))


def test_names_are_those_of_torch() -> None:
    for ours, theirs in ((OURS.iter, THEIRS.iter), (OURS.map, THEIRS.map)):
        for name in ours.__all__:
            assert f"{getattr(ours, name).__module__}.{getattr(ours, name).__qualname__}" == (
                f"{getattr(theirs, name).__module__}.{getattr(theirs, name).__qualname__}"
            )
    assert set(our_data.__all__) >= set(torch.utils.data.__all__)
