"""The judge of reference inputs counts what agrees and names what differs."""

import pytest

torch = pytest.importorskip("torch", reason="oracle")

from mindtorch_testing.sweep import reference  # noqa: E402  # needs the oracle


@pytest.mark.slow
def test_operators_are_chosen_run_and_judged():
    (info,) = reference.chosen("fmod", "1/1")
    counts = reference.Counts()
    runner = reference.ReferenceRunner(samples=2)
    runner.run(info, counts)
    assert counts.different == []
    assert set(counts.ran) == {str(dtype) for dtype in info.dtypes}
    assert set(counts.ran.values()) == {2}
    runner.runner.target = _Wrong()
    runner.run(info, counts)
    assert counts.different
    assert counts.different[0][0] == "fmod"
    text = reference.page(counts, 2)
    assert "| fmod |" in text
    assert f"of {sum(counts.ran.values())} samples agree" in text


class _Wrong:
    """A target without anything: each call on it is a finding, not an end of the run."""


def test_parts_are_all_operators():
    whole = {info.full_name for info in reference.chosen("a*", "1/1")}
    parts = [{info.full_name for info in reference.chosen("a*", f"{n}/3")} for n in (1, 2, 3)]
    assert set.union(*parts) == whole
    assert sum(map(len, parts)) == len(whole)
