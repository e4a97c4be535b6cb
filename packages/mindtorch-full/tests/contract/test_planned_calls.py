"""Calls that are planned already: they give what the first call gave, natively and in Python alike."""

import copy
import gc
import io
import pickle
import threading
import weakref

import pytest

import mindtorch
from mindtorch_dispatch.call import planned
from mindtorch_dispatch.table import find_packet
from mindtorch_runtime import native

there = pytest.mark.skipif(native.module is None, reason="the native module is not built, or switched off")


def made_plans(fn):
    before = planned["count"]
    fn()
    return planned["count"] - before


def again(fn, times=3):
    """What the call gives when it is planned anew and when it is not."""
    found = [fn() for _ in range(times)]
    assert all(mindtorch.equal(one, found[0]) for one in found)
    return found[-1]


def test_a_position_is_no_part_of_the_plan():
    x = mindtorch.arange(24.0).reshape(6, 4)
    x[0], x.select(1, 0), mindtorch.select(x, 0, index=0)
    assert made_plans(lambda: [x[i] for i in range(-6, 6)]) == 0
    assert made_plans(lambda: [mindtorch.select(x, 0, index=i) for i in range(6)]) == 0
    assert [x[i, 0].item() for i in range(-6, 6)] == [4.0 * (i % 6) for i in range(-6, 6)]


@pytest.mark.parametrize("index", [6, -7, 2**70, -(2**70)])
def test_positions_outside(index):
    x = mindtorch.arange(6.0)
    x[0]
    with pytest.raises((IndexError, ValueError)) as first:
        x[index]
    text = "Overflow" if abs(index) > 2**63 else f"index {index} is out of bounds for dimension 0 with size 6"
    assert text in str(first.value)
    if abs(index) < 2**63:
        with pytest.raises(IndexError, match="select\\(\\): index"):
            x.select(0, index)


def test_slices_that_start_elsewhere():
    x = mindtorch.arange(10)
    for start in range(-12, 12):
        for stop in (None, 3, -2, 20):
            assert x[start:stop].tolist() == list(range(10))[start:stop]


def test_views_share_bytes_and_versions():
    x = mindtorch.zeros(4, 3)
    rows = [again(lambda i=i: x[i]) for i in range(4)]
    rows[2].add_(1)
    assert x.sum().item() == 3
    assert x._version == rows[0]._version == 1
    assert rows[2].data_ptr() == x.data_ptr() + 24
    assert rows[2]._base is x
    assert rows[2].untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_views_follow_their_base():
    x = mindtorch.zeros(3)
    views = [x[0] for _ in range(200)]
    kept = views[::50]
    del views
    gc.collect()
    more = [x.view(3, 1) for _ in range(100)]
    x.requires_grad_()
    assert all(one.requires_grad for one in (*kept, *more))


def test_a_view_of_what_is_not_there():
    x = mindtorch.zeros(4)
    x.as_strided((2,), (1,), 1)
    x.untyped_storage().resize_(8)
    with pytest.raises(RuntimeError):
        x.as_strided((2,), (1,), 3)


def test_arguments_that_differ_are_other_calls():
    x = mindtorch.arange(6.0)
    assert again(lambda: x.view(2, 3)).shape == (2, 3)
    assert again(lambda: x.view((3, 2))).shape == (3, 2)
    assert again(lambda: x.view([6, 1])).shape == (6, 1)
    assert again(lambda: x.add(1)).tolist() == [1, 2, 3, 4, 5, 6]
    assert again(lambda: x.add(True)).tolist() == again(lambda: x.add(1.0)).tolist()
    assert again(lambda: x.add(x, alpha=2)).tolist() == again(lambda: x.mul(3)).tolist()
    assert again(lambda: x.sum(dim=0)).item() == again(lambda: x.sum(0, keepdim=False)).item() == 15
    assert again(lambda: mindtorch.sum(input=x, dim=0, keepdim=True)).shape == (1,)
    assert again(lambda: mindtorch.sum(x, 0, dtype=mindtorch.int64)).dtype is mindtorch.int64


