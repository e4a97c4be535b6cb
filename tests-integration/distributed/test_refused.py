"""What `DistributedDataParallel` refuses, and collectives that differ between ranks: torch's types and texts."""

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

# Here torch reads what another rank told as something of another length, and shows chance values.
UNREADABLE = {"dimensions", "count of calls"}


def test_texts_are_those_of_torch(torchrun):
    ours, torchs = torchrun("mindtorch", "refused.py"), torchrun("torch", "refused.py")
    for part, scenarios in torchs.items():
        assert ours[part].keys() == scenarios.keys()
        for name, (first, second) in scenarios.items():
            own = ours[part][name]
            if (part, name) == (
                "wrapped",
                "shapes",
            ):  # rank 0 waits for rank 1 in vain, which gloo and MPI tell otherwise
                assert own[1] == second
            elif part == "compared" and name in UNREADABLE:
                told = "Detected mismatch between collectives on ranks. Rank"
                assert [(kind, text.startswith(told)) for kind, text in own] == [("RuntimeError", True)] * 2
                assert [text.split(", but Rank")[0] for _, text in own] == [
                    text.split(", but Rank")[0] for _, text in (first, second)
                ]
                assert all(text.count("ALLREDUCE") >= 1 for _, text in own)
            else:
                assert own == [first, second], (part, name)
