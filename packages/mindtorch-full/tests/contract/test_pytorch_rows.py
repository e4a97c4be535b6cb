"""What PyTorch's own tests ask for, side by side with torch: refusals, warnings of every call, hooks, edges."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import mindtorch as mt
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch")


def _leaf(T: Any) -> Any:
    return T.ones(1, requires_grad=True)


def _edge(T: Any) -> Any:
    return T.autograd.graph.get_gradient_edge(_leaf(T) ** 2)


def _post_accumulate(T: Any) -> Any:
    x = _leaf(T)
    x.register_post_accumulate_grad_hook(lambda one: one.clone())
    (x * 2).sum().backward()


def _fused(T: Any, name: str) -> Any:
    parameter = T.nn.Parameter(T.ones(2, device="meta"))
    parameter.grad = T.ones(2, device="meta")
    getattr(T.optim, name)([parameter], fused=True).step()


REFUSED: list[Callable[[Any], Any]] = [
    lambda T: T.Tensor(T.ones(2), device="cpu"),
    lambda T: T.DoubleTensor(T.ones(2), device="meta"),
    lambda T: T.ones(2).new(T.ones(2), device="cpu"),
    lambda T: T.ones(2).new(T.ones(2), device="meta"),
    lambda T: (_leaf(T) ** 2).grad_fn(T.ones(1), T.ones(1)),
    lambda T: (_leaf(T) ** 2).grad_fn(),
    lambda T: T.autograd.grad(_leaf(T) * 2, _edge(T), allow_unused=True, materialize_grads=True),
    lambda T: T.autograd.grad(_edge(T), _leaf(T), grad_outputs=T.ones(1, dtype=T.complex64)),
    lambda T: T._C._functions.DelayedError("no more", 1)(_leaf(T) * 2).sum().backward(),
    lambda T: T.FloatTensor(device="cuda"),
    lambda T: T.FloatTensor((2.0, 3.0), device="cuda"),
    lambda T: T.Tensor(2, device="meta"),
    lambda T: T.empty(2).resize_([2, 4, 2**29, 2**29]),
    lambda T: T.empty(2).resize_([0, 4, 2305843009213693952]),
    lambda T: T.empty((0, 4, 4611686018427387904)),
    lambda T: T.rand([]).index_put([], T.tensor([1.0]), True),
    lambda T: T.utils.checkpoint.create_selective_checkpoint_contexts([T.ops.aten.sin]),
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_as_torch_does(call: Callable[[Any], Any]) -> None:
    assert_torch_error(lambda: call(mt), lambda: call(torch))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_fused_refuses_parameters_without_bytes(name: str) -> None:
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors"):
        _fused(mt, name)


def test_post_accumulate_hooks_return_none() -> None:
    with pytest.raises(RuntimeError, match="hooks should return None"):
        _post_accumulate(mt)


def _told(call: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    return [str(one.message).partition(" (Triggered")[0] for one in found]


def test_rounded_integers_are_warned_of_at_every_call() -> None:
    for _ in range(2):
        for T in (mt, torch):
            told = _told(lambda T=T: T.empty(3).random_(-(2**30), 2**30))
            assert [one.partition(" is out")[0] for one in told] == ["from", "to - 1"]


def test_arange_says_how_many_elements_out_gets() -> None:
    told = [_told(lambda T=T: T.arange(0, 50, out=T.empty(1, 49))) for T in (mt, torch)]
    assert told[0] == told[1]


def test_backward_to_an_unreachable_input_runs_no_node() -> None:
    ran = []

    class Counted(mt.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            ran.append(grad)
            return grad

    other = _leaf(mt)
    mt.autograd.backward(Counted.apply(_leaf(mt) * 2), inputs=(other,))
    assert not ran
    assert other.grad is None


def test_hooks_that_a_backward_enters_end_with_the_pass() -> None:
    hooks = mt.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: (hooks.__enter__(), x)[1])
    with hooks:
        _leaf(mt).exp().sum().backward()
    y = _leaf(mt).exp()
    y.grad_fn._raw_saved_result.register_hooks(lambda x: x, lambda x: x)  # none are on the stack


def test_memory_of_another_storage_has_another_leaf() -> None:
    x = mt.rand(2, requires_grad=True)
    out = x.clone()
    with mt.no_grad():
        x.set_(mt.rand(2))
    with pytest.raises(RuntimeError, match="not have been used in the graph"):
        mt.autograd.grad(out.sum(), x)


def test_a_view_without_history_prints() -> None:
    base = mt.tensor([1.0, 2.0], requires_grad=True).clone()
    with mt.no_grad():
        view = base[1:]
    base.mul_(2)
    assert repr(view) == "tensor([4.], grad_fn=<Invalid>)"


class Slotted(mt.Tensor):
    """A subclass with a slot of its own."""

    __slots__ = ("elem",)


def test_as_subclass_of_a_class_with_slots() -> None:
    x = mt.ones(2, requires_grad=True)
    made = (x * 2).as_subclass(Slotted)
    assert type(made) is Slotted
    made.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_empty_storages_keep_their_dtypes() -> None:
    x = mt.tensor([], dtype=mt.float32)
    other = mt.TypedStorage(wrap_storage=x.untyped_storage(), dtype=mt.float64)
    for zipped in (True, False):
        file = io.BytesIO()
        mt.save([x, other], file, _use_new_zipfile_serialization=zipped)
        file.seek(0)
        assert [one.dtype for one in mt.load(file)] == [mt.float32, mt.float64]


@pytest.mark.parametrize(("shape", "strides"), [((2, 3, 4), (2, 4, 6)), ((4, 3, 2), (10, 3, 1)), ((2, 3), (5, 1))])
def test_storages_of_strided_tensors_have_the_gaps(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    found = []
    for T in (torch, mt):
        made = T.empty_strided(shape, strides)
        view = made.as_strided(shape, strides)
        view.fill_(1)
        found.append((made.untyped_storage().nbytes(), made.sum().item(), view.data_ptr() == made.data_ptr()))
    assert found[0] == found[1]
