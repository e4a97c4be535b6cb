"""Forms that PyTorch's own tests use, each beside torch."""

from __future__ import annotations

import sys
import warnings

import pytest

import mindtorch
from mindtorch_testing import assert_same_value, assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")

SAME = (
    "T.ones(2, 3).new(size=(2, 3)).zero_()",
    "T.ones(3, dtype=T.uint8).index_add(0, T.tensor([1]), T.ones(1, dtype=T.uint8), alpha=-1)",
    "T.ones(3, dtype=T.uint8).index_add(0, T.tensor([1]), T.ones(1, dtype=T.uint8), alpha=0.5)",
    "T.ones(3, dtype=T.uint8).index_add(0, T.tensor([1]), T.ones(1, dtype=T.uint8), alpha=2.7)",
    "T.ones(3, dtype=T.bool).index_add(0, T.tensor([1]), T.ones(1, dtype=T.bool), alpha=2)",
    "T.bernoulli(T.ones(2), out=T.zeros(2, dtype=T.int32))",
    "T.bernoulli(T.zeros(2), out=T.ones(2, dtype=T.bool))",
    "T.tensor(T.empty(2, 1, 3).transpose(0, 1).dim_order())",
    "T.tensor(T.empty(1, 1).dim_order(ambiguity_check=[T.contiguous_format]))",
    "T.ones(2, 2).int().type(T.Tensor)",
    "T.tensor([T._debug_has_internal_overlap(x) for x in (T.ones(3, 3).t(), T.ones(1).expand(3), T.ones(6, 6)[::2, ::2])])",
    "T._linalg_det(T.eye(2)).result",
    "T._linalg_svd(T.eye(2)).S",
)
ERRORS = (
    "T.ones(3, dtype=T.int8).index_add(0, T.tensor([1]), T.ones(1, dtype=T.int8), alpha=300)",
    "T.empty((0, 1, 2, 0)).index_select(0, T.tensor([0]))",
    "T.empty((0, 1, 2, 0)).index_select(2, T.tensor([5]))",
    "T.use_deterministic_algorithms(0)",
    "T.use_deterministic_algorithms(True, warn_only=1)",
    "T._check_tensor_all(T.tensor(1))",
    "T._assert_tensor_metadata(T.ones(2), dtype=T.int, size=[4])",
    "T._assert_tensor_metadata(T.ones(2), dtype=T.int)",
    "T._assert_tensor_metadata(T.ones(2), device='meta')",
    "T._assert_tensor_metadata(T.ones(2, 2), layout=T.sparse_csr)",
    "T.futures.collect_all((T.futures.Future(), None))",
    "T.jit.wait(None)",
)


def evaluated(text, library):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(text, {"T": library})


@pytest.mark.parametrize("text", SAME)
def test_values_are_those_of_torch(text):
    assert_same_value(lambda: evaluated(text, mindtorch), lambda: evaluated(text, torch))


@pytest.mark.parametrize("text", ERRORS)
def test_refusals_are_those_of_torch(text):
    assert_torch_error(lambda: evaluated(text, mindtorch), lambda: evaluated(text, torch))


def test_a_storage_counts_its_bytes():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        long, short = (sys.getsizeof(mindtorch.ones(length).storage()) for length in (100, 0))
    assert long - short == 400


def test_storages_are_named_by_their_elements():
    theirs = {str(dtype): name for dtype, name in torch.storage._dtype_to_storage_type_map().items()}
    assert {str(dtype): name for dtype, name in mindtorch.storage._dtype_to_storage_type_map().items()} == theirs


def test_a_callback_that_fails_does_not_keep_others_from_running(caplog):
    done, future = [], mindtorch.futures.Future()
    future.add_done_callback(lambda _: 1 / 0)
    future.add_done_callback(lambda _: done.append(True))
    future.set_result(3)
    assert done == [True]
    assert "division by zero" in caplog.text


def with_own_register_buffer(library, **kind):
    class Own(library.nn.Linear):
        def register_buffer(self, name, value):
            super().register_buffer(name, value, True)

    module = Own(2, 2)
    module.bar = library.nn.Buffer(library.ones(2), **kind)
    return module.state_dict()["bar"]


def test_a_module_may_register_buffers_without_saying_whether_they_are_saved():
    assert_same_value(lambda: with_own_register_buffer(mindtorch), lambda: with_own_register_buffer(torch))
    assert_torch_error(
        lambda: with_own_register_buffer(mindtorch, persistent=False),
        lambda: with_own_register_buffer(torch, persistent=False),
    )


def test_a_batched_gradient_leaves_out_what_nobody_asked_for():
    volume = mindtorch.rand(1, 1, 3, 3, 3, dtype=mindtorch.double)
    places = mindtorch.rand(1, 2, 2, 2, 3, dtype=mindtorch.double, requires_grad=True)

    def sampled(grid):
        return mindtorch.nn.functional.grid_sample(volume, grid, align_corners=True)

    assert mindtorch.autograd.gradcheck(sampled, (places,), check_batched_grad=True)


def test_a_batch_of_gradients_meets_one_input_of_prelu():
    values = mindtorch.tensor([-1.0, 2.0, -3.0, 4.0], dtype=mindtorch.double, requires_grad=True)
    slope = mindtorch.tensor([0.25], dtype=mindtorch.double, requires_grad=True)
    assert mindtorch.autograd.gradcheck(mindtorch.nn.functional.prelu, (values, slope), check_batched_grad=True)
