"""The order in which a rank works on the parts of a batch, when it has several stages: one list of actions a rank.

A place of a list may be empty: the rank waits there while others work, if all actions take the same time.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple


class _ComputationType(str, Enum):  # noqa: UP042 - its text is that of an Enum
    """What is done with a part of a batch."""

    FORWARD = "F"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    FULL_BACKWARD = "B"
    OVERLAP_F_B = "OVERLAP_F_B"

    @staticmethod
    def from_str(action: str) -> _ComputationType:
        """Return the type that is written so."""
        try:
            return _ComputationType(action)
        except ValueError as error:
            raise RuntimeError(f"Invalid computation type {action}") from error


_WRITTEN = re.compile(r"(\d+)([FIWB])(\d*)")


class _Action(NamedTuple):
    """What is done by which stage with which part of a batch: `2F0`, `0B3`."""

    stage_index: int
    computation_type: _ComputationType
    microbatch_index: int | None = None
    sub_actions: tuple[_Action, ...] | None = None

    def __repr__(self) -> str:
        if self.sub_actions is not None:
            return f"({';'.join(map(repr, self.sub_actions))}){self.computation_type.value}"
        part = "" if self.microbatch_index is None else str(self.microbatch_index)
        return f"{self.stage_index}{self.computation_type.value}{part}"

    def __str__(self) -> str:
        return repr(self)

    @staticmethod
    def from_str(action_string: str) -> _Action | None:
        """Return the action that is written so; None for an empty place."""
        written = action_string.strip()
        if not written:
            return None
        if written.startswith("(") and ")" in written:
            inner, _, kind = written[1:].partition(")")
            parts = tuple(one for one in map(_Action.from_str, inner.split(";")) if one is not None)
            return _Action(-1, _ComputationType.from_str(kind), None, parts or None)
        found = _WRITTEN.match(written)
        if found is None:
            raise RuntimeError(
                f"Invalid action string: {written}, should be formatted as [stage][action type][(microbatch)] e.g. 2F0"
            )
        stage, kind, part = found.groups()
        return _Action(int(stage), _ComputationType(kind), int(part) if part else None)


Order = list[_Action | None]


def ranks_of_stages(ranks: int, stages: int, style: str = "loop") -> dict[int, int]:
    """Return each stage's rank: in turn, or there and back again ("v")."""
    if style == "loop":
        return {stage: stage % ranks for stage in range(stages)}
    if style != "v":
        raise ValueError(f"Style {style} is not supported.")
    if stages % ranks:
        raise ValueError(f"num_stages {stages} must be evenly divisible by pp_size {ranks} for V schedules")
    turns = (divmod(stage, ranks) for stage in range(stages))
    return {
        stage: ranks - 1 - place if turn % 2 else place
        for stage, (turn, place) in zip(range(stages), turns, strict=True)
    }


def breadth_first(rank: int, ranks: int, chunks: int, parts: int) -> Order:
    """All parts forward by the first stage of the rank, then by its next; backward the other way round."""
    stages = range(rank, ranks * chunks, ranks)
    order: Order = [None] * rank
    order += [_Action(stage, _ComputationType.FORWARD, part) for stage in stages for part in range(parts)]
    order += [None] * (2 * (ranks - 1 - rank))
    order += [
        _Action(stage, _ComputationType.FULL_BACKWARD, part)
        for stage in reversed(stages)
        for part in reversed(range(parts))
    ]
    return order


