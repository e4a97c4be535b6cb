"""Who may see the memory of a gradient: what others hold is neither taken over nor added to, on any interpreter."""

import pytest

import mindtorch as mt
from mindtorch_autograd import accumulate, engine

GRAD = [2.0, 4.0, 6.0]


def leaf():
    return mt.ones(3, requires_grad=True)


def test_a_gradient_that_is_given_is_copied():
    first, second, grad = leaf(), leaf(), mt.tensor(GRAD)
    mt.autograd.backward([first * 1, second * 1], [grad, grad])
    (first * 5).sum().backward()
    assert grad.tolist() == GRAD
    assert second.grad.tolist() == GRAD
    assert first.grad.tolist() == [7.0, 9.0, 11.0]


def test_a_gradient_that_a_hook_keeps_is_not_written():
    kept = []
    one, other = leaf(), leaf()
    product = one * other
    result = product.clone()
    result.register_hook(kept.append)
    (result + result + product).backward(mt.tensor(GRAD))
    one.grad.mul_(6)
    assert [grad.tolist() for grad in kept] == [[4.0, 8.0, 12.0]]
    assert other.grad.tolist() == [6.0, 12.0, 18.0]


def test_one_gradient_for_two_leaves_is_not_shared():
    held = []

    class Same(mt.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            made = grad * 2
            held.append(made)
            return made, made

    one, other = leaf(), leaf()
    Same.apply(one, other).backward(mt.tensor([1.0, 2.0, 3.0]))
    one.grad.mul_(6)
    assert one.grad.tolist() == [12.0, 24.0, 36.0]
    assert other.grad.tolist() == held[0].tolist() == GRAD


def add_to(variable, grads):
    accumulate.add_to(variable, accumulate_meta(variable), grads)


def accumulate_meta(variable):
    variable.grad = None
    return variable._meta


@pytest.fixture
def variable():
    made = leaf()
    made.grad = mt.zeros(3)  # so that it has a meta
    return made


def test_only_the_list_s_gradient_is_taken_over(variable):
    shared = mt.tensor(GRAD)
    with mt.no_grad():
        add_to(variable, [shared])
        assert variable.grad.data_ptr() != shared.data_ptr()
        grads = [mt.tensor(GRAD)]
        address = grads[0].data_ptr()
        add_to(variable, grads)
        assert variable.grad.data_ptr() == address


def test_a_sum_that_others_hold_is_made_anew():
    class Node:
        _outputs = (None,)

    node = Node()
    with mt.no_grad():
        held, buffers = mt.tensor(GRAD), {}
        engine.GraphTask._arrive(buffers, node, 0, held)
        engine.GraphTask._arrive(buffers, node, 0, mt.tensor(GRAD))
        assert held.tolist() == GRAD
        assert buffers[node][0].tolist() == [4.0, 8.0, 12.0]
        address = buffers[node][0].data_ptr()
        buffers[node][0]._storage = None  # nobody asked for it
        engine.GraphTask._arrive(buffers, node, 0, mt.tensor(GRAD))
        assert buffers[node][0].data_ptr() == address  # nobody holds this one
        assert buffers[node][0].tolist() == [6.0, 12.0, 18.0]


def test_an_array_that_others_hold_is_no_sum_s_own():
    with mt.no_grad():
        sum_, grad = mt.tensor(GRAD), mt.tensor(GRAD)
        assert accumulate.writable(sum_, grad)
        array = sum_._array
        assert not accumulate.writable(sum_, grad)
        del array
        assert accumulate.writable(sum_, grad)
