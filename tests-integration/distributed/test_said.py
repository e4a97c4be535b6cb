"""What a test says of ranks that fail or take too long: which of them, why, and where they were."""

import pytest

pytest.importorskip("mpi4py", reason="two processes need MPI")


@pytest.mark.parametrize(
    ("ending", "of_one", "of_zero"),
    [
        ("raises", "rank 1 ended with 1", "was stopped, as rank 1 had failed"),
        ("is killed", "rank 1 died by SIGSEGV", "was stopped, as rank 1 had failed"),
        ("waits", "rank 1 did not end in 10 s", "did not end in 10 s"),
    ],
)
def test_ends_of_ranks(launch, ending, of_one, of_zero):
    with pytest.raises(AssertionError) as raised:
        launch("mindtorch", "failing.py", ending, seconds=10 if ending == "waits" else 120)
    text = str(raised.value)
    assert of_one in text
    assert f"rank 0 {of_zero}" in text
    first, second = text.index("--- 1"), text.index("--- 0")
    assert "in waits" in text[second:]  # the stack of the one that was stopped
    if ending != "waits":
        assert first < second
    if ending == "raises":
        assert "ValueError: rank 1 has had enough" in text[first:second]


def test_a_launcher_that_takes_too_long(torchrun):
    with pytest.raises(pytest.fail.Exception, match="did not end in 40 s") as raised:
        torchrun("mindtorch", "failing.py", "waits", seconds=40)
    assert "in waits" in str(raised.value)
