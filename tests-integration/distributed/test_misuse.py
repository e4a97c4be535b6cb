"""Wrong uses of groups on two ranks: torch's types and texts."""

import json

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

PARTS = ("before", "alone", "works", "messages", "destroyed", "after")
SHUT_DOWN = ["RuntimeError", "The process group was shut down: no collective can be started on it"]
OTHERWISE = {
    # torch goes on with a group that was destroyed, of which nobody waits for the end.
    ("destroyed", "reduce"): SHUT_DOWN,
    ("after", "group"): SHUT_DOWN,
    # The texts are those of the binding of C++, with its classes.
    ("works", "wait number"): ["TypeError", "'>' not supported between instances of 'int' and 'datetime.timedelta'"],
    ("works", "attribute"): ["AttributeError", "'TaskWork' object has no attribute 'nothing'"],
}
"""What is refused in another way, with the reason."""


def test_texts_are_those_of_torch(torchrun, tmp_path):
    told = {}
    for library in ("mindtorch", "torch"):
        first = torchrun(library, "misuse.py")
        told[library] = [first, json.loads((tmp_path / f"{library}.json.1").read_text())]
    assert sum(len(told["torch"][0][part]) for part in PARTS) > 100
    for rank, (ours, torchs) in enumerate(zip(told["mindtorch"], told["torch"], strict=True)):
        rows = {(part, name): said for part in PARTS for name, said in torchs[part].items()}
        expected = {row: OTHERWISE.get(row, said) for row, said in rows.items()}
        found = {(part, name): said for part in PARTS for name, said in ours[part].items()}
        different = {row: (found.get(row), said) for row, said in expected.items() if found.get(row) != said}
        assert not different, f"rank {rank}"
