"""Random sequences of statements: they are Python, the same for a seed, and a finding keeps only what it needs."""

import ast
from random import Random

import pytest

pytest.importorskip("torch")
from mindtorch_testing.fuzz.campaign import Findings
from mindtorch_testing.fuzz.judge import SEVERE, Finding
from mindtorch_testing.fuzz.rows import Rows
from mindtorch_testing.fuzz.sequences import GRADIENTS, MODES, RESULTS, VIEWS, WRITES, Sequence, Sequences, drawn
from mindtorch_testing.fuzz.sides import Outcome


def test_every_statement_is_python() -> None:
    for template in (*VIEWS, *RESULTS, *WRITES, *GRADIENTS, *MODES):
        ast.parse(template)


def test_every_sequence_is_python_and_the_same_for_the_same_seed() -> None:
    for seed in range(300):
        sequence = drawn(Random(seed))
        assert sequence == drawn(Random(seed))
        setup, call, _ = sequence.program()
        ast.parse(setup)
        ast.parse(call, mode="eval")
        assert [len(one.statements) for one in sequence.shorter()] == [len(sequence.statements) - 1] * len(
            sequence.statements
        )


class Judging:
    """A pair of sides that differ where a certain statement is left, and its variable is made."""

    def judge(self, programs):
        finding = Finding("value", "2", "1", "[0]")
        return [
            (Outcome(b""), Outcome(b""), finding if "x0.zero_()" in setup and "x0 = made" in setup else None)
            for setup, _, _ in programs
        ]


def test_a_finding_keeps_the_statements_it_needs() -> None:
    said: list[str] = []
    findings = Findings(SEVERE, Rows([], {}), said.append)
    lane = Sequences(Judging(), [], findings, 1)
    long = Sequence(("x0 = made((3,), 'float32', 0)", "x1 = x0.t()", "x0.zero_()", "x1.sum().backward()"))
    for _ in range(2):
        lane.follow(long, long.program(), Finding("value", "2", "1", "[0]"), [])
    assert len(said) == 1
    assert said[0].startswith("sequence: x.zero_(): value [0]\n    x0 = made((3,), 'float32', 0)\n    x0.zero_()\n")
    assert lane.tally.dropped == {"known sort": 1}