def _depth_first(stages: Sequence[int], parts: int, at_once: int) -> list[tuple[int, int]]:
    """Return stages with parts: `at_once` parts by each stage in turn, then the next ones."""
    taken: Counter[int] = Counter()
    found = []
    for index in range(len(stages) * parts):
        stage = stages[index // at_once % len(stages)]
        found.append((stage, taken[stage]))
        taken[stage] += 1
    return found


def interleaved(rank: int, ranks: int, chunks: int, parts: int, zero_bubble: bool = False) -> Order:
    """Some parts ahead forward, then one forward and one backward in turn.

    With `zero_bubble` gradients of weights are computed apart, later by as many parts as there are ranks before.
    """
    at_once = parts // max(1, parts // ranks)
    stages = range(rank, ranks * chunks, ranks)
    forward, backward = (_depth_first(given, parts, at_once) for given in (stages, stages[::-1]))
    hops = ranks - 1 - rank
    ahead = min((chunks - 1) * at_once + hops * (1 if zero_bubble else 2), len(forward))
    waits = hops if zero_bubble else chunks * ranks + 2 * hops - (ahead + rank)
    kind = _ComputationType.BACKWARD_INPUT if zero_bubble else _ComputationType.FULL_BACKWARD
    order: Order = [None] * rank
    order += [_Action(stage, _ComputationType.FORWARD, part) for stage, part in forward[:ahead]]
    order += [None] * (waits if ahead else 0)
    weights = deque(_Action(stage, _ComputationType.BACKWARD_WEIGHT, part) for stage, part in backward)
    for index, (stage, part) in enumerate(backward):
        if ahead + index < len(forward):
            given, taken = forward[ahead + index]
            order.append(_Action(given, _ComputationType.FORWARD, taken))
        elif not zero_bubble:
            order.append(None)
        order.append(_Action(stage, kind, part))
        if zero_bubble and index >= rank:
            order.append(weights.popleft())
    return [*order, *weights] if zero_bubble else order


def with_waits(orders: dict[int, Order]) -> dict[int, Order]:
    """Let a rank wait where the stage before has not yet done the same part."""
    left = {rank: deque(order) for rank, order in orders.items()}
    found: dict[int, Order] = {rank: [] for rank in orders}
    done: set[tuple[int, int | None]] = set()
    while any(left.values()):
        now = set()
        for rank, order in left.items():
            if not order:
                continue
            action = order[0]
            if action is not None and action.computation_type is _ComputationType.FORWARD:
                stage, part = action.stage_index, action.microbatch_index
                if stage and (stage - 1, part) not in done:
                    found[rank].append(None)
                    continue
                now.add((stage, part))
            found[rank].append(order.popleft())
        done |= now
    return found


class _Writer:
    """Writes the order of a rank with two stages, whose parts come one after another."""

    def __init__(self, stages: tuple[int, int], waits: int = 0) -> None:
        self.stages = stages
        self.order: Order = [None] * waits
        self.taken: Counter[tuple[int, str]] = Counter()
        self.weights: deque[tuple[int, int]] = deque()

    def next(self, chunk: int, kind: str) -> _Action:
        """Return the next part of a kind."""
        key = chunk, "I" if kind == "B" else kind
        part = self.taken[key]
        self.taken[key] += 1
        if kind == "B":
            self.taken[chunk, "W"] += 1
        if kind == "I":
            self.weights.append((chunk, part))
        return _Action(self.stages[chunk], _ComputationType(kind), part)

    def add(self, chunk: int, kinds: Iterable[str]) -> None:
        """Write the next parts of some kinds."""
        self.order += [self.next(chunk, kind) for kind in kinds]

    def add_both(self, forward: int, backward: int) -> None:
        """Write a part forward and one backward as one action."""
        actions = self.next(forward, "F"), self.next(backward, "B")
        self.order.append(_Action(-1, _ComputationType.OVERLAP_F_B, None, actions))

    def add_weight(self) -> None:
        """Write the gradients of weights that have waited longest."""
        if self.weights:
            chunk, part = self.weights.popleft()
            self.taken[chunk, "W"] += 1
            self.order.append(_Action(self.stages[chunk], _ComputationType.BACKWARD_WEIGHT, part))


def v_zero_bubble(rank: int, ranks: int, parts: int) -> Order:
    """The order of arXiv:2401.10241, section 6: stages there and back again, gradients of weights apart."""
    writer = _Writer((rank, 2 * ranks - 1 - rank), rank)
    taken = writer.taken
    wanted = max(2 * ranks - 1, parts)
    writer.add(0, "F" * (2 * (ranks - rank) - 1))
    for _ in range(rank):
        writer.add(1, "F")
        writer.add(0, "F")
    writer.add(1, "FIW" * (ranks - rank))
    while taken[1, "F"] < taken[0, "F"] or taken[0, "F"] < wanted:
        if taken[0, "F"] < wanted:
            writer.add(0, "F")
        writer.add(0, "IW")
        writer.add(1, "FIW")
    for _ in range(rank):
        writer.add(0, "I")
        writer.add(1, "I")
    writer.add(0, "IW" * (ranks - rank))
    for chunk in (1, 0):
        writer.add(chunk, "W" * (taken[chunk, "I"] - taken[chunk, "W"]))
    return [
        action if action is not None and (action.microbatch_index or 0) < parts else None for action in writer.order
    ]


def dual_pipe_v(rank: int, ranks: int, parts: int) -> Order:
    """The order of arXiv:2412.19437 folded to a V: parts forward and backward as one action."""
    writer = _Writer((rank, 2 * ranks - 1 - rank))
    hops = ranks - 1 - rank
    writer.add(0, "F" * (2 * hops))
    for _ in range(rank + 1):
        writer.add(0, "F")
        writer.add(1, "F")
    for _ in range(hops):
        writer.add(1, "I")
        writer.add_weight()
        writer.add(1, "F")
    for index in range(parts - 2 * ranks + rank + 1):
        if index == 0 and hops == 0:
            writer.add(0, "F")
            writer.add(1, "B")
        else:
            writer.add_both(0, 1)
        writer.add_both(1, 0)
    for _ in range(hops):
        writer.add(1, "B")
        writer.add_both(1, 0)
    half, odd = (rank + 1) // 2, rank % 2 == 1
    for index in range(rank + 1):
        writer.add(1, "I" if index > half or (index == half and odd) else "B")
        writer.add(0, "I" if index >= half else "B")
    for _ in range(hops):
        writer.add_weight()
        writer.add(0, "I")
    for _ in range(rank + 1):
        writer.add_weight()
    return writer.order
