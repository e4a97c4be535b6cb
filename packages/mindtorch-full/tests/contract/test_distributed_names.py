"""`torch.distributed.tensor` can be named and asked about, as training loops do without asking for availability."""

import pytest

import mindtorch as mt
import mindtorch.distributed.tensor as ours
import mindtorch.distributed.tensor.placement_types as our_placements

theirs = pytest.importorskip("torch.distributed.tensor", reason="oracle")

QUESTIONS = {
    "texts": lambda p: (repr(p), str(p)),
    "shard": lambda p: (p.is_shard(), p.is_shard(0), p.is_shard(1)),
    "replicate": lambda p: p.is_replicate(),
    "partial": lambda p: (p.is_partial(), p.is_partial("sum"), p.is_partial("avg")),
    "module": lambda p: (type(p).__module__, type(p).__qualname__),
}


def placements(m):
    return [m.Shard(0), m.Shard(1), m.Replicate(), m.Partial(), m.Partial("avg")]


@pytest.mark.parametrize("question", QUESTIONS)
def test_placements_answer_as_torchs(question):
    ask = QUESTIONS[question]
    assert [ask(p) for p in placements(ours)] == [ask(p) for p in placements(theirs)]


def test_placements_are_equal_as_torchs():
    def table(m):
        return [[one == other for one in placements(m)] for other in placements(m)]

    assert table(ours) == table(theirs)
    assert len({*placements(ours), *placements(ours)}) == 5
    assert our_placements.Shard is ours.Shard


def test_a_parameter_is_no_dtensor():
    x = mt.nn.Parameter(mt.ones(2))
    assert not isinstance(x, ours.DTensor)
    assert (ours.DTensor.__module__, ours.DTensor.__name__) == ("torch.distributed.tensor", "DTensor")
    assert mt.distributed.is_available() is True
