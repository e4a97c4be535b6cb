"""numpy, buffers and DLPack, against torch."""
# ruff: noqa: E501 (cases as data)

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mindtorch as mt

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")
ARRAY = np.arange(6, dtype=np.float32).reshape(2, 3)
READ_ONLY = np.arange(3.0)
READ_ONLY.flags.writeable = False


def facts(value: Any) -> Any:
    """What of a result both sides must agree on."""
    if hasattr(value, "untyped_storage"):
        values = None if value.is_meta else value.detach().tolist()
        return "tensor", str(value.dtype), tuple(value.shape), value.stride(), value.requires_grad, repr(values)
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape, value.strides, value.tolist()
    return value


CASES: list[Callable[[Any], Any]] = [
    lambda m: m.from_numpy(ARRAY), lambda m: m.from_numpy(ARRAY[:, ::2]), lambda m: m.from_numpy(ARRAY[::-1]),
    lambda m: m.from_numpy(ARRAY.astype(">f4")), lambda m: m.from_numpy([1]), lambda m: m.from_numpy(np.float32(3)),
    lambda m: m.from_numpy(np.array(3.0)), lambda m: m.from_numpy(np.array(["a"])), lambda m: m.from_numpy(np.zeros((0, 3))),
    lambda m: m.from_numpy(np.zeros(2, ml_dtypes.bfloat16)), lambda m: m.from_numpy(ARRAY).untyped_storage().resizable(),
    lambda m: m.from_numpy(np.zeros(4, dtype=[("a", "f4"), ("b", "i4")])["b"]), lambda m: m.from_numpy(ARRAY.T),
    lambda m: m.from_numpy(np.ndarray((2,), "f4", bytearray(20), 0, (6,))), lambda m: m.from_numpy(np.broadcast_to(ARRAY, (2, 2, 3)).copy()),
    lambda m: m.from_numpy(ARRAY)[1].storage_offset(), lambda m: m.from_numpy(ARRAY[1:]).untyped_storage().nbytes(),
    lambda m: m.zeros(3).numpy(), lambda m: m.zeros(3, requires_grad=True).numpy(), lambda m: m.zeros(3, requires_grad=True).numpy(force=True),
    lambda m: m.zeros(3, dtype=m.bfloat16).numpy(), lambda m: m.zeros(3, device="meta").numpy(), lambda m: m.zeros(3, dtype=m.complex32).numpy(),
    lambda m: m.zeros(3, dtype=m.float8_e4m3fn).numpy(), lambda m: m.zeros(3, dtype=m.uint16).numpy(), lambda m: m.ones(()).numpy(),
    lambda m: m.zeros(2, 3).t().numpy(), lambda m: np.asarray(m.zeros(2)), lambda m: np.asarray(m.zeros(2), dtype=np.int32),
    lambda m: np.asarray(m.zeros(2, requires_grad=True)), lambda m: m.zeros(2).__array__(np.float64), lambda m: m.zeros(2).__array_priority__,
    lambda m: m.zeros(2).__array_wrap__(np.zeros(3)), lambda m: m.zeros(2).__array_wrap__(np.array([True])), lambda m: np.sin(m.zeros(2)),
    lambda m: np.add(np.ones(2), m.zeros(2)), lambda m: np.array(m.zeros(2)),
    lambda m: m.frombuffer(bytearray(8), dtype=m.float32), lambda m: m.frombuffer(b"abcd", dtype=m.uint8),
    lambda m: m.frombuffer(bytearray(8), dtype=m.float32, count=1), lambda m: m.frombuffer(bytearray(8), dtype=m.float32, offset=4),
    lambda m: m.frombuffer(bytearray(8), dtype=m.float32, offset=8), lambda m: m.frombuffer(bytearray(8), dtype=m.float32, count=3),
    lambda m: m.frombuffer(bytearray(8), dtype=m.float32, count=0), lambda m: m.frombuffer(bytearray(8), dtype=m.float32, count=-5),
    lambda m: m.frombuffer(bytearray(7), dtype=m.float32), lambda m: m.frombuffer(bytearray(7), dtype=m.float32, offset=1),
    lambda m: m.frombuffer(bytearray(0), dtype=m.float32), lambda m: m.frombuffer([1], dtype=m.float32),
    lambda m: m.frombuffer(bytearray(8), dtype=m.float32, requires_grad=True), lambda m: m.frombuffer(bytearray(8), dtype=m.int32, requires_grad=True),
    lambda m: m.frombuffer(buffer=bytearray(8), dtype=m.bfloat16), lambda m: m.frombuffer(bytearray(8), dtype=m.float32, offset=-1),
    lambda m: m.frombuffer(np.zeros(2), dtype=m.float32), lambda m: m.frombuffer(bytearray(8), dtype=m.float32, offset=4).storage_offset(),
    lambda m: m.frombuffer(memoryview(bytearray(8))[::2], dtype=m.uint8), lambda m: m.frombuffer(bytearray(8), dtype=m.int8).untyped_storage().resizable(),
    lambda m: m.asarray(m.UntypedStorage([1, 2, 3]), dtype=m.uint8), lambda m: m.asarray(m.UntypedStorage([0] * 8), dtype=m.float32),
    lambda m: m.asarray(m.UntypedStorage([0] * 7), dtype=m.float32), lambda m: m.asarray(m.UntypedStorage([1, 2])),
    lambda m: m.asarray(m.UntypedStorage([1, 2]), dtype=m.uint8, device="cpu"), lambda m: m.asarray(ARRAY).data_ptr() == ARRAY.ctypes.data,
    lambda m: m.asarray([1, 2]), lambda m: m.asarray(ARRAY, copy=True).data_ptr() == ARRAY.ctypes.data,
    lambda m: m.asarray(ARRAY, dtype=m.float64, copy=False), lambda m: m.asarray([1], copy=False), lambda m: m.asarray(3.5),
    lambda m: m.asarray(bytearray(b"abc")), lambda m: m.asarray(b"abc", dtype=m.uint8), lambda m: m.asarray(m.zeros(2), requires_grad=True),
    lambda m: m.asarray(m.zeros(2, requires_grad=True)), lambda m: m.asarray(m.zeros(2, requires_grad=True), requires_grad=False),
    lambda m: m.asarray([1], requires_grad=True), lambda m: m.asarray(None), lambda m: m.asarray(ARRAY, device="meta"),
    lambda m: m.asarray(m.zeros(2), device="meta", copy=False), lambda m: m.asarray(m.UntypedStorage([1, 2]), dtype=m.uint8, copy=True),
    lambda m: m.asarray(np.float32(2)), lambda m: m.as_tensor(ARRAY), lambda m: m.as_tensor(ARRAY, dtype=m.int64), lambda m: m.as_tensor([1.5]),
    lambda m: m.as_tensor(ARRAY, device="meta"), lambda m: tuple(map(int, m.zeros(2).__dlpack_device__())),
    lambda m: m.zeros(2, requires_grad=True).__dlpack__(), lambda m: m.zeros(2, device="meta").__dlpack__(),
    lambda m: m.zeros(2, device="meta").__dlpack_device__(), lambda m: m.zeros(2).__dlpack__(stream=3), lambda m: m.zeros(2).__dlpack__(stream="a"),
    lambda m: np.from_dlpack(m.arange(3)), lambda m: m.from_dlpack(ARRAY).data_ptr() == ARRAY.ctypes.data, lambda m: m.from_dlpack(m.arange(3)),
    lambda m: m.from_dlpack(3), lambda m: m.from_dlpack(m.arange(3).__dlpack__()), lambda m: m.from_dlpack(ARRAY, copy=True).data_ptr() == ARRAY.ctypes.data,
    lambda m: m.from_dlpack(ARRAY[:, ::2]), lambda m: np.from_dlpack(m.ones(2, 3).t()),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_same_as_torch(case: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(lambda: facts(case(mt)), lambda: facts(case(torch)))


def test_memory_is_shared_both_ways() -> None:
    array = np.zeros(4)
    tensor = mt.from_numpy(array)
    tensor[0] = 1
    array[1] = 2
    assert tensor.tolist() == array.tolist() == [1, 2, 0, 0]
    back = mt.zeros(2)
    back.numpy()[1] = 3
    assert back.tolist() == [0, 3]


def test_capsule_is_consumed_once() -> None:
    capsule = mt.arange(3).__dlpack__()
    assert mt.from_dlpack(capsule).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="invalid capsule"):
        mt.from_dlpack(capsule)


def test_torch_takes_our_tensors_and_we_take_theirs() -> None:
    ours = mt.arange(3)
    theirs = torch.from_dlpack(ours)
    theirs[0] = 7
    assert ours.tolist() == [7, 1, 2]
    back = mt.from_dlpack(theirs)
    back[1] = 8
    assert theirs.tolist() == [7, 8, 2]


@pytest.mark.parametrize("name", ["from_numpy", "frombuffer"])
def test_read_only_memory_warns_once_with_the_text_of_torch(name: str) -> None:
    from mindtorch_dispatch import warn_once

    warn_once._given.clear()
    make = {
        "from_numpy": lambda: mt.from_numpy(READ_ONLY),
        "frombuffer": lambda: mt.frombuffer(b"abcd", dtype=mt.uint8),
    }[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make()
        make()
    assert len(caught) == 1
    assert str(caught[0].message).startswith(
        ("The given NumPy array is not writable", "The given buffer is not writable")
    )


def test_from_file(tmp_path: Any) -> None:
    path = tmp_path / "numbers"
    np.arange(4, dtype=np.float32).tofile(path)
    tensor = mt.from_file(str(path), shared=True, size=4)
    tensor[0] = 9
    assert np.fromfile(path, np.float32).tolist() == [9, 1, 2, 3]
    private = mt.from_file(str(path), shared=False, size=4)
    private[0] = 1
    assert np.fromfile(path, np.float32)[0] == 9


def test_the_way_safetensors_reads_a_file(tmp_path: Any) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"header!!" + np.arange(6, dtype=np.float32).tobytes())
    storage = mt.UntypedStorage.from_file(str(path), shared=False, nbytes=32).untyped()
    raw = mt.asarray(storage[slice(8, 32, 1)], dtype=mt.uint8)
    tensor = raw.view(dtype=mt.float32).reshape([2, 3])
    assert tensor.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert tensor[slice(0, 1), slice(1, 3)].tolist() == [[1, 2]]


EXCHANGED = (
    "bfloat16 complex32 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 "
    "float16 bool complex64 uint16 uint64"
).split()


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("name", EXCHANGED)
def test_every_type_goes_through_capsules_both_ways(name: str, versioned: bool) -> None:
    raw = bytes([0, 1] * 32)
    options = {"max_version": (1, 0)} if versioned else {}

    def made(side: Any) -> Any:
        return side.frombuffer(bytearray(raw), dtype=getattr(side, name))

    for maker, taker in ((mt, torch), (torch, mt), (mt, mt)):
        source = made(maker)
        for taken in (taker.from_dlpack(source), taker.from_dlpack(source.__dlpack__(**options))):
            assert str(taken.dtype) == f"torch.{name}"
            assert taken.data_ptr() == source.data_ptr()
            assert bytes(taken.view(taker.uint8).numpy()) == raw


@pytest.mark.parametrize(
    "options",
    [
        {"max_version": "a"}, {"max_version": (1,)}, {"max_version": (0, 8)}, {"dl_device": 3}, {"dl_device": (99, 0)},
        {"dl_device": (1, 0)}, {"dl_device": (2, 0), "copy": False}, {"stream": 1}, {"stream": "x"}, {"copy": True},
    ],
    ids=str,
)  # fmt: skip
def test_options_of_the_export(options: dict[str, Any]) -> None:
    def kind(side: Any) -> str:
        return repr(side.arange(3.0).__dlpack__(**options)).partition(" at ")[0]

    assert_same(lambda: kind(mt), lambda: kind(torch))


def test_numpy_where_no_gradient_is_recorded() -> None:
    def in_mode(side: Any, mode: str) -> Any:
        leaf = side.ones(3, requires_grad=True)
        with getattr(side, mode)():
            return [(leaf * 2).numpy().tolist(), np.asarray(leaf).tolist(), leaf.numpy().tolist()]

    for mode in ("no_grad", "inference_mode", "enable_grad"):
        assert_same(lambda mode=mode: in_mode(mt, mode), lambda mode=mode: in_mode(torch, mode))


_ARRAYS: list[Callable[[], Any]] = [
    lambda: np.arange(6.0).reshape(2, 3), lambda: np.asfortranarray(np.arange(6.0).reshape(2, 3)), lambda: np.arange(12.0).reshape(2, 6)[:, ::2],
    lambda: np.arange(6, dtype=np.longlong).reshape(2, 3), lambda: np.arange(6, dtype=np.int64).reshape(2, 3), lambda: np.zeros((2, 0)),
    lambda: np.zeros((1, 5)), lambda: np.lib.stride_tricks.as_strided(np.zeros(5), (1, 5), (400, 8)), lambda: np.array(2.0), lambda: np.array(True),
    lambda: np.arange(6.0).reshape(2, 3).view(np.matrix), lambda: np.arange(6.0).astype(">f8").reshape(2, 3), lambda: np.zeros((2, 3), np.complex64),
]  # fmt: skip


@pytest.mark.parametrize("make", _ARRAYS)
def test_arrays_of_a_geometry_that_was_seen(make: Callable[[], Any]) -> None:
    """The second array of a type and shape may be laid out in another way than the first."""
    mt.from_numpy(np.zeros(make().shape, make().dtype.newbyteorder("=")))
    assert_same(lambda: facts(mt.from_numpy(make())), lambda: facts(torch.from_numpy(make())))
    assert_same(
        lambda: mt.from_numpy(make()).untyped_storage().nbytes(),
        lambda: torch.from_numpy(make()).untyped_storage().nbytes(),
    )


def test_tensor_over_an_array_that_was_seen() -> None:
    first, array = mt.from_numpy(np.zeros((2, 3))), np.zeros((2, 3))
    tensor = mt.from_numpy(array)
    array.shape = (3, 2)
    tensor[1] = 5
    assert tensor.shape == first.shape
    assert array.tolist() == [[0, 0], [0, 5], [5, 5]]
    assert not tensor.untyped_storage().resizable()
    assert tensor._version == 1
    with mt.inference_mode():
        assert mt.from_numpy(array).is_inference()
        assert mt.from_numpy(np.zeros((2, 3))).is_inference()
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.resize_(7)


def _read_only(m: Any) -> list[Callable[[], Any]]:
    """Tensors over memory that its owner may only read."""
    locked = np.arange(6, dtype=np.float32).reshape(2, 3)
    locked.flags.writeable = False
    half = locked.astype(np.float16)
    half.flags.writeable = False
    return [
        lambda: m.from_numpy(locked), lambda: m.from_numpy(locked.T), lambda: m.as_tensor(half),
        lambda: m.from_numpy(locked[:, ::2]), lambda: m.frombuffer(bytes(24), dtype=m.float32),
        lambda: m.from_dlpack(m.arange(6.0).reshape(2, 3).__dlpack__()),
    ]  # fmt: skip


WRITES: list[Callable[[Any, Any], Any]] = [
    lambda m, x: x.add_(1), lambda m, x: x.__setitem__(0, 5), lambda m, x: x.fill_(2), lambda m, x: m.mul(x, 3, out=x),
    lambda m, x: x[:1].zero_(), lambda m, x: x.index_fill_(0, m.tensor([0]), 4),
]  # fmt: skip


@pytest.mark.parametrize("write", range(len(WRITES)))
def test_tensors_over_read_only_memory_are_written(write: int) -> None:
    """As in torch, which knows no read-only tensors: an image of a library is normalised in place."""
    for ours, theirs in zip(_read_only(mt), _read_only(torch), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [(ours(), mt), (theirs(), torch)]
        for tensor, module in results:
            WRITES[write](module, tensor)
        assert results[0][0].tolist() == results[1][0].tolist()


def test_pages_mapped_for_reading_are_not_written(tmp_path: Any) -> None:
    """torch's process ends there, by a signal."""
    np.zeros(8, np.float32).tofile(tmp_path / "data")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensor = mt.from_numpy(np.memmap(tmp_path / "data", np.float32, "r"))
    with pytest.raises(ValueError, match="read-only"):
        tensor.add_(1)
    assert tensor.tolist() == [0] * 8
