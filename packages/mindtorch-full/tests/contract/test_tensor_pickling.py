"""Plain pickles and deep copies of tensors."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")


def tensors(module: Any) -> list[Any]:
    base = module.arange(6).to(module.float32).reshape(2, 3)
    return [
        base, base.t(), base[1], base[:, 1], module.zeros(0, 2), module.ones(()), module.ones(2).requires_grad_(True),
        module.zeros(2, device="meta"), module.zeros(2, dtype=module.bfloat16), module.zeros(2, dtype=module.uint16),
    ]  # fmt: skip


def facts(tensor: Any) -> tuple[Any, ...]:
    values = None if tensor.is_meta else tensor.untyped_storage().tolist()
    return (
        str(tensor.dtype), str(tensor.device), tuple(tensor.shape), tensor.stride(), tensor.storage_offset(),
        tensor.requires_grad, values,
    )  # fmt: skip


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize("index", range(10))
def test_pickle_round_trip(index: int, protocol: int) -> None:
    tensor = tensors(mt)[index]
    assert facts(pickle.loads(pickle.dumps(tensor, protocol))) == facts(tensor)


@pytest.mark.parametrize("index", range(10))
def test_deepcopy_is_as_torch(index: int) -> None:
    mine, theirs = copy.deepcopy(tensors(mt)[index]), copy.deepcopy(tensors(torch)[index])
    assert facts(mine)[:-1] == facts(theirs)[:-1]
    assert facts(mine) == facts(tensors(mt)[index])


def test_deepcopy_keeps_sharing_and_nothing_else() -> None:
    base = mt.arange(6.0)
    copied, view = copy.deepcopy([base, base[2:]])
    copied[2] = 9
    assert view[0].item() == 9
    assert base[2].item() == 2


def test_deepcopy_of_grad_and_attributes() -> None:
    tensor = mt.ones(2).requires_grad_(True)
    tensor.grad = mt.ones(2)
    tensor.note = ["kept"]
    copied = copy.deepcopy(tensor)
    assert copied.grad.tolist() == [1, 1]
    assert copied.grad is not tensor.grad
    assert copied.note == ["kept"]
    assert copied.note is not tensor.note


def test_deepcopy_of_a_result_is_refused() -> None:
    assert_same(
        lambda: copy.deepcopy(mt.ones(2, requires_grad=True) * 2),
        lambda: copy.deepcopy(torch.ones(2, requires_grad=True) * 2),
    )


def test_hooks_are_dropped_with_a_warning() -> None:
    tensor = mt.ones(2).requires_grad_(True)
    tensor.register_hook(lambda grad: grad)
    with pytest.warns(UserWarning, match="will not be serialized"):
        pickle.dumps(tensor)


def test_resize_of_a_storage_is_seen_by_its_tensors() -> None:
    base = mt.arange(4.0)
    view = base[2:]
    storage = base.untyped_storage()
    storage.resize_(0)
    storage.resize_(16)
    storage.fill_(0)
    base[3] = 5
    assert view.tolist() == [0, 5]


def test_pickles_cross_processes_without_any_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import pickle, copy, mindtorch as mt\n"
        "values = [mt.ones(2), mt.float32, mt.device('cpu'), mt.Size([1]), mt.strided, mt.UntypedStorage([1])]\n"
        "print(pickle.loads(pickle.dumps(values)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert "tensor([1., 1.]), torch.float32, device(type='cpu'), torch.Size([1]), torch.strided" in done.stdout
