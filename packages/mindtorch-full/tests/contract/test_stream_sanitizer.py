"""`torch.cuda._sanitizer` finds the same races, and says so in the same words, as torch's."""

from __future__ import annotations

import random
import traceback

import pytest

theirs = pytest.importorskip("torch.cuda._sanitizer", reason="oracle")
from mindtorch.cuda import _sanitizer as ours  # noqa: E402

STACK = traceback.StackSummary.from_list([("program.py", 3, "step", "x = 1")])


@pytest.mark.parametrize("aliases", [[], ["self"], ["self", "other"]])
@pytest.mark.parametrize("is_output", [False, True])
@pytest.mark.parametrize("made", [None, STACK])
def test_texts(aliases, is_output, made):
    said = []
    for side in (ours, theirs):
        kinds = side.AccessType
        now, before = (side.Access(kind, 1, 2, "op", aliases, is_output, STACK) for kind in (kinds.READ, kinds.WRITE))
        said.append(str(side.UnsynchronizedAccessError(7, made, now, before)))
    assert said[0] == said[1]


def _play(side, seed):
    """Return what a random program of streams, events and kernels is told."""
    draw, handler, found = random.Random(seed), side.EventHandler(), []
    for _ in range(200):
        stream, event, address = draw.randrange(5), draw.randrange(100, 104), draw.randrange(10, 16)
        match draw.randrange(10):
            case 0:
                handler._handle_event_record(event, stream)
            case 1:
                handler._handle_event_wait(event, stream)
            case 2:
                handler._handle_stream_creation(stream)
            case 3 if draw.random() < 0.2:
                handler._handle_device_synchronization()
            case 4 if draw.random() < 0.3:
                handler._handle_stream_synchronization(stream)
            case 5 if draw.random() < 0.3:
                handler._handle_event_synchronization(event)
            case 6 if draw.random() < 0.3:
                handler._handle_memory_allocation(address)
            case _:
                reads, writes = ({draw.randrange(10, 16)} for _ in range(2))
                names = {one: ["x"] for one in reads | writes}
                errors = handler._handle_kernel_launch(stream, reads - writes, writes, set(), "op", names)
                found.append([(e.data_ptr, e.current_access.seq_num, e.previous_access.seq_num) for e in errors])
    return found


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_race_alike(seed):
    found = _play(ours, seed)
    assert found == _play(theirs, seed)
    assert any(found)
