"""Calls that differ in sizes alone: bound once, and of other sizes what they would be if they were planned in full."""

import gc
import sys
import weakref
from collections import Counter

import pytest

import mindtorch as mt
import mindtorch.nn.functional as F
from mindtorch_dispatch import call
from mindtorch_dispatch.execute import executor
from mindtorch_dispatch.table import packets
from mindtorch_runtime import native

SIZES = (3, 4, 1, 2, 5, 0, 7, 3, 6)


def made(*shape, grad=False, dtype=mt.float32):
    """Return a tensor of small numbers in no particular order."""
    numbers = mt.arange(mt.Size(shape).numel(), dtype=mt.float32) * 0.37 % 3 - 1
    return numbers.reshape(shape).to(dtype).requires_grad_(grad)


def written(x, index, value):
    x[index] = value
    return x


def gradient(x):
    x.square().sum().backward()
    return x.grad


CASES = {
    "add": lambda n: made(n, 4) + made(n, 1, grad=True),
    "add of a number": lambda n: mt.arange(n) + n,
    "alpha": lambda n: mt.add(made(n), made(n), alpha=n),
    "power": lambda n: made(n) ** n,
    "small integers": lambda n: mt.arange(n, dtype=mt.uint8) * (n + 250),
    "halves": lambda n: made(n, dtype=mt.float16) * n,
    "half and float": lambda n: made(n, dtype=mt.float16) + made(1),
    "slice": lambda n: made(n, 4)[1 : n - 1],
    "slice of columns": lambda n: made(n, 4, grad=True)[:, n % 3 : 3],
    "last": lambda n: made(n, 4)[-1],
    "select": lambda n: made(n, 4).select(0, n - 1),
    "select outside": lambda n: made(n, 4).select(0, n + n % 2),
    "select along": lambda n: made(n, 4, 2).select(n % 3, 0),
    "narrow": lambda n: made(n + 3, grad=True).narrow(0, n % 3, 2),
    "view": lambda n: made(n, 4).view(2, n * 2),
    "view with a gap": lambda n: made(n, 4).view(-1, 2),
    "view that does not fit": lambda n: made(n, 4).view(3, n),
    "reshape": lambda n: made(n, 4).t().reshape(-1),
    "by turns": lambda n: (made(n, 4, grad=True) if n % 4 > 1 else made(4, n, grad=True).t()).reshape(-1, 2),
    "flatten": lambda n: made(n, 2, 3).transpose(0, 1).flatten(n % 2),
    "permute": lambda n: made(n, 2, 3).permute(2, 0, 1),
    "expand": lambda n: made(n, 1, grad=True).expand(-1, n),
    "squeeze": lambda n: made(n, 1, 2).squeeze(n % 3),
    "squeeze all": lambda n: made(n, 1, grad=True).squeeze(),
    "unsqueeze": lambda n: made(n).unsqueeze(n % 2),
    "unfold": lambda n: made(n + 3).unfold(0, 2, n % 2 + 1),
    "strided": lambda n: made(n, 4).as_strided((n, 2), (1, n)),
    "diagonal": lambda n: made(n, n).diagonal(n % 3 - 1),
    "split": lambda n: made(n, 4, grad=True).split(2),
    "chunk": lambda n: made(n, 4).chunk(n % 3 + 1),
    "unbind": lambda n: made(2, n, grad=True).unbind(n % 2),
    "sum": lambda n: made(n, 4, 3).sum(n % 3),
    "sum of two": lambda n: made(n, 4, 3, grad=True).sum((0, n % 2 + 1)),
    "sum outside": lambda n: made(n, 4).sum(n),
    "mean": lambda n: made(n, 4, grad=True).mean(n % 2, keepdim=True),
    "sum of halves": lambda n: made(n, 3, dtype=mt.bfloat16).sum(n % 2),
    "max": lambda n: made(n, 4, grad=True).max(n % 2),
    "cumsum": lambda n: made(n, 3, grad=True).cumsum(n % 2),
    "sort": lambda n: made(n, 3).sort(n % 2),
    "topk": lambda n: made(n + 3, grad=True).topk(n % 3 + 1),
    "softmax": lambda n: made(n, 4, grad=True).softmax(n % 2),
    "cat": lambda n: mt.cat([made(n, 4), made(2, 4), made(n, 4, grad=True)]),
    "cat that does not fit": lambda n: mt.cat([made(n, 4), made(2, n)]),
    "stack": lambda n: mt.stack([made(n), made(n)], n % 2),
    "zeros": lambda n: mt.zeros(n, 2),
    "zeros of a list": lambda n: mt.zeros([n, 2], dtype=mt.int64),
    "zeros of less than none": lambda n: mt.zeros(4 - n),
    "zeros of too many": lambda n: mt.zeros(2**63 + n),
    "zeros with a gradient": lambda n: mt.zeros(n, requires_grad=True),
    "arange": lambda n: mt.arange(1, n, 2),
    "eye": lambda n: mt.eye(n, 3),
    "linspace": lambda n: mt.linspace(0, 1, n),
    "tril": lambda n: made(n, n).tril(n - 3),
    "in place": lambda n: made(n, 4).add_(made(4)),
    "in place that does not fit": lambda n: made(n, 4).add_(made(n)),
    "in place on a leaf": lambda n: made(n, grad=True).add_(1),
    "in place recorded": lambda n: (made(n, 2, grad=True) * 1).mul_(made(n, 1)),
    "index_add_": lambda n: mt.zeros(n, 2).index_add_(0, mt.arange(n) % 2, made(n, 2)),
    "scatter_": lambda n: mt.zeros(3, n).scatter_(n % 2, mt.zeros(2, n, dtype=mt.int64), 1.5),
    "gather": lambda n: made(n, 4, grad=True).gather(1, mt.arange(n)[:, None] % 4),
    "index": lambda n: made(n, 4, grad=True)[mt.arange(n) % 2],
    "mask": lambda n: made(n, 4)[made(n) > 0],
    "index written": lambda n: written(made(n, 4), mt.arange(n) // 2, 1.0),
    "nonzero": lambda n: made(n, 2).nonzero(),
    "matmul": lambda n: made(n, 4) @ made(4, 3, grad=True),
    "matmul that does not fit": lambda n: made(n, 4) @ made(n, 3),
    "matmul of more": lambda n: made(n, 2, 4) @ made(4, 3),
    "linear": lambda n: F.linear(made(n, 4), made(3, 4, grad=True), made(3)),
    "conv1d": lambda n: F.conv1d(made(1, 2, n + 3), made(3, 2, 2), stride=n % 2 + 1),
    "max_pool2d": lambda n: F.max_pool2d(made(1, 1, n + 2, 6), 2, stride=n % 2 + 1),
    "pad": lambda n: F.pad(made(n, 3), (1, n % 3)),
    "layer_norm": lambda n: F.layer_norm(made(n, 4, grad=True), (4,)),
    "cross_entropy": lambda n: F.cross_entropy(made(n, 4, grad=True), mt.arange(n) % 4),
    "fft": lambda n: mt.fft.fft(made(8, 3, grad=True), n=n + 1, dim=n % 2).abs(),
    "no sizes": lambda n: made(n).sum() + made(n),
    "gradient": lambda n: gradient(made(n, 2, grad=True)),
    "item": lambda n: made(n)[n - 1].item(),
}


def shown(case, size):
    """Return what a call gives, or the error that it raises, as text."""
    try:
        return described(CASES[case](size))
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}"


