"""Methods of storages called with arguments of many kinds, right and wrong: the results and refusals of torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mindtorch_storage import dtype as types

from .outcomes import assert_same
from .sides import OURS, THEIRS, torch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")

VALUES: list[Any] = [
    0, 1, -1, 8, 99, -99, 300, True, 2.5, float("nan"), 1j, "x", None, [1], b"1", {}, 1 << 62,
    np.float32(2), np.float64(2), np.int64(3), np.ones(1), slice(0, 2),
]  # fmt: skip
METHODS = ("__getitem__", "is_pinned", "pin_memory", "resize_", "cpu", "share_memory_", "fill_", "byteswap", "copy_")
CLASSES = ("FloatStorage", "LongStorage", "BoolStorage", "ComplexFloatStorage", "BFloat16Storage", "ByteStorage")


def called(side: Any, kind: str, method: str, *args: Any) -> Any:
    storage = side.U([1, 2, 3]) if kind == "U" else getattr(side, kind)([1, 1, 0])
    result = getattr(storage, method)(*args)
    if method == "resize_":  # what was added has no defined value
        return type(result).__name__, storage.size()
    return repr(result), storage.tolist()


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["U", "FloatStorage"])
def test_one_argument(kind: str, method: str, value: Any) -> None:
    if kind != "U" and method == "byteswap":
        pytest.skip("an untyped storage's")
    if isinstance(value, int) and value > 1 << 40 and method == "resize_":
        pytest.skip("the allocators' texts differ with the system's limits")
    assert_same(lambda: called(OURS, kind, method, value), lambda: called(THEIRS, kind, method, value))


@pytest.mark.parametrize("value", [*VALUES, 1 << 70], ids=repr)
@pytest.mark.parametrize("kind", CLASSES)
def test_elements(kind: str, value: Any) -> None:
    for method, args in (("fill_", (value,)), ("__setitem__", (0, value)), ("__setitem__", (slice(0, 2), value))):
        assert_same(
            lambda m=method, a=args: called(OURS, kind, m, *a), lambda m=method, a=args: called(THEIRS, kind, m, *a)
        )


@pytest.mark.parametrize("index", [0, -1, 3, -4, 99, True, "a", None, slice(0, 2), slice(0, 2, 2)], ids=repr)
@pytest.mark.parametrize("kind", ["U", "FloatStorage"])
def test_indices(kind: str, index: Any) -> None:
    assert_same(
        lambda: called(OURS, kind, "__setitem__", index, 1), lambda: called(THEIRS, kind, "__setitem__", index, 1)
    )


BUFFERS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((b"abcd",), {}), ((b"abcd",), {"dtype": "int16"}), ((b"abcd", 1), {"dtype": "int16"}), ((3, "native"), {"dtype": "int16"}),
    ((3, "x"), {"dtype": "int16"}), ((3,), {}), ((3, 1), {}), ((3,), {"dtype": "uint8"}), ((b"12", "x"), {"dtype": "uint8"}),
    ((b"12", "native"), {"dtype": 3}), ((b"12", "native", "x"), {"dtype": "uint8"}),
    ((b"12", "native", -1, "x"), {"dtype": "uint8"}), ((b"12", "native", -1, -1), {"dtype": "uint8"}),
    ((b"12", "native", 3), {"dtype": "uint8"}), ((b"123", "native"), {"dtype": "int16"}),
]  # fmt: skip


@pytest.mark.parametrize(("args", "options"), BUFFERS, ids=str)
def test_buffers(args: tuple[Any, ...], options: dict[str, Any]) -> None:
    def made(side: Any, source: Any) -> Any:
        given = {name: getattr(source, value) if isinstance(value, str) else value for name, value in options.items()}
        return side.U.from_buffer(*args, **given)

    assert_same(lambda: made(OURS, types), lambda: made(THEIRS, torch))


@pytest.mark.parametrize("args", [(), ("/x",), ("/x", False, 3), (None, False, 3)], ids=str)
@pytest.mark.parametrize("kind", ["T", "FloatStorage"])
def test_files(kind: str, args: tuple[Any, ...]) -> None:
    assert_same(lambda: getattr(OURS, kind).from_file(*args), lambda: getattr(THEIRS, kind).from_file(*args))
