"""Every look at bytes runs what is recorded first; each boundary has a case that sees stale bytes without it.

The write that waits goes into memory that exists already, through another tensor: nothing but the boundary can know.
"""

from __future__ import annotations

import ast
import copy
import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

READS: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "numpy": lambda x: x.numpy().tolist(),
    "numpy_force": lambda x: x.numpy(force=True).tolist(),
    "array_protocol": lambda x: np.asarray(x).tolist(),
    "array_protocol_dtype": lambda x: np.asarray(x, dtype="float64").tolist(),
    "numpy_function": lambda x: np.add(x, 1).tolist(),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x:.3f}" if x.dim() == 0 else f"{x}",
    "format_scalar": lambda x: f"{x.reshape(()):.3f}",
    "bool": lambda x: bool(x - 1),
    "if": lambda x: "yes" if x > 1 else "no",
    "int": int,
    "float": float,
    "complex": complex,
    "round": lambda x: round(float(x)),
    "index": lambda x: [10, 11, 12, 13][x.long()],
    "range": lambda x: list(range(x.int())),
    "contains": lambda x: 2.0 in x,
    "equality": lambda x: mt.equal(x, mt.full((1,), 2.0)),
    "allclose": lambda x: mt.allclose(x, mt.full((1,), 2.0)),
    "is_nonzero": lambda x: mt.is_nonzero(x - 1),
    "iteration": lambda x: [one.item() for one in x],
    "sorted_values": lambda x: sorted(mt.cat([x, x - 5]).tolist()),
    "untyped_storage": lambda x: bytes(x.untyped_storage().tolist()),
    "typed_storage": lambda x: x.storage().tolist(),
    "dlpack": lambda x: np.from_dlpack(x).tolist(),
    "dlpack_to_tensor": lambda x: mt.from_dlpack(x).tolist(),
    "dlpack_of_a_result": lambda x: mt.from_dlpack(x + 1).tolist(),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "reduce": lambda x: bytes(x.__reduce_ex__(2)[1][0].untyped().tolist()),
    "deepcopy": lambda x: copy.deepcopy(x).tolist(),
    "copy": lambda x: copy.copy(x).tolist(),
    "save": lambda x: mt.load(_saved(x)).tolist(),
    "nonzero": lambda x: mt.nonzero(x - 2).tolist(),
    "masked_select": lambda x: mt.masked_select(x, x > 1).tolist(),
    "mask_index": lambda x: x[x > 1].tolist(),
    "unique": lambda x: mt.unique(mt.cat([x, x])).tolist(),
    "tensor_index": lambda x: mt.arange(5)[x.long()].tolist(),
    "repeat_interleave": lambda x: mt.repeat_interleave(mt.arange(1), x.long()).tolist(),
    "tensor_of_tensor": lambda x: mt.tensor(x).tolist(),
    "tensor_of_list": lambda x: mt.tensor([x, x]).tolist(),
    "as_tensor_of_array": lambda x: mt.as_tensor(np.asarray(x)).tolist(),
    "set_data": lambda x: _data_of(x).tolist(),
    "set_": lambda x: mt.empty(0).set_(x).tolist(),
    "squeeze_": lambda x: x.squeeze_().tolist(),
    "share_memory": lambda x: x.share_memory_().tolist(),
    "packed_sequence": lambda x: _packed(x).batch_sizes.tolist(),
    "random_state": lambda x: mt.set_rng_state(mt.get_rng_state().clone() * x.to(mt.uint8) // 2),
    "to_dtype": lambda x: x.to(mt.float64).tolist(),
}


def _saved(x: Any) -> Any:
    buffer = io.BytesIO()
    mt.save(x, buffer)
    buffer.seek(0)
    return buffer


def _packed(x: Any) -> Any:
    return mt.nn.utils.rnn.pack_padded_sequence(x.reshape(1, 1, 1), [1])


def _data_of(x: Any) -> Any:
    other = mt.empty(1)
    other.data = x
    return other


@pytest.mark.parametrize("fuse", [False, True], ids=["plain", "fuse"])
@pytest.mark.parametrize("name", READS)
def test_reading_runs_what_is_recorded(name: str, fuse: bool) -> None:
    read = READS[name]
    eager = mt.ones(1)
    eager.add_(1)
    x = mt.ones(1)
    other = x.detach()
    with mt.pipeline(fuse=fuse) as pipe:
        other.add_(1)
        assert len(pipe) == 1
        found = read(x)
        assert len(pipe) == 0
    assert found == read(eager)


STORAGES: dict[str, Callable[[Any], Any]] = {
    "getitem": lambda s: s[3],
    "slice": lambda s: s[:4].tolist(),
    "tolist": lambda s: s.tolist(),
    "iteration": list,
    "repr": repr,
    "clone": lambda s: s.clone().tolist(),
    "copy_to": lambda s: mt.UntypedStorage(4).copy_(s).tolist(),
    "copy_from": lambda s: s.copy_(mt.UntypedStorage([1, 2, 3, 4])).tolist(),
    "setitem": lambda s: [s.__setitem__(0, 7), s.tolist()],
    "fill": lambda s: s.fill_(3).tolist(),
    "resize": lambda s: s.resize_(4).tolist(),
    "share": lambda s: s.share_memory_().tolist(),
    "pickle": lambda s: pickle.loads(pickle.dumps(s)).tolist(),
    "deepcopy": lambda s: copy.deepcopy(s).tolist(),
    "host_bytes": lambda s: s.host_bytes().tolist(),
    "byteswap": lambda s: [s.byteswap(mt.float32), s.tolist()],
}


