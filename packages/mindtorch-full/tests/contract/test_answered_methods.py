"""Methods that are answered without Python where nothing is unusual: they say what torch says, usual or not."""

import numpy as np
import pytest
import torch

import mindtorch
from mindtorch_testing import assert_torch_error

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64"]
READERS = {
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "float": float,
    "int": int,
    "bool": bool,
    "complex": complex,
    "index": lambda x: [10, 20, 30][x],
}


def outcome(call, *arguments):
    """Return what a call gives, its type with it, or the error it raises."""
    try:
        value = call(*arguments)
    except Exception as error:  # noqa: BLE001 (what is compared)
        return type(error), str(error)
    return type(value), value


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reader", sorted(READERS))
@pytest.mark.parametrize("data", [1, [0], [[2]], [1, 0], []])
def test_readers_of_every_dtype(dtype, reader, data):
    ours = mindtorch.tensor(data).to(getattr(mindtorch, dtype))
    theirs = torch.tensor(data).to(getattr(torch, dtype))
    assert outcome(READERS[reader], ours) == outcome(READERS[reader], theirs)


@pytest.mark.parametrize("reader", ["item", "tolist", "float", "int", "bool"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), -0.0, 1e300])
def test_readers_of_unusual_numbers(reader, value):
    results = [outcome(READERS[reader], make(value, dtype=wide)) for make, wide in
               ((mindtorch.tensor, mindtorch.float64), (torch.tensor, torch.float64))]  # fmt: skip
    assert repr(results[0]) == repr(results[1])


@pytest.mark.parametrize("arguments", [(), (0,), (-1,), (2,), (-3,), ("x",), (None,), (1.5,), (2**70,)])
@pytest.mark.parametrize("shape", [(2, 3), ()])
def test_sizes(shape, arguments):
    one, other = (outcome(side.zeros(shape).size, *arguments) for side in (mindtorch, torch))
    if isinstance(other[1], tuple):
        one, other = (tuple(result[1]) for result in (one, other))
    if arguments not in [("x",), (1.5,), (2**70,)]:  # texts of arguments that no dimension can be differ
        assert one == other


def test_a_view_says_where_it_lies():
    x = mindtorch.arange(12).reshape(3, 4)
    assert x[1, 2].data_ptr() == x.data_ptr() + 6 * x.element_size()
    assert x.data_ptr() == x.untyped_storage().data_ptr() == x.numpy().ctypes.data
    assert mindtorch.zeros(0).data_ptr() == 0


def test_what_requires_grad_already():
    x = mindtorch.zeros(2)
    assert x.requires_grad_(False) is x
    assert not x.requires_grad
    assert x.requires_grad_() is x
    assert x.requires_grad_(True) is x
    assert x.requires_grad
    assert (x * 2).requires_grad_().requires_grad
    assert_torch_error(
        lambda: (mindtorch.ones(1, requires_grad=True) * 2).requires_grad_(False),
        lambda: (torch.ones(1, requires_grad=True) * 2).requires_grad_(False),
    )


def test_modes_are_asked_for_the_method_itself():
    seen = []

    class Mode(mindtorch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    x = mindtorch.ones(2, 2)
    with Mode():
        x[0, 0].item()
        x.float()
        x.tolist()
    Tensor = mindtorch.Tensor
    assert seen == [Tensor.__getitem__, Tensor.item, Tensor.float, Tensor.tolist]


def test_a_pipeline_is_run_before_elements_are_read():
    x = mindtorch.zeros(2)
    with mindtorch.pipeline():
        y = x + 1
        x.add_(5)
        assert x.tolist() == [5.0, 5.0]
        assert float(y[0]) == 1.0
        assert bool(y[1] == 1)


@pytest.mark.parametrize(
    "index",
    [
        (1, 2), (slice(None), 1), (Ellipsis, 0), (None, 0, Ellipsis, None), (slice(0, 1), slice(1, None, 2)), (-1, -1),
        (slice(-5, 100),), (slice(None),), (Ellipsis, Ellipsis), (slice(2, 1), 0), (),
        (3, 0), (0, 0, 0, 0), (0, -5), (slice(None, None, 0),), (slice(None, None, -1),), (slice(1.5, None),), (2**70,),
        (True, 0), (np.int64(1), 0), (slice(2**70, None), 0), (slice(None, -(2**63)),), (0.5,), ("a",), slice(1, 2),
        slice(None), slice(0, 3), None, Ellipsis, [0, 1],
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("grad", [False, True])
def test_indices_select_what_torchs_do(index, grad):
    results = []
    for side in (mindtorch, torch):
        x = side.arange(24.0).reshape(2, 3, 4).requires_grad_(grad)
        try:
            got = x[index]
        except Exception as error:  # noqa: BLE001 (what is compared)
            results.append((type(error), str(error)))
            continue
        node = type(got.grad_fn).__name__ if grad else got._is_view()
        results.append((tuple(got.shape), got.stride(), got.storage_offset(), got.tolist(), node, got is x))
    assert results[0] == results[1]


@pytest.mark.parametrize("index", [(1, 2), (slice(None), 1), 0, Ellipsis, (Ellipsis, 0), slice(0, 1), slice(None), None, ()],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("value", [2.5, 3, True, "tensor"])
def test_assignments_write_what_torchs_do(index, value):
    results = []
    for side in (mindtorch, torch):
        x = side.arange(24.0).reshape(2, 3, 4)
        x[index] = side.tensor(7.0) if value == "tensor" else value
        results.append((x.tolist(), x._version))
    assert results[0] == results[1]


def test_assignments_are_recorded():
    for index in [(1, 2), (slice(None), 1), 0, Ellipsis]:
        grads = []
        for side in (mindtorch, torch):
            leaf = side.arange(24.0).reshape(2, 3, 4).requires_grad_()
            x = leaf * 2
            x[index] = 1.0
            x.sum().backward()
            grads.append((leaf.grad.tolist(), type(x.grad_fn).__name__))
        assert grads[0] == grads[1]
