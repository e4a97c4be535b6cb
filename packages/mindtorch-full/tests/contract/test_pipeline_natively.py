"""What a pipeline has put down is run by the native module where there is one; what it does not run stays for Python."""

from __future__ import annotations

import pytest

import mindtorch as mt
from mindtorch_runtime import native

pytestmark = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")


def _taken(pipe):
    """Return what waits in `pipe`, the oldest last, and leave nothing there."""
    taken = pipe.records[::-1]
    pipe.records.clear()
    return taken


def test_kernels_writes_and_views_need_no_python():
    base = mt.arange(6.0)
    with mt.pipeline() as pipe:
        made = base * 2 + 1
        made.add_(base)
        part = made.view(2, 3)[1]
        part.mul_(10)
        joined = mt.cat([part, made])
        assert len(pipe) == 7
        records = _taken(pipe)
        native.module.fill(records)
        assert records == []
        assert not any(one._pending for one in (made, part, joined))
    assert made.tolist() == [1.0, 4.0, 7.0, 100.0, 130.0, 160.0]
    assert part.tolist() == [100.0, 130.0, 160.0]
    assert joined.tolist() == part.tolist() + made.tolist()


def test_memory_under_two_counters_is_the_same_memory():
    with mt.pipeline():
        made = mt.arange(6.0) * 2
        data = made.data
        with pytest.raises(RuntimeError, match="single memory location"):
            data[1:].add_(made[:-1])


def test_a_list_is_the_one_of_the_call():
    parts = [mt.ones(2), mt.zeros(1)]
    with mt.pipeline():
        joined = mt.cat(parts)
        parts.clear()
    assert joined.tolist() == [1.0, 1.0, 0.0]


def test_what_is_pythons_stays_with_what_comes_after_it():
    with mt.pipeline() as pipe:
        first = mt.arange(3.0) + 1
        values, places = first.sort(descending=True)
        last = values + places
        records = _taken(pipe)
        while records:
            native.module.fill(records)
            if records:
                fill, plan, flat, result, *_ = records.pop()
                fill(plan, flat, result)
    assert last.tolist() == [5.0, 3.0, 1.0]


def test_what_fails_stays():
    with mt.pipeline() as pipe:
        before = mt.ones(2) + 1
        bad = mt.ones(3).index_select(0, mt.tensor([7])) * 2
        records = _taken(pipe)
        with pytest.raises(IndexError):
            native.module.fill(records)
        assert [record[1].row.name for record in records] == ["mul.Tensor", "index_select"]
        pipe.records.extend(records[::-1])
        with pytest.raises(IndexError) as caught:
            pipe.flush()
    assert "recorded by aten::index_select at" in caught.value.__notes__[0]
    assert before.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="never computed"):
        bad.tolist()


def test_the_limit_runs_what_waits():
    with mt.pipeline(limit=3) as pipe:
        value = mt.ones(2)
        lengths = []
        for _ in range(8):
            value = value + 1
            lengths.append(len(pipe))
    assert max(lengths) == 3
    assert value.tolist() == [9.0, 9.0]


def test_mistakes_are_refused():
    with pytest.raises(TypeError, match="fill"):
        native.module.fill(())
