"""Programs do the same inside of a pipeline: values bit for bit, order of effects, draws, errors, threads, nesting."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch.nn import functional as F
from mindtorch_dispatch.keys import DispatchKey, DispatchKeySet
from mindtorch_dispatch.registry import registry
from mindtorch_dispatch.state import exclude_keys, include_keys

MODES = pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fuse"])


def values_in_place(x: Any) -> Any:
    y = x * 2
    y.add_(1)
    z = y + 1
    y.mul_(x)
    y[0].zero_()
    return y, z, y.sub_(3) is y


def views_and_aliases(x: Any) -> Any:
    y = x.clone()
    turned, row, flat = y.t(), y[1], y.view(-1)
    before = y * 2
    y.add_(1)
    row.mul_(10)
    between = turned * 3
    flat[::3] = -1
    y.data.add_(0.5)
    return before, between, y, turned, row, flat, [one.clone() for one in y.unbind(0)]


def lists_change_after_the_call(x: Any) -> Any:
    parts = [x, x + 1]
    joined = mt.cat(parts)
    parts.append(x)
    parts[0] = x * 5
    return joined


def written_views_of_views(x: Any) -> Any:
    y = x.clone()
    y[1:].t()[0].add_(1)
    y.diagonal().fill_(9)
    y.expand(2, *y.shape)[0]
    return y, y.sum(0, keepdim=True).expand_as(y) + y


def graph_with_grad_modes(x: Any) -> Any:
    w = x.clone().requires_grad_()
    y = w * 2
    with mt.no_grad():
        z = y * 3
        w2 = w.detach().clone()
        w2.mul_(2)
    with mt.inference_mode():
        i = w2 + 1
    (y.sigmoid() * w2).sum().backward()
    return w.grad, z.requires_grad, y.requires_grad, i.is_inference(), i.clone(), y.grad_fn.name()


def hooks(x: Any) -> Any:
    w = x.clone().requires_grad_()
    seen: list[Any] = []
    y = w.exp()
    y.register_hook(lambda grad: seen.append(grad.sum().item()))
    y.retain_grad()
    w.register_hook(lambda grad: grad * 2)
    (y * y).sum().backward()
    return seen, w.grad, y.grad


def second_order(x: Any) -> Any:
    w = x.clone().requires_grad_()
    (grad,) = mt.autograd.grad((w**3).sum(), w, create_graph=True)
    (again,) = mt.autograd.grad((grad * grad).sum(), w)
    return grad, again


def draws(x: Any) -> Any:
    a = x + mt.rand_like(x)
    b = mt.randn(3, 2) @ mt.rand(2, 3)
    c = F.dropout(a, 0.5) * mt.bernoulli(mt.full_like(a, 0.3))
    generator = mt.Generator().manual_seed(3)
    d = mt.empty(4).uniform_(generator=generator)
    mt.manual_seed(7)
    e = mt.randperm(5)
    state = mt.get_rng_state()
    f = mt.randn(3)
    mt.set_rng_state(state)
    return a, b, c, d, e, f, mt.randn(3), mt.multinomial(mt.ones(4), 2), mt.normal(0.0, 1.0, (2,))


def autocast(x: Any) -> Any:
    with mt.autocast("cpu", dtype=mt.bfloat16):
        y = x @ x.t()
    return y.dtype == mt.bfloat16, y.float(), (x @ x.t()).dtype == mt.float32


def control_flow(x: Any) -> Any:
    count = 0
    while x.abs().max() > 0.1 and count < 50:
        x = x * 0.7
        count += 1
    return x, count, [i for i in range(3) if x[0, 0] > -1]


def data_dependent(x: Any) -> Any:
    y = x + 1
    picked = y[y > 1] * 2
    where = mt.nonzero(y > 1)
    y[y < 0] = 0
    return picked, where, y, mt.unique((y * 4).long()), y.sort(1), y.topk(2).values, y.max(1)


def conversions(x: Any) -> Any:
    y = x.to(mt.bfloat16) * 2
    y = (y + 1).float().double().to(mt.float32)
    n = (x * 10).long() // 3 % 4
    return y, n << 1, n.bool() & (n > 1), x.to(mt.complex64) * 1j


def out_arguments(x: Any) -> Any:
    o, wrong = mt.empty_like(x), mt.empty(0)
    mt.add(x, 1, out=o)
    mt.mul(o, 2, out=o)
    mt.exp(x, out=wrong)
    return o, wrong


def losses(x: Any) -> Any:
    w = x.clone().requires_grad_()
    loss = F.cross_entropy(w, mt.arange(x.shape[0]) % x.shape[1]) + F.mse_loss(w.tanh(), x)
    loss.backward()
    return loss, w.grad, F.layer_norm(x, x.shape[1:]), F.softmax(x, 0), F.log_softmax(x, 1)


def training(x: Any) -> Any:
    mt.manual_seed(0)
    layers = mt.nn
    model = layers.Sequential(layers.Linear(x.shape[1], 8), layers.BatchNorm1d(8), layers.ReLU(), layers.Linear(8, 3))
    found = []
    for optimizer in (mt.optim.SGD(model.parameters(), 0.1, momentum=0.9), mt.optim.AdamW(model.parameters())):
        for _ in range(3):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), mt.zeros(x.shape[0], dtype=mt.long))
            loss.backward()
            layers.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            found.append(loss.detach())
    return found, list(model.state_dict().values())


def custom_function(x: Any) -> Any:
    class Double(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, one: Any) -> Any:
            ctx.save_for_backward(one)
            return one * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (one,) = ctx.saved_tensors
            return grad * 2 + one

    w = x.clone().requires_grad_()
    y = Double.apply(w) + 1
    y.sum().backward()
    return y, w.grad


def forward_mode(x: Any) -> Any:
    return mt.func.jvp(lambda one: (one.sin() * one).sum(0), (x,), (mt.ones_like(x),))


def vmapped(x: Any) -> Any:
    return mt.vmap(lambda row: (row * 2).softmax(0) + row.sum())(x), mt.func.grad(lambda one: (one**2).sum())(x)


PROGRAMS = [
    value for value in list(globals().values()) if callable(value) and getattr(value, "__module__", "") == __name__
]


def plain(value: Any) -> Any:
    if isinstance(value, mt.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride(), value.detach().tolist()
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


@MODES
@pytest.mark.parametrize("shape", [(3, 4), (300, 400)], ids=["small", "large"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_results(program: Callable[[Any], Any], shape: tuple[int, int], fuse: bool) -> None:
    mt.manual_seed(3)
    x = mt.randn(*shape)
    mt.manual_seed(4)
    expected = plain(program(x.clone()))
    mt.manual_seed(4)
    with mt.pipeline(fuse=fuse):
        found = program(x.clone())
    assert plain(found) == expected


def test_recorded_calls_know_their_geometry_and_have_not_run() -> None:
    with mt.pipeline() as pipe:
        x = mt.ones(2, 3, requires_grad=True)
        y = (x.t() * 2)[1:]
        assert (y._pending, y.shape, y.stride(), y.dtype) == (True, (2, 2), (1, 3), mt.float32)
        assert (y.grad_fn.name(), y._version, y.is_leaf, y.storage_offset()) == ("SliceBackward0", 0, False, 1)
        y.detach().add_(1)
        assert (y._version, len(pipe)) == (1, 6)
        pipe.flush()
        assert (y._pending, len(pipe)) == (False, 0)
        assert y.tolist() == [[3, 3], [3, 3]]
        with pytest.raises(RuntimeError, match="must match the size of tensor b"):
            x + mt.ones(5)  # errors of geometry are raised at the call


@MODES
def test_errors_of_kernels_come_at_the_flush_and_name_the_line(fuse: bool) -> None:
    x, untouched = mt.ones(3), mt.ones(3)
    with mt.pipeline(fuse=fuse) as pipe:
        fine = x + 1
        line = sys._getframe().f_lineno + 1
        wrong = x.gather(0, mt.tensor([5]))
        after = wrong + 1
        untouched.add_(1)
        with pytest.raises(RuntimeError, match="index 5 is out of bounds for dimension 0 with size 3") as caught:
            pipe.flush()
        (note,) = caught.value.__notes__
        assert note.startswith(f"recorded by aten::gather at {__file__}:{line}, in test_errors_of_kernels")
        assert fine.tolist() == [2, 2, 2]
        assert untouched.tolist() == [1, 1, 1]  # what comes after the error has not run, as in a plain program
        for tensor in (wrong, after):
            with pytest.raises(
                RuntimeError, match=r"never computed: the pipeline stopped at aten::gather at .*index 5"
            ):
                tensor.tolist()
        assert (x * 2).tolist() == [2, 2, 2]  # the pipeline goes on
    with pytest.raises(RuntimeError, match="never computed"):
        after + 1


def test_the_line_is_the_programs_own() -> None:
    layer = mt.nn.Embedding(3, 2)
    with pytest.raises(IndexError) as caught, mt.pipeline():
        layer(mt.tensor([7]))
    assert "in test_the_line_is_the_programs_own" in caught.value.__notes__[0]
    assert __file__ in caught.value.__notes__[0]


@MODES
def test_an_error_in_the_middle_of_a_chain_is_that_of_its_call(fuse: bool) -> None:
    n = mt.arange(100_000)
    with mt.pipeline(fuse=fuse) as pipe:
        before = n + 1
        quotient = (before * 2) // (n - 50_000)
        after = quotient + 1
        with pytest.raises(RuntimeError, match="ZeroDivisionError") as caught:
            pipe.flush()
    assert "aten::floor_divide" in caught.value.__notes__[0]
    assert before[:2].tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="never computed"):
        after.tolist()


def test_nesting_keeps_the_order() -> None:
    x = mt.ones(2)
    with mt.pipeline() as outer:
        y = x + 1
        with mt.pipeline(fuse=True) as inner:
            x.add_(10)
            z = x * y
            assert (len(outer), len(inner)) == (1, 2)
            inner.flush()
            assert (len(outer), len(inner)) == (0, 0)
            w = z + 1
        assert not w._pending
        v = w + 1
        assert (v._pending, len(outer)) == (True, 1)
        with pytest.raises(RuntimeError, match="already active"):
            outer.__enter__()
        assert (v + 1)._pending
    assert [one.tolist() for one in (y, z, v)] == [[2, 2], [22, 22], [24, 24]]
    assert not (x + 1)._pending


def test_a_pipeline_can_be_used_again() -> None:
    pipe = mt.pipeline()
    for _ in range(2):
        with pipe as entered:
            assert entered is pipe
            y = mt.ones(2) + 1
            assert y._pending
        assert y.tolist() == [2, 2]


def test_threads_have_pipelines_of_their_own() -> None:
    barrier, results = threading.Barrier(2), {}

    def work(number: int) -> None:
        with mt.pipeline(fuse=bool(number)) as pipe:
            x = mt.full((40_000,), float(number))
            for _ in range(20):
                x = x + 1
            barrier.wait()
            results[number] = (len(pipe), x[0].item(), x._pending)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    with mt.pipeline() as mine:
        y = mt.ones(1) + 1
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (len(mine), y._pending) == (2, True)
    assert results == {0: (21, 20.0, False), 1: (21, 21.0, False)}


def test_other_threads_see_values_that_wait() -> None:
    found = []
    with mt.pipeline():
        x = mt.ones(2) + 1
        readers = [threading.Thread(target=lambda: found.append(((x + 1).tolist(), x.tolist()))) for _ in range(4)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    assert found == [([3, 3], [2, 2])] * 4


def test_guards_turn_recording_off_and_on() -> None:
    key = DispatchKeySet([DispatchKey.Pipeline])
    x = mt.ones(2)
    with include_keys(key):
        assert not (x + 1)._pending  # there is no pipeline to record it
    with mt.pipeline() as pipe:
        x.add_(1)
        with exclude_keys(key):
            y = x + 1  # runs at once, after what is recorded
            assert (len(pipe), y._pending) == (0, False)
    assert y.tolist() == [3, 3]


@pytest.fixture
def operator() -> Any:
    registry.register_schema("pipelines::double", "double(Tensor x) -> Tensor")
    yield "pipelines::double"
    for key in (DispatchKey.CPU, DispatchKey.Meta, DispatchKey.Pipeline):
        registry.unregister_kernel("pipelines::double", key)


def test_registered_kernels_need_a_meta_kernel(operator: str) -> None:
    calls = []

    def double(x: Any) -> Any:
        calls.append(x.tolist())
        return mt.tensor(x.numpy() * 2)

    registry.register_kernel(operator, DispatchKey.CPU, double)
    call = mt.ops.pipelines.double
    assert call(mt.ones(1)).tolist() == [2]
    with mt.pipeline(), pytest.raises(RuntimeError, match=r"^pipeline requires meta kernel for op pipelines::double$"):
        call(mt.ones(1))
    with mt.pipeline(strict=False):
        assert call(mt.ones(1) + 1).tolist() == [4]
    registry.register_kernel(operator, DispatchKey.Meta, lambda x: mt.empty_like(x))
    calls.clear()
    with mt.pipeline():
        y = call(mt.ones(2) + 1)
        assert (y._pending, y.shape, calls) == (True, (2,), [])
        z = y + 1
    assert (y.tolist(), z.tolist(), calls) == ([4, 4], [5, 5], [[2, 2]])


def test_the_meta_kernel_is_held_to_its_word(operator: str) -> None:
    registry.register_kernel(operator, DispatchKey.CPU, lambda x: x * 2)
    registry.register_kernel(operator, DispatchKey.Meta, lambda x: x.new_empty(7))
    text = r"promised torch.float32 of shape \(7,\), the kernel returned torch.float32 of shape \(2,\)"
    with mt.pipeline() as pipe:
        mt.ops.pipelines.double(mt.ones(2))
        with pytest.raises(RuntimeError, match=text):
            pipe.flush()


def test_a_kernel_for_the_pipeline_key_comes_first(operator: str) -> None:
    registry.register_kernel(operator, DispatchKey.CPU, lambda x: x * 2)
    registry.register_kernel(operator, DispatchKey.Pipeline, lambda x: x * 100)
    assert mt.ops.pipelines.double(mt.ones(1)).tolist() == [2]
    with mt.pipeline():
        assert mt.ops.pipelines.double(mt.ones(1)).tolist() == [100]


def test_a_composing_function_that_reads_past_the_boundary_is_an_error(operator: str) -> None:
    registry.register_kernel(operator, DispatchKey.CPU, lambda x: (x + 1)._array)
    registry.register_kernel(operator, DispatchKey.Meta, registry.get(operator).kernels[DispatchKey.CPU])
    with mt.pipeline(), pytest.raises(AttributeError, match="_array"):
        mt.ops.pipelines.double(mt.ones(2))