def described(value):
    if isinstance(value, (tuple, list)):
        return [described(item) for item in value]
    if not isinstance(value, mt.Tensor):
        return repr(value)
    node = type(value.grad_fn).__name__
    return repr((value.shape, value.stride(), value.dtype, value.requires_grad, node, value.tolist()))


def forget():
    for packet in list(packets.values()):
        packet.forget_plans()


@pytest.mark.parametrize("context", [mt.enable_grad, mt.no_grad, mt.inference_mode])
@pytest.mark.parametrize("case", CASES)
def test_other_sizes_give_what_they_give_when_planned_in_full(case, context):
    with context():
        alone = []
        for size in SIZES:
            forget()
            alone.append(shown(case, size))
        forget()
        assert [shown(case, size) for size in SIZES] == alone


@pytest.mark.parametrize(
    "case",
    "add slice view sum matmul linear softmax cat zeros in_place index_add_ mask cross_entropy gradient by_turns".split(),
)
def test_other_sizes_are_not_planned_in_full(case, monkeypatch):
    planned = Counter()

    def noting(bound):
        planned[bound.row.name] += 1
        return plan_call(bound)

    plan_call = call.plan_call
    forget()
    for size in (4, 6, 8):
        shown(case.replace("_turns", " turns").replace("in_place", "in place"), size)
    monkeypatch.setattr(call, "plan_call", noting)
    for size in (5, 9, 11):
        shown(case.replace("_turns", " turns").replace("in_place", "in place"), size)
    assert not planned


def test_a_registered_kernel_answers_for_all_sizes():
    for size in (3, 4):
        mt.ones(size).sinh()
    with mt.library._scoped_library("aten", "IMPL") as library:
        library.impl("sinh", lambda self: self + 7.0, "CPU")
        assert mt.ones(5).sinh().tolist() == [8.0] * 5
    assert mt.ones(6).sinh()[0].item() == pytest.approx(1.1752012)


def test_a_family_keeps_no_tensor():

    x = made(6, 3, grad=True)
    gone = weakref.ref(x)
    mt.cat([x, x]).sum(0)
    x.clone().add_(1.0)
    del x
    gc.collect()
    assert gone() is None


@pytest.mark.skipif(native.module is None, reason="the native call path is not built")
@pytest.mark.parametrize("case", ["add", "view", "matmul", "cat", "in place"])
def test_other_sizes_are_planned_from_native_code(case):
    """Python's own look-up and executor take no part: it plans, and the native executor runs what comes of it."""
    for size in (4, 6, 8):
        CASES[case](size)
    seen = Counter()

    def note(frame, event, _):
        if event == "call" and frame.f_code.co_filename in (call.__file__, executor.__file__):
            seen[frame.f_code.co_name] += 1

    sys.setprofile(note)
    try:
        for size in (5, 9, 11):
            CASES[case](size)
    finally:
        sys.setprofile(None)
    assert seen["plan_member"] >= 3
    assert not seen.keys() & {"call", "_call_unplanned", "run_kernel", "run_inplace", "run_view"}
