"""Ops on spread tensors beside torch's: how results and gradients lie, which collectives begin, and the values they have."""

import re

import pytest

pytest.importorskip("torch", reason="oracle")
pytest.importorskip("mpi4py", reason="two processes need MPI")

UNLIKE = {
    r"(flatten|view|linear|linear bias) \| S\d.*": "torch joins a dimension that is cut with those before it: a strided shard",
    r"embedding \| S0 R.*": "torch's terms know which rows are another's; here they are zero there",
    r"embedding \| P R.*": "torch cuts the terms of a table, for one collective less",
    r"sdpa \| (S1|P).*": "heads are computed where they are; torch gathers them on the processor",
    r"convolution .*": "torch computes parts as if they were whole, with other values",
    r"mse .* gradient": "torch's gradient of a mean is too large by the number of parts",
    r"dot \| .*P.*": "torch scatters terms that can stay",
    r"(bucketize|vector_norm inf 0) \| Pmax": "terms of a maximum are reduced before",
    r"add column .*": "torch cuts another dimension than the operands are cut at",
    r"(var 1 \| S1|glu \| P.*|index_select 2 \| .* S0) \| gradient": "the gradient takes torch's way but for one step",
}
"""Where ours lie otherwise than torch's, and why."""


def test_ops_lie_and_communicate_as_those_of_torch(launch):
    ours, theirs = (
        launch("mindtorch", "spread_ops.py", seconds=900),
        launch("torch", "spread_ops.py", ranks=1, seconds=900),
    )
    assert ours.keys() == theirs.keys()
    assert {name: wrong for name, (_, wrong) in ours.items() if wrong} == {}
    works = {name: found for name, (found, _) in theirs.items() if found[0] != "raises"}
    unlike = {name: (ours[name][0], found) for name, found in works.items() if ours[name][0] != found}
    assert {n: both for n, both in unlike.items() if not any(re.fullmatch(one, n) for one in UNLIKE)} == {}
    assert [one for one in UNLIKE if not any(re.fullmatch(one, name) for name in unlike)] == []


@pytest.mark.parametrize("ranks", [2, 4])
def test_one_rank_sees_of_a_spread_tensor_what_it_sees_of_torchs(launch, ranks):
    ours, theirs = (launch(library, "spread_parts.py", ranks=ranks, seconds=60) for library in ("mindtorch", "torch"))
    assert len(theirs) == 11
    assert ours == theirs


def test_terms_and_misfits_are_those_of_torch(launch):
    ours, theirs = (launch(library, "spread_terms.py") for library in ("mindtorch", "torch"))
    for part, scenarios in theirs.items():
        for name, expected in scenarios.items():
            found = ours[part][name]
            if not isinstance(expected[0], list):
                assert found == expected, (part, name)
                continue
            for (placed, values), (place, known) in zip(found, expected, strict=True):
                assert placed == place, (part, name)
                assert values == pytest.approx(known, rel=2e-6, abs=2e-6), (part, name)
