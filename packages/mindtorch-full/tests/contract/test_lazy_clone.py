"""Lazy clones: who shares bytes, and until when; beside torch."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import mindtorch
from mindtorch_testing import assert_torch_error

torch = pytest.importorskip("torch", reason="oracle")


def _write_storage(clone: Any) -> None:
    clone.untyped_storage()[0] = 3


def _resize(clone: Any) -> None:
    clone.untyped_storage().resize_(4)


WRITES = {
    "in place": lambda t, clone: clone.add_(1),
    "an item": lambda t, clone: clone.__setitem__(0, 5.0),
    "a view": lambda t, clone: clone.view(2, 2)[1].mul_(3),
    "a result": lambda t, clone: t.add(clone, 1, out=clone),
    "several": lambda t, clone: t._foreach_add_([clone, clone], 1),
    "the array": lambda t, clone: clone.numpy().fill(7),
    "the storage": lambda t, clone: _write_storage(clone),
    "a shorter storage": lambda t, clone: _resize(clone),
    "random numbers": lambda t, clone: clone.zero_(),
    "the geometry": lambda t, clone: clone.resize_(2, 2).fill_(2),
    "the address": lambda t, clone: clone.data_ptr(),
}
READS = {
    "sum": lambda t, clone: clone.sum(),
    "two operands": lambda t, clone: clone + clone,
    "a view": lambda t, clone: clone.view(2, 2)[1],
    "several views": lambda t, clone: clone.split(1),
    "several operands": lambda t, clone: t.stack([clone, clone]),
    "a list": lambda t, clone: clone.tolist(),
    "a number": lambda t, clone: clone[1].item(),
    "comparison": lambda t, clone: t.equal(clone, clone),
    "unique numbers": lambda t, clone: clone.unique(),
    "as the other operand": lambda t, clone: t.ones(4).add_(clone),
    "an alias": lambda t, clone: clone.detach(),
    "text": lambda t, clone: repr(clone),
}


def _after(module: Any, what: Any) -> tuple[Any, ...]:
    """What is shared after something was done with a clone, and what original and clone hold."""
    original = module.arange(4.0)
    earlier = original[1:]
    clone = original._lazy_clone()
    what(module, clone)
    shared = [module._C._is_cow_tensor(one) for one in (original, earlier, clone)]
    kept = module._C._data_address(original) == module._C._data_address(clone)
    return shared, kept, original.tolist(), earlier.tolist()


@pytest.mark.parametrize("name", WRITES)
def test_a_write_leaves_the_other_alone(name: str) -> None:
    """The written tensor gets bytes of its own, and the original keeps its numbers."""
    assert _after(mindtorch, WRITES[name]) == _after(torch, WRITES[name])


@pytest.mark.parametrize("name", READS)
def test_reading_keeps_sharing(name: str) -> None:
    """What only reads makes no copy."""
    mine = _after(mindtorch, READS[name])
    assert mine == _after(torch, READS[name])
    assert mine[0] == [True, True, True]


def test_the_last_sharer_takes_the_bytes_over() -> None:
    """After one was written, the other writes where both were."""
    for module in (mindtorch, torch):
        original = module.ones(4)
        address = module._C._data_address(original)
        clone, second = original._lazy_clone(), original._lazy_clone()
        del second
        original.add_(1)
        assert module._C._data_address(original) != address
        clone.add_(2)
        assert module._C._data_address(clone) == address
        assert not module._C._is_cow_tensor(clone)
        assert (original.tolist(), clone.tolist()) == ([2.0] * 4, [3.0] * 4)


def test_gradients_and_saved_tensors() -> None:
    """A lazy clone is differentiable, and a write to the original does not reach what was saved of the clone."""
    leaf = mindtorch.arange(3.0, requires_grad=True)
    clone = leaf._lazy_clone()
    assert type(clone.grad_fn).__name__ == "LazyCloneBackward0"
    loss = (clone * clone).sum()
    with mindtorch.no_grad():
        leaf.add_(5)
    loss.backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [0.0, 2.0, 4.0]


def test_gradients_that_share_their_bytes() -> None:
    """A gradient that is a lazy clone is added to, and the other tensor keeps its numbers."""
    given = mindtorch.ones(2)
    leaf = mindtorch.zeros(2, requires_grad=True)
    for expected in ([1.0, 1.0], [2.0, 2.0]):
        (leaf * 1).backward(given._lazy_clone())
        assert leaf.grad is not None
        assert leaf.grad.tolist() == expected
    leaf.grad = given._lazy_clone()
    leaf.backward(mindtorch.ones(2))
    assert (leaf.grad.tolist(), given.tolist()) == ([2.0, 2.0], [1.0, 1.0])


def test_optimizers_write_one_of_the_two() -> None:
    """A step of an optimizer is a write."""
    parameter = mindtorch.nn.Parameter(mindtorch.ones(3))
    before = parameter.detach()._lazy_clone()
    parameter.sum().backward()
    mindtorch.optim.SGD([parameter], lr=1.0).step()
    assert (parameter.tolist(), before.tolist()) == ([0.0] * 3, [1.0] * 3)


def test_copies_and_pickles() -> None:
    """Both hold the numbers, and what shares bytes within a process is not shared memory."""
    clone = mindtorch.arange(3.0)._lazy_clone()
    assert not clone.is_shared()
    assert clone.untyped_storage().resizable()
    assert copy.deepcopy(clone).tolist() == [0.0, 1.0, 2.0]
    assert pickle.loads(pickle.dumps(clone)).tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("steps", [1, 4])
@pytest.mark.parametrize("skip", [False, True])
def test_parallel_loops_must_not_materialize(steps: int, skip: bool) -> None:
    """Inside of a loop over threads a shared storage cannot take bytes of its own."""
    mindtorch._test_parallel_materialize(mindtorch.ones(2), steps, skip)
    shared = mindtorch.ones(2)._lazy_clone()
    if steps == 1 and skip:
        assert mindtorch._test_parallel_materialize(shared, steps, skip) is shared
        return
    with pytest.raises(RuntimeError, match="Materializing a storage in the loop function of at::parallel_for is"):
        mindtorch._test_parallel_materialize(shared, steps, skip)


def test_what_cannot_be_shared() -> None:
    """Memory of other processes is not shared lazily; what others see already is copied at once."""
    assert_torch_error(
        lambda: mindtorch.ones(2).share_memory_()._lazy_clone(), lambda: torch.ones(2).share_memory_()._lazy_clone()
    )
    assert_torch_error(
        lambda: mindtorch.eye(2).to_sparse()._lazy_clone(), lambda: torch.eye(2).to_sparse()._lazy_clone()
    )
    assert_torch_error(lambda: mindtorch._C._is_cow_tensor(3), lambda: torch._C._is_cow_tensor(3))
    lent = mindtorch.zeros(2)
    seen = lent.numpy()
    clone = lent._lazy_clone()
    seen[0] = 1
    assert (lent.tolist(), clone.tolist()) == ([1.0, 0.0], [0.0, 0.0])
    assert mindtorch.ones(2, device="meta")._lazy_clone().is_meta