@pytest.mark.parametrize("name", STORAGES)
def test_a_storage_known_before_shows_and_takes_the_bytes_in_order(name: str) -> None:
    read = STORAGES[name]
    eager = mt.ones(1)
    kept = eager.untyped_storage()
    eager.add_(1)
    expected = read(kept), eager.tolist() if name != "resize" else None
    x = mt.ones(1)
    storage = x.untyped_storage()
    with mt.pipeline() as pipe:
        x.add_(1)
        found = read(storage)
        assert len(pipe) == 0
    assert (found, x.tolist() if name != "resize" else None) == expected


def test_memory_that_is_handed_out_is_up_to_date() -> None:
    x, storage = mt.ones(2), mt.ones(2).untyped_storage()
    for address in (x.data_ptr, storage.data_ptr, mt.empty(0).data_ptr, x.storage, x.untyped_storage, x.is_pinned):
        with mt.pipeline() as pipe:
            x.add_(1)
            address()
            assert len(pipe) == 0


DRAWS: dict[str, Callable[[], Any]] = {
    "manual_seed": lambda: mt.manual_seed(5),
    "seed": lambda: mt.seed(),
    "get_rng_state": lambda: mt.get_rng_state().tolist(),
    "set_rng_state": lambda: mt.set_rng_state(mt.Generator().manual_seed(4).get_state()),
    "clone_state": lambda: mt.default_generator.clone_state().get_state().tolist(),
    "fork_rng": lambda: mt.random.fork_rng().__enter__(),
}


@pytest.mark.parametrize("name", DRAWS)
def test_recorded_draws_come_before_changes_of_the_generator(name: str) -> None:
    results = []
    for recorded in (False, True):
        mt.manual_seed(1)
        if recorded:
            with mt.pipeline():
                x = mt.randn(3)
                state = DRAWS[name]()
        else:
            x = mt.randn(3)
            state = DRAWS[name]()
        results.append((x.tolist(), state if isinstance(state, list) else None))
    assert results[0] == results[1]


def test_recorded_draws_come_before_a_state_that_was_kept() -> None:
    state = mt.Generator().manual_seed(4).state_bytes()
    mt.manual_seed(1)
    expected = mt.randn(3).tolist()
    mt.manual_seed(1)
    with mt.pipeline():
        x = mt.randn(3)
        mt.default_generator.set_state_bytes(state)
        y = mt.randn(3)
    assert x.tolist() == expected
    assert y.tolist() == mt.randn(3, generator=mt.Generator().manual_seed(4)).tolist()


def test_a_state_restored_into_a_tensor_that_waits() -> None:
    with mt.pipeline():
        x = mt.ones(2) + 1
        x.__setstate__((mt.arange(2.0).storage(), 0, (2,), (1,)))
    assert x.tolist() == [0, 1]


