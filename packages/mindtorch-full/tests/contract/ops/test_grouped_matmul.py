"""Products of groups: values, strides, gradients and refusals as torch's."""

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error
from mindtorch_testing.compare import TOLERANCES, Comparison
from mindtorch_testing.convert import Converter

torch = pytest.importorskip("torch", reason="oracle")


def _offsets(lib, *values, dtype="int32"):
    return lib.tensor(values, dtype=getattr(lib, dtype))


# Shapes of both operands, and where the groups end.
OPERANDS = {
    "rows": ((16, 8), (3, 8, 4), (4, 4, 16)),
    "columns": ((3, 16, 8), (8, 24), (8, 12, 24)),
    "contraction": ((8, 32), (32, 4), (16, 32)),
    "batches": ((2, 4, 8), (2, 8, 12), None),
}


def _products(lib, first, second, ends, transposed):
    if transposed:
        second = second.transpose(-2, -1).contiguous().transpose(-2, -1).detach()
    first.requires_grad_(True)
    second.requires_grad_(True)
    offsets = None if ends is None else _offsets(lib, *ends)
    result = lib.nn.functional.grouped_mm(first, second, offs=offsets)
    (result * result).sum().backward()
    return result.detach(), result.grad_fn.name(), first.grad, second.grad


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("case", OPERANDS)
def test_values_and_gradients(case, transposed, dtype):
    left, right, ends = OPERANDS[case]
    generator = torch.Generator().manual_seed(4)
    unit = 16 // dtype.itemsize // 4
    given = []
    for shape in (left, right):
        shape = (*shape[:-2], shape[-2] * unit, shape[-1] * unit)
        given.append(torch.randn(shape, generator=generator).to(dtype))
    ends = ends and tuple(end * unit for end in ends)
    converter = Converter(mt)
    ours = _products(mt, *map(converter.to_target, given), ends, transposed)
    theirs = _products(torch, *given, ends, transposed)
    tolerances = {**TOLERANCES, torch.float32: (1e-5, 1e-4), torch.bfloat16: (1.6e-2, 0.25)}
    assert [d for d in Comparison(converter, tolerances).compare(theirs, ours) if d.kind != "requires_grad"] == []


def test_rows_of_the_result_are_aligned():
    def strides(lib):
        return lib.nn.functional.grouped_mm(lib.ones(2, 16, 8), lib.ones(2, 5, 8).transpose(1, 2)).stride()

    assert strides(mt) == strides(torch)


ONES = {
    "dtype": lambda t: ((2, 16, 8), (2, 8, 16), {}, (t.float64, t.float32)),
    "second dtype": lambda t: ((2, 16, 8), (2, 8, 16), {}, (t.float32, t.int64)),
    "dims": lambda t: ((8,), (2, 8, 16), {}),
    "second dims": lambda t: ((2, 16, 8), (8,), {}),
    "contraction": lambda t: ((2, 16, 8), (2, 4, 16), {}),
    "batches": lambda t: ((3, 16, 8), (2, 8, 16), {}),
    "groups": lambda t: ((16, 8), (2, 8, 16), {"offs": _offsets(t, 4, 8, 16)}),
    "alignment": lambda t: ((15, 7), (2, 7, 5), {"offs": _offsets(t, 4, 15)}),
    "no offsets": lambda t: ((16, 8), (2, 8, 16), {}),
    "needless offsets": lambda t: ((2, 16, 8), (2, 8, 16), {"offs": _offsets(t, 4, 16)}),
    "long offsets": lambda t: ((16, 8), (2, 8, 16), {"offs": _offsets(t, 4, 16, dtype="int64")}),
    "table of offsets": lambda t: ((16, 8), (2, 8, 16), {"offs": _offsets(t, 4, 16)[None]}),
    "bias": lambda t: ((2, 16, 8), (2, 8, 16), {"bias": t.ones(2, 16), "out_dtype": t.float16}),
    "out dtype": lambda t: ((2, 16, 8), (2, 8, 16), {"out_dtype": t.float16}),
    "mixed": lambda t: ((2, 16, 8), (2, 8, 16), {}, (t.bfloat16, t.float32)),
    "mixed rows": lambda t: ((16, 8), (2, 8, 16), {"offs": _offsets(t, 4, 16)}, (t.bfloat16, t.float32)),
}


@pytest.mark.parametrize("case", ONES)
def test_refusals(case):
    def call(lib):
        left, right, options, *dtypes = ONES[case](lib)
        one, other = dtypes[0] if dtypes else (lib.float32, lib.float32)
        return lib.nn.functional.grouped_mm(lib.ones(left, dtype=one), lib.ones(right, dtype=other), **options)

    assert_torch_error(lambda: call(mt), lambda: call(torch))


def test_a_strided_operand_is_refused():
    def call(lib):
        return lib._grouped_mm(lib.ones(2, 16, 16)[..., ::2], lib.ones(2, 8, 16))

    assert_torch_error(lambda: call(mt), lambda: call(torch))
