"""Every registered sample gives torch's values, strides and error texts."""

import pytest

pytest.importorskip("torch", reason="oracle")

import torch

from mindtorch_testing.compare import TOLERANCES, Comparison, call_for_error, error_difference
from mindtorch_testing.convert import Converter, default_target
from mindtorch_testing.samples import registered, resolve_op

PAIRS = [(sample, dtype) for found in registered().values() for sample in found for dtype in sample.dtypes]
LOOSE = {
    **TOLERANCES,
    torch.float32: (1.3e-5, 1e-5),
    # Two units in the last place: which intermediate torch rounds differs from op to op and with the memory layout.
    torch.float16: (2e-3, 2e-4),
    torch.bfloat16: (2.5e-2, 2e-3),
}


@pytest.mark.parametrize(("sample", "dtype"), PAIRS, ids=[f"{s.op}-{s.function.__name__}-{d}" for s, d in PAIRS])
def test_sample(sample, dtype):
    mt = default_target()
    oracle, ours = resolve_op(torch, sample.op), resolve_op(mt, sample.op)
    comparison = Comparison(Converter(mt), LOOSE)
    wrong = []
    pairs = zip(sample.calls(torch, dtype), sample.calls(mt, dtype), strict=True)
    for position, (theirs, mine) in enumerate(pairs):
        try:
            expected = oracle(*theirs.args, **theirs.kwargs)
        except Exception as error:  # noqa: BLE001 - whatever torch raises is what we must raise
            actual = call_for_error(lambda call=mine: ours(*call.args, **call.kwargs))
            difference = error_difference(error, actual)
            wrong += [f"call {position}: {difference}"] if difference else []
            continue
        assert not theirs.wrong, f"call {position} should be wrong, and torch takes it"
        found = comparison.compare(expected, ours(*mine.args, **mine.kwargs))
        wrong += [f"call {position}: {difference}" for difference in found]
        comparison.differences = []
    assert not wrong, "\n".join(wrong)