def test_ints_are_wrapped_as_their_dtype_wraps():
    x = mindtorch.tensor([250, 5], dtype=mindtorch.uint8)
    assert [(x + value).tolist() for value in (1, 6, 255, 1)] == [[251, 6], [0, 11], [249, 4], [251, 6]]


def test_each_thread_has_its_mode():
    x = mindtorch.ones(2, requires_grad=True)
    (x + x, x * x)
    found = {}

    def work():
        found["other"] = (x + x).requires_grad
        with mindtorch.no_grad():
            found["without"] = (x + x).requires_grad

    with mindtorch.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        found["here"] = (x + x).requires_grad
    assert found == {"other": True, "without": False, "here": False}


def test_plans_are_forgotten_together():
    x = mindtorch.ones(2)
    again(lambda: x + x)
    packet = find_packet("add")
    before = packet.plans
    assert before
    assert made_plans(lambda: x + x) == 0
    packet.forget_plans()
    assert packet.plans is not before
    assert made_plans(lambda: x + x) == 1


def test_a_mode_that_takes_calls_is_asked_each_time():
    from mindtorch.overrides import TorchFunctionMode

    names = []

    class Noting(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            names.append(func.__name__)
            return func(*args, **(kwargs or {}))

    x = mindtorch.ones(3)
    again(lambda: x[0] + x.view(1, 3))
    with Noting():
        again(lambda: x[0] + x.view(1, 3), times=2)
    assert names.count("__getitem__") == names.count("view") == names.count("add") == 2


def test_functions_are_found_by_name():
    for function in (mindtorch.add, mindtorch.Tensor.add, mindtorch.Tensor.__getitem__):
        assert weakref.ref(function)() is function
        assert callable(function)
        assert function == function
        assert hash(function) == hash(function)
    assert mindtorch.add.__name__ == mindtorch.Tensor.add.__name__ == "add"
    assert mindtorch.add.__module__ == "torch"
    assert pickle.loads(pickle.dumps(mindtorch.ops.aten.add)) is mindtorch.ops.aten.add
    for function in (mindtorch.add, mindtorch.Tensor.add, mindtorch.Tensor.__getitem__):
        assert copy.copy(function) is copy.deepcopy(function) is function
    stored = io.BytesIO()
    mindtorch.save({"activation": mindtorch.relu}, stored)
    assert b"relu" in stored.getvalue()
    bound = mindtorch.ones(2).add
    assert bound(1).tolist() == [2, 2]
    assert bound.__self__.tolist() == [1, 1]


@there
def test_native_callables():
    assert type(mindtorch.add) is native.module.Function
    assert type(mindtorch.Tensor.add) is type(mindtorch.Tensor.__add__) is native.module.Method
    assert type(mindtorch.Tensor.__getitem__) is native.module.Shortcut
    assert repr(mindtorch.add) == "<built-in function add>"
    assert repr(mindtorch.Tensor.add) == "<method 'add' of tensors>"

    class Holder:
        function = mindtorch.relu  # as torch's, it binds to nothing

    assert Holder().function(mindtorch.tensor([-1.0, 1.0])).tolist() == [0, 1]


@there
def test_native_functions_refuse_wrong_settings():
    for wrong in ((), (1, 2), (mindtorch.add, 3, (), None), (None, int, (), None)):
        with pytest.raises(TypeError):
            native.module.shortcut(*wrong)
    with pytest.raises(TypeError):
        native.module.caller(None)
    with pytest.raises(TypeError):
        native.module.propagate(None, (), [])


def test_gradients_that_meet():
    x = mindtorch.ones(3, requires_grad=True)
    y = x * 2
    total = sum((y * factor for factor in range(8)), y.sum() * 0)
    total.sum().backward()
    assert x.grad.tolist() == [56, 56, 56]
    (x * 3).sum().backward()
    assert x.grad.tolist() == [59, 59, 59]


def test_a_gradient_that_others_see_is_copied():
    x, y = (mindtorch.zeros(2, requires_grad=True) for _ in range(2))
    given = mindtorch.ones(2)
    (x + y).backward(given)
    x.grad.add_(1)
    assert (given.tolist(), y.grad.tolist()) == ([1, 1], [1, 1])


def test_a_gradient_that_is_a_view_is_copied_where_its_base_is_seen():
    x = mindtorch.zeros(2, 3, requires_grad=True)
    given = mindtorch.ones(3, 2)
    x.t().backward(given)
    x.grad.add_(1)
    assert given.tolist() == [[1, 1]] * 3
    layer = mindtorch.nn.Linear(3, 2)
    kept = []
    layer.weight.register_hook(kept.append)
    layer(mindtorch.ones(4, 3)).sum().backward()
    layer.weight.grad.add_(1)
    assert kept[0].tolist() == [[4, 4, 4]] * 2


def test_a_gradient_that_is_a_view_of_what_is_gone_is_taken():
    layer = mindtorch.nn.Linear(3, 2)
    layer(mindtorch.ones(4, 3)).sum().backward()
    assert layer.weight.grad._base is None
    assert layer.weight.grad.stride() == (3, 1)
    assert layer.weight.grad.tolist() == [[4, 4, 4]] * 2
    layer.zero_grad(set_to_none=False)
    layer(mindtorch.ones(4, 3)).sum().backward()
    assert layer.weight.grad.tolist() == [[4, 4, 4]] * 2


def test_nodes_of_every_sort_in_one_pass():
    class Double(mindtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = mindtorch.ones(2, 2, requires_grad=True)
    seen = []
    y = Double.apply(x).exp().t()
    y.register_hook(lambda grad: seen.append("hook"))
    a, b = y.unbind(0)
    values, _ = (a * b).sort()
    mindtorch.var_mean(values)[0].backward()
    assert seen == ["hook"]
    assert x.grad.shape == (2, 2)
    with pytest.raises(RuntimeError, match="second time"):
        values.sum().backward()


def test_what_was_written_into_is_noticed():
    x = mindtorch.ones(3, requires_grad=True)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0"):
        y.sum().backward()
    z = x * 1
    product = z * z
    z.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


def test_an_overload_is_planned_by_its_own_rules():
    x, aten = mindtorch.arange(4.0), mindtorch.ops.aten
    for _ in range(2):  # planned, and found
        assert aten.add.Tensor(x, x).tolist() == [0, 2, 4, 6]
        assert aten.add.Tensor(x, x, alpha=2).tolist() == [0, 3, 6, 9]
        assert aten.add.Tensor(x, x, alpha=3).tolist() == [0, 4, 8, 12]
        assert aten.mul.Scalar(x, 0.5).tolist() == [0, 0.5, 1, 1.5]
        assert aten.mul.Scalar(x, 2.0).tolist() == [0, 2, 4, 6]
        assert aten.sum.dim_IntList(x.view(2, 2), [0], keepdim=True).tolist() == [[2, 4]]
        assert aten.sum.dim_IntList(x.view(2, 2), [1], dtype=mindtorch.float64).tolist() == [1, 5]
        out = mindtorch.empty(4)
        assert aten.add.out(x, x, out=out) is out
        assert out.tolist() == [0, 2, 4, 6]
        with pytest.raises(RuntimeError, match=r"aten::mul"):
            aten.mul.Scalar(x)
        with mindtorch.no_grad():
            assert aten.mul.Tensor(x, mindtorch.ones(4, requires_grad=True)).grad_fn is None
        assert aten.mul.Tensor(x, mindtorch.ones(4, requires_grad=True)).grad_fn is not None
