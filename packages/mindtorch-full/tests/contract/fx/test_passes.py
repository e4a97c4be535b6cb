"""Passes over graphs, the same as torch's."""

import pytest

import mindtorch as mt
import mindtorch.fx

from .pass_cases import CASES, HEAD
from .programs import play

torch = pytest.importorskip("torch", reason="oracle")
pytest.importorskip("torch.fx", reason="oracle")


@pytest.mark.parametrize("name", CASES)
def test_passes(name: str) -> None:
    """A program, on both sides."""
    ours, theirs = (
        play(T, f"HOME = {home!r}\n{HEAD}{CASES[name]}") for T, home in ((mt, "mindtorch"), (torch, "torch"))
    )
    assert ours == theirs
    assert isinstance(ours[0], list), ours


def test_asserts_are_traced() -> None:
    """`RewritingTracer` records `assert` and annotated variables."""

    def traced(T: object, tracer: type, annotate: object) -> str:
        globals().update(torch=T, annotate=annotate)

        def program(x):  # type: ignore[no-untyped-def]
            assert x.sum() > 0, "no"
            y: int = x + 1
            return y

        return str(tracer().trace(program))

    found = []
    before = torch
    for T, home in ((mt, "mindtorch"), (torch, "torch")):
        rewriter = __import__(f"{home}.fx.experimental.rewriter", fromlist=["RewritingTracer"])
        notes = __import__(f"{home}.fx.annotate", fromlist=["annotate"])
        found.append(traced(T, rewriter.RewritingTracer, notes.annotate))
    globals().update(torch=before)
    assert found[0] == found[1]
    assert "_assert" in found[0]
