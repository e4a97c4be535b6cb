"""`tensor[index]` and `tensor[index] = value` against torch: values, strides, aliasing, errors."""

from __future__ import annotations

import random
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt
from mindtorch.tensor import indexing
from mindtorch_runtime import native

from .indexing_cases import build_index, build_tensor, make_case

torch = pytest.importorskip("torch", reason="oracle")

CASES = 2000
VALUES = (7, 2.5, True, np.float32(3.0), "scalar", "tensor")


def seen(library: Any, act: Callable[[Any], Any]) -> tuple[Any, ...]:
    """What a program sees of one indexing: geometry, values, whether it is a view; or the error."""
    try:
        result = act(library)
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return type(error).__name__, str(error)
    alias = result._base is not None
    return tuple(result.shape), result.stride(), str(result.dtype), repr(result.detach().tolist()), alias


def compare(act: Callable[[Any], Any], what: Any) -> None:
    """Fail when the two libraries differ."""
    expected, ours = seen(torch, act), seen(mt, act)
    assert ours == expected, f"{what}\n torch: {expected}\n  ours: {ours}"


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """Byte masks are deprecated in torch, which is not the subject here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_random_reads() -> None:
    rng = random.Random(20)
    for _ in range(CASES):
        shape, transposed, items, single = make_case(rng)
        compare(
            lambda library: build_tensor(library, shape, transposed)[build_index(library, items, single)],  # noqa: B023
            (shape, transposed, items, single),
        )


def test_random_writes() -> None:
    rng = random.Random(21)
    for _ in range(CASES):
        shape, transposed, items, single = make_case(rng)
        value = rng.choice(VALUES)
        extent = rng.choice([(1,), (2,), (3,), (2, 2), (1, 1, 2), (2, 1), (0,)])

        def write(library: Any) -> Any:
            made = build_tensor(library, shape, transposed)  # noqa: B023
            given = value  # noqa: B023
            if given == "scalar":
                given = library.tensor(5.0)
            elif isinstance(given, str):
                given = library.arange(float(np.prod(extent))).reshape(extent)  # noqa: B023
            made[build_index(library, items, single)] = given  # noqa: B023
            return made

        compare(write, (shape, transposed, items, single, value, extent))


def test_random_gradients() -> None:
    rng = random.Random(22)
    for _ in range(CASES // 10):
        shape, transposed, items, single = make_case(rng)

        def gradient(library: Any) -> Any:
            made = build_tensor(library, shape, transposed, requires_grad=True)  # noqa: B023
            part = made[build_index(library, items, single)]  # noqa: B023
            (part * part).sum().backward()
            return made.grad.contiguous()

        compare(gradient, (shape, transposed, items, single))


READS: list[Any] = [
    1.0, "a", (0, (1, 2)), range(2), {0}, slice(1.0, 2), slice(np.int64(0), np.int32(1)), [0, 1], [[0, 1], [1, 2]],
    [0, slice(None)], [True, False], [None, 0], [0.5], [], (), ["a"], [np.int64(0), np.int64(1)], [[0, 1], [1]],
    ([[0, 1], [1]],), True, False, np.True_, np.array(True), np.array(1), np.array(1.0), (0, 0, 0, 0), -5, object(), {},
    np.array(["a"]), np.array([1.0]), 1j, 2**70, -(2**63), slice(2**70, None), slice(None, None, -1), slice(None, None, 0),
    np.array([0, 1], dtype=np.uint16), iter([0]), (0, "a"), (0, 1.5), ((0, 1), (1, 0)), (0, [1.5]), [0] * 33,
]  # fmt: skip


@pytest.mark.parametrize("index", READS, ids=range(len(READS)))
def test_unusual_reads(index: Any) -> None:
    compare(lambda library: library.arange(24.0).reshape(2, 3, 4)[index], index)


ZERO_D: list[Any] = [0, ..., None, (), slice(None), True, [0], (0,), (slice(None),)]


@pytest.mark.parametrize("index", ZERO_D, ids=repr)
def test_reads_of_0d(index: Any) -> None:
    compare(lambda library: library.tensor(1.5)[index], index)


@pytest.mark.parametrize("index", ZERO_D, ids=repr)
def test_writes_to_0d(index: Any) -> None:
    def write(library: Any) -> Any:
        made = library.tensor(1.5)
        made[index] = 5
        return made

    compare(write, index)


ASSIGNED: list[Any] = [
    np.float32(3), np.float64(3), np.int64(3), np.int32(3), np.True_, [1, 2, 3], (1,), np.ones(3), "a", None, 1j, 2**70,
    float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool"])
@pytest.mark.parametrize("value", ASSIGNED, ids=repr)
@pytest.mark.parametrize("advanced", [False, True])
def test_assigned_objects(value: Any, dtype: str, advanced: bool) -> None:
    def write(library: Any) -> Any:
        made = library.zeros(2, 3, dtype=getattr(library, dtype))
        made[library.tensor([0]) if advanced else 0] = value
        return made

    compare(write, value)


TENSORS = [
    ("float64", ()), ("int64", ()), ("complex64", ()), ("float64", (3,)), ("float32", (2,)), ("float32", (1, 1, 3)),
    ("float32", (2, 3)), ("float32", (1, 1, 1, 3)), ("float32", (2, 1, 3)),
]  # fmt: skip
PLACES: list[Callable[[Any], Any]] = [
    lambda library: 0,
    lambda library: library.tensor([0]),
    lambda library: library.zeros(2, 3) == 0,
    lambda library: (slice(None), library.tensor([1, 2])),
    lambda library: (library.tensor([True, False]), 1),
]


@pytest.mark.parametrize(("dtype", "shape"), TENSORS)
@pytest.mark.parametrize("place", PLACES)
def test_assigned_tensors(place: Callable[[Any], Any], dtype: str, shape: tuple[int, ...]) -> None:
    def write(library: Any) -> Any:
        made = library.zeros(2, 3)
        made[place(library)] = library.ones(shape, dtype=getattr(library, dtype))
        return made

    compare(write, (dtype, shape))


def _added_to_itself(library: Any) -> Any:
    tensor = library.ones(1, 1)
    tensor.view(-1, 1)[:, ::2] += 1  # what is read and what is written are one element with strides of their own
    return tensor.tolist()


def _filled(library: Any) -> Any:
    tensor, value = library.zeros(3, 2), library.tensor(2.0, requires_grad=True)
    tensor[0] = value
    tensor.sum().backward()
    return tensor.grad_fn.name(), tensor.grad_fn.next_functions[1][0].name(), value.grad.item()


@pytest.mark.parametrize("act", [_added_to_itself, _filled])
def test_what_assignments_do_inside(act: Callable[[Any], Any]) -> None:
    assert act(mt) == act(torch)


@pytest.mark.parametrize("dtype", ["int64", "int32", "int16", "int8", "uint8", "bool"])
def test_tensors_without_dimensions_as_positions(dtype: str) -> None:
    """Whole numbers select, bytes and flags are masks; among other indices and where one is out of range, too."""
    for value in (1, 0) if dtype in ("uint8", "bool") else (1, -3, 3, -4):
        acts: list[Callable[[Any, Any], Any]] = [
            lambda x, i: x[i],
            lambda x, i: x[i, :2],
            lambda x, i: x[..., i],
            lambda x, i: x[None, i, 1:],
            lambda x, i: x[i, i],
            lambda x, i: x[i, [0, 1]],
            lambda x, i: x[i, i, i],
        ]
        for act in acts:
            compare(
                lambda lib: act(lib.arange(12.0).reshape(3, 4), lib.tensor(value, dtype=getattr(lib, dtype))),  # noqa: B023
                (dtype, value),
            )


def test_positions_that_are_not_there_yet() -> None:
    with mt.pipeline():
        position = mt.ones((), dtype=mt.int64) + 1
        row = mt.arange(6).reshape(3, 2)[position]
    assert row.tolist() == [4, 5]
    rows = mt.vmap(lambda position: mt.arange(6).reshape(3, 2)[position])(mt.tensor([2, 0]))
    assert rows.tolist() == [[4, 5], [0, 1]]


@pytest.mark.skipif(native.module is None, reason="the native call path is not built")
def test_positions_in_tensors_are_read_by_native_code() -> None:
    x, position = mt.arange(12.0).reshape(3, 4), mt.tensor(1)
    x[position, :2]
    names = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call":
            names.add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        found = x[position, :2]
    finally:
        sys.setprofile(None)
    assert found.tolist() == [4, 5]
    assert "getitem" not in names


def test_slices_of_another_thread_are_not_kept():
    """An export keeps slices that take everything; what other threads compute meanwhile is as always."""
    x, found = mt.ones(3), []
    with indexing.whole_slices_kept():
        thread = threading.Thread(target=lambda: found.append(indexing._slice_at(x, 0, slice(None)) is x))
        thread.start()
        thread.join()
        assert indexing._slice_at(x, 0, slice(None)) is not x
    assert found == [True]
    assert indexing._slice_at(x, 0, slice(None)) is x