BACKWARD: dict[str, Callable[..., Any]] = {
    "backward": lambda w, y, grad: (y.backward(grad), w.grad.tolist())[1],
    "autograd_backward": lambda w, y, grad: (mt.autograd.backward([y], [grad]), w.grad.tolist())[1],
    "grad": lambda w, y, grad: mt.autograd.grad(y, w, grad)[0].tolist(),
    "grad_of_sum": lambda w, y, grad: mt.autograd.grad(y.sum(), w)[0].tolist(),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_backward_runs_what_is_recorded(name: str) -> None:
    def program(w: Any, factor: Any, grad: Any) -> Any:
        y = w * factor
        factor.data.mul_(3)  # unseen by the version: the formula reads 3
        return BACKWARD[name](w, y, grad)

    expected = program(mt.ones(2, requires_grad=True), mt.ones(2), mt.ones(2))
    given = mt.ones(2, requires_grad=True), mt.ones(2), mt.ones(2)
    with mt.pipeline() as pipe:
        assert program(*given) == expected == [3, 3]
        assert len(pipe) == 0


def test_gradients_are_there_after_backward_and_pend_no_more() -> None:
    with mt.pipeline() as pipe:
        w = mt.ones(2, requires_grad=True)
        (w * 2).sum().backward()
        assert len(pipe) == 0
        assert not w.grad._pending


def test_leaving_the_block_runs_what_is_recorded() -> None:
    x = mt.ones(2)
    with mt.pipeline() as pipe:
        y = x + 1
        x.add_(5)
        assert y._pending
        assert len(pipe) == 2
    assert not y._pending
    assert object.__getattribute__(y, "_array").tolist() == [2, 2]
    assert object.__getattribute__(x, "_array").tolist() == [6, 6]


def test_leaving_the_block_by_an_error_runs_what_was_recorded_before_it() -> None:
    x = mt.ones(2)

    def program() -> None:
        with mt.pipeline():
            x.add_(1)
            raise KeyError

    with pytest.raises(KeyError):
        program()
    assert object.__getattribute__(x, "_array").tolist() == [2, 2]
    assert not (x + 1)._pending


def test_the_queue_is_bounded() -> None:
    with mt.pipeline(limit=4) as pipe:
        x = mt.zeros(2)
        longest = 0
        for _ in range(20):
            x = x + 1
            longest = max(longest, len(pipe))
        assert longest == 4
    assert x.tolist() == [20, 20]
    with pytest.raises(ValueError, match="limit must be at least 1"):
        mt.pipeline(limit=0)


def test_memory_lent_to_numpy_is_written_at_once() -> None:
    array = np.ones(2, "float32")
    borrowed, lent, mapped = mt.from_numpy(array), mt.ones(2), mt.ones(2).share_memory_()
    seen, capsule = lent.numpy(), mt.ones(2)
    shown = np.from_dlpack(capsule)
    with mt.pipeline() as pipe:
        for tensor in (borrowed, lent, mapped, capsule, borrowed[:1]):
            tensor.add_(1)
            assert len(pipe) == 0
        assert (array.tolist(), seen.tolist(), shown.tolist()) == ([3, 2], [2, 2], [2, 2])


def test_writes_from_outside_come_after_recorded_reads() -> None:
    x = mt.ones(2)
    with mt.pipeline():
        y = x + 1
        x.numpy()[0] = 7
        z = x + 1
        x.untyped_storage().fill_(0)
        w = x + 1
    assert [one.tolist() for one in (y, z, w)] == [[2, 2], [8, 2], [1, 1]]


def test_geometry_changes_in_place_run_what_is_recorded() -> None:
    for change in (
        lambda x: x.t_(),
        lambda x: x.resize_(6),
        lambda x: x.set_(mt.zeros(2)),
        lambda x: x.unsqueeze_(0),
        lambda x: mt.add(mt.ones(3, 2), 1, out=x),
    ):
        eager = mt.arange(4.0).reshape(2, 2).clone()
        before = eager * 2
        change(eager)
        with mt.pipeline():
            x = mt.arange(4.0).reshape(2, 2).clone()
            y = x * 2
            change(x)
        assert y.tolist() == before.tolist()
        assert (x.shape, x.stride()) == (eager.shape, eager.stride())
        assert x.flatten()[:4].tolist() == eager.flatten()[:4].tolist()


READERS = {
    "mindtorch_storage/tensor_base.py",
    "mindtorch/tensor/memory.py",  # `.data`, which settles first
    "mindtorch_storage/storage/typed.py",  # a method of that name, over `_readable`
    "mindtorch_dispatch/execute/executor.py",  # runs the calls
    "mindtorch_dispatch/execute/reading.py",  # of stand-ins that it made
    "mindtorch_dispatch/execute/views.py",
    "mindtorch_dispatch/plan/routing.py",
    "mindtorch_dispatch/plan/writes.py",  # while a call runs
    "mindtorch_dispatch/extend/devices.py",  # asked only where nothing is recorded, as are the lists
    "mindtorch_npu/backend/ops/lists.py",
    "mindtorch_cpu/lists.py",
    "mindtorch_npu/backend/ops/chains.py",  # lists too
    "mindtorch_dispatch/quantized/channels.py",  # the quantizer, whose scales are there from the start
    "mindtorch_dispatch/quantized/tensors.py",
    "mindtorch_dispatch/quantized/views.py",
    "mindtorch_dispatch/sparse/coo.py",  # indices and values, which are tensors themselves and may wait
    "mindtorch_dispatch/sparse/compressed.py",
    "mindtorch_dispatch/sparse/table.py",
    "mindtorch_dispatch/pipeline/record.py",
    "mindtorch_dispatch/pipeline/boxed.py",
    "mindtorch_dispatch/pipeline/fusion.py",
    "mindtorch_dispatch/execute/profiling.py",  # asks whether there are bytes, and counts them
    "mindtorch_autograd/accumulate.py",  # inside of a backward pass, where nothing is recorded
    "mindtorch_autograd/function_outputs.py",
    "mindtorch/_utils.py",  # of a sparse tensor made in that line
    "mindtorch/autograd/_sparse_inputs.py",  # of sparse tensors alone
    "mindtorch/tensor/pickling.py",  # of a tensor made a line before
    "mindtorch/tensor/properties.py",  # setting `.data`, past the boundary
}
"""Modules that may read the slot itself; all others ask `_host_array()`, which is a boundary."""


def test_nobody_reads_the_bytes_past_the_boundary() -> None:
    root = Path(mt.__file__).parents[3]
    found = set()
    for path in root.glob("*/src/**/*.py"):
        source = path.read_text()
        for node in ast.walk(ast.parse(source)) if "._array" in source else ():
            if isinstance(node, ast.Attribute) and node.attr == "_array" and isinstance(node.ctx, ast.Load):
                found.add(path.as_posix().partition("/src/")[2])
    assert {path for path in found if not path.startswith("mindtorch_testing")} <= READERS
