"""Checkpoints between torch and us, in both formats and both directions."""

from __future__ import annotations

import collections
import gc
import io
import pickle
import weakref
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

from .outcomes import assert_same, outcome

torch = pytest.importorskip("torch", reason="oracle")
STANDARD = "float64 float32 float16 bfloat16 complex128 complex64 int64 int32 int16 int8 uint8 bool".split()
NEW = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu complex32 uint16 uint32 uint64".split()


def saved(module: Any, obj: Any, **options: Any) -> io.BytesIO:
    stream = io.BytesIO()
    module.save(obj, stream, **options)
    stream.seek(0)
    return stream


def sample(module: Any) -> dict[str, Any]:
    """The same object in either world: shared storages, views, containers, value types."""
    base = module.arange(12).to(module.float32).reshape(3, 4)
    state = collections.OrderedDict(weight=base, bias=base[1])
    state._metadata = collections.OrderedDict({"": {"version": 1}})  # type: ignore[attr-defined]
    return {
        "state": state,
        "transposed": base.t(),
        "strided": base[:, ::2],
        "scalar": module.ones((), dtype=module.float64),
        "empty": module.zeros(0, 3),
        "grad": module.ones(2).requires_grad_(True),
        "meta": module.zeros(2, 3, device="meta"),
        "dtype": module.bfloat16,
        "device": module.device("cuda:1"),
        "size": module.Size([2, 3]),
        "layout": module.strided,
        "plain": [1, -2, 2**70, 1.5, "text", b"bytes", None, True, (1, 2, 3, 4), {1, 2}, 1j, bytearray(b"x")],
    }


def check_sample(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    for key, value in theirs.items():
        if key == "state":
            assert list(ours[key]) == list(value)
            assert ours[key]._metadata == value._metadata
            assert np.array_equal(ours[key]["weight"].numpy(), value["weight"].numpy())
        elif isinstance(value, torch.Tensor):
            mine = ours[key]
            assert (str(mine.dtype), str(mine.device), tuple(mine.shape), mine.stride(), mine.requires_grad) == (
                str(value.dtype), str(value.device), tuple(value.shape), value.stride(), value.requires_grad,
            )  # fmt: skip
            if value.device.type == "cpu":
                assert np.array_equal(mine.detach().numpy(), value.detach().numpy())
        else:
            assert repr(ours[key]) == repr(value)


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
def test_torch_reads_ours(zip_format: bool, weights_only: bool) -> None:
    stream = saved(mt, sample(mt), _use_new_zipfile_serialization=zip_format)
    theirs = torch.load(stream, weights_only=weights_only)
    check_sample(sample(mt), theirs)
    theirs["state"]["weight"][1, 0] = 99
    assert theirs["state"]["bias"][0] == theirs["transposed"][0, 1] == theirs["strided"][1, 0] == 99


@pytest.mark.parametrize("zip_format", [True, False])
@pytest.mark.parametrize("weights_only", [True, False])
def test_we_read_torch(zip_format: bool, weights_only: bool) -> None:
    stream = saved(torch, sample(torch), _use_new_zipfile_serialization=zip_format)
    ours = mt.load(stream, weights_only=weights_only)
    check_sample(ours, sample(torch))
    ours["state"]["weight"][1, 0] = 99
    assert ours["state"]["bias"][0].item() == ours["transposed"][0, 1].item() == ours["strided"][1, 0].item() == 99


def test_files_are_equal_byte_for_byte_but_for_their_id() -> None:
    ours, theirs = (zipfile.ZipFile(saved(module, sample(module))) for module in (mt, torch))
    assert ours.namelist() == theirs.namelist()
    for name in ours.namelist():
        mine, other = ours.getinfo(name), theirs.getinfo(name)
        assert (mine.header_offset, mine.flag_bits, mine.create_version) == (
            other.header_offset, other.flag_bits, other.create_version,
        )  # fmt: skip
        if not name.endswith("serialization_id"):
            assert ours.read(name) == theirs.read(name), name
        else:
            assert len(ours.read(name)) == len(theirs.read(name)) == 40


@pytest.mark.parametrize("name", STANDARD + NEW)
def test_every_dtype_both_ways(name: str) -> None:
    raw = list(range(1, 17))
    dtype = getattr(torch, name)
    theirs = torch.ones(2, dtype=dtype) if name == "bool" else torch.tensor(raw, dtype=torch.uint8).view(dtype)
    loaded = mt.load(saved(torch, theirs))
    assert str(loaded.dtype) == str(theirs.dtype)
    assert loaded.untyped_storage().tolist() == theirs.untyped_storage().tolist()
    back = torch.load(saved(mt, loaded))
    assert back.dtype is theirs.dtype
    assert back.untyped_storage().tolist() == theirs.untyped_storage().tolist()


@pytest.mark.parametrize("zip_format", [True, False])
def test_lazy_conjugate_and_negative_arrive_as_values(zip_format: bool) -> None:
    base = torch.tensor([1 + 2j, 3 - 1j])
    tensors = base.conj(), base.clone().conj().imag, base
    conjugate, negative, plain = mt.load(saved(torch, tensors, _use_new_zipfile_serialization=zip_format))
    assert conjugate.tolist() == [1 - 2j, 3 + 1j]
    assert negative.tolist() == [-2.0, 1.0]
    assert plain.tolist() == [1 + 2j, 3 - 1j]


@pytest.mark.parametrize("options", [{}, {"mmap": True}])
def test_paths_and_mapping(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "model.v1.pt"
    mt.save(sample(mt), path)
    check_sample(sample(mt), torch.load(path, **options))
    torch.save(sample(torch), path)
    ours = mt.load(path, **options)
    check_sample(ours, sample(torch))
    ours["state"]["weight"][0, 0] = 5  # a private mapping: the file keeps its bytes
    check_sample(mt.load(path), sample(torch))
    assert zipfile.ZipFile(path).namelist()[0] == "model.v1/data.pkl"


def test_torch_computes_offsets_of_our_records(tmp_path: Path) -> None:
    import torch.utils.serialization as serialization

    path = tmp_path / "model.pt"
    mt.save({str(size): mt.ones(size) for size in (0, 1, 5, 64, 1000, 0, 3)}, path)
    with serialization.config.patch({"load.calculate_storage_offsets": True}):
        loaded = torch.load(path, mmap=True)
    assert all((tensor == 1).all() and len(tensor) == int(key) for key, tensor in loaded.items())


def test_data_is_aligned() -> None:
    stream = saved(mt, [mt.ones(3), mt.ones(5), mt.ones(100)])
    reader = torch._C.PyTorchFileReader(stream)
    assert [reader.get_record_offset(f"data/{key}") % 64 for key in range(3)] == [0, 0, 0]


def test_archive_inside_a_larger_stream() -> None:
    stream = io.BytesIO(b"prefix" + saved(torch, torch.ones(3)).getvalue())
    stream.seek(6)
    assert mt.load(stream).tolist() == [1, 1, 1]


def test_recompressed_archive_is_read() -> None:
    source = zipfile.ZipFile(saved(torch, torch.arange(100)))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    stream.seek(0)
    assert mt.load(stream).tolist() == list(range(100))


def test_big_endian_file_is_swapped() -> None:
    source = zipfile.ZipFile(saved(torch, torch.tensor([1, 256], dtype=torch.int16)))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        for name in source.namelist():
            target.writestr(name, b"big" if name.endswith("byteorder") else source.read(name))
    expected = torch.load(io.BytesIO(stream.getvalue())).tolist()
    stream.seek(0)
    assert mt.load(stream).tolist() == expected == [256, 1]


def test_storages_and_typed_storages() -> None:
    for weights_only in (True, False):
        ours = mt.load(saved(torch, torch.UntypedStorage([1, 2, 3])), weights_only=weights_only)
        theirs = torch.load(saved(torch, torch.UntypedStorage([1, 2, 3])), weights_only=weights_only)
        assert repr(ours) == repr(theirs)
    assert torch.load(saved(mt, mt.UntypedStorage([1, 2, 3]))).tolist() == [1, 2, 3]


def test_attributes_and_subclasses_survive() -> None:
    tensor = torch.ones(2)
    tensor.note = "kept"
    assert mt.load(saved(torch, tensor)).note == "kept"
    ours = mt.ones(2)
    ours.note = "kept"
    assert torch.load(saved(mt, ours)).note == "kept"


LOCATIONS = [
    "cuda", "cuda:1", "x", "meta", "hpu", "xpu:1", "cpu", {"cpu": "meta"}, {"cuda": "cpu"}, {"cpu": "cuda"},
    lambda storage, location: None, lambda storage, location: storage, 3,
]  # fmt: skip


@pytest.mark.parametrize("location", LOCATIONS)
def test_map_location(location: Any) -> None:
    data = saved(torch, torch.ones(2)).getvalue()
    assert_same(
        lambda: str(mt.load(io.BytesIO(data), map_location=location).device),
        lambda: str(torch.load(io.BytesIO(data), map_location=location).device),
    )


def test_map_location_device_and_callable_arguments() -> None:
    data = saved(torch, torch.ones(2)).getvalue()
    assert mt.load(io.BytesIO(data), map_location=mt.device("meta")).is_meta
    seen = []
    mt.load(io.BytesIO(data), map_location=lambda storage, location: seen.append((type(storage), location)))
    assert seen == [(mt.UntypedStorage, "cpu")]


class Custom:
    """A class a checkpoint may not make unless the user says so."""

    def __init__(self) -> None:
        self.value = 3


def reads(module: Any, data: bytes, **options: Any) -> Any:
    return outcome(lambda: module.load(io.BytesIO(data), **options))


@pytest.mark.parametrize(
    "obj", [Custom(), print, __import__("os").system, {"nested": [Custom()]}, collections.deque([1]), range(3)]
)
def test_refused_names_have_the_text_of_torch(obj: Any) -> None:
    data = saved(torch, obj).getvalue()
    assert reads(mt, data) == reads(torch, data)
    assert mt.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == sorted(
        torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    )


def test_names_of_torch_modules_are_refused_alike() -> None:
    data = saved(torch, torch.nn.Linear(2, 2)).getvalue()
    assert reads(mt, data) == reads(torch, data)


def test_safe_globals() -> None:
    data = saved(torch, Custom()).getvalue()
    with mt.serialization.safe_globals([Custom]):
        assert mt.serialization.get_safe_globals() == [Custom]
        assert mt.load(io.BytesIO(data)).value == 3
    assert reads(mt, data)[0] == "UnpicklingError"
    mt.serialization.add_safe_globals([(Custom, f"{Custom.__module__}.Custom")])
    assert mt.load(io.BytesIO(data)).value == 3
    mt.serialization.clear_safe_globals()
    assert mt.serialization.get_safe_globals() == []


def test_a_class_marked_safe_may_be_built_although_no_file_names_it() -> None:
    # numpy.dtype("u4"), of the state of numpy's random stream, is a numpy.dtypes.UInt32DType.
    state = np.random.RandomState(3).get_state()
    data = saved(torch, state).getvalue()
    named = [np._core.multiarray._reconstruct, np.ndarray, np.dtype]
    for allowed in (named, [*named, type(np.dtype(np.uint32))]):
        with mt.serialization.safe_globals(allowed), torch.serialization.safe_globals(allowed):
            assert reads(mt, data)[0] == reads(torch, data)[0]
    with mt.serialization.safe_globals(allowed):
        assert (mt.load(io.BytesIO(data))[1] == state[1]).all()


@pytest.mark.parametrize(
    "payload", [b"cos\nsystem\n(S'true'\ntR.", b"\x80\x02cbuiltins\neval\nX\x01\x00\x00\x001\x85R."]
)
def test_hostile_pickles_run_nothing(payload: bytes) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr("a/data.pkl", payload)
        target.writestr("a/version", b"3\n")
    assert reads(mt, stream.getvalue()) == reads(torch, stream.getvalue())


ARGUMENTS: list[dict[str, Any]] = [
    {"mmap": True}, {"pickle_module": pickle, "weights_only": True}, {"pickle_module": pickle},
]  # fmt: skip


@pytest.mark.parametrize("options", ARGUMENTS)
def test_arguments(options: dict[str, Any]) -> None:
    data = saved(torch, [1, 2]).getvalue()
    assert reads(mt, data, **options) == reads(torch, data, **options)


def test_pickle_protocol_4() -> None:
    data = saved(mt, sample(mt), pickle_protocol=4)
    check_sample(sample(mt), torch.load(data, weights_only=False))
    data.seek(0)
    check_sample(mt.load(data, weights_only=False), sample(torch))
    with pytest.warns(UserWarning, match="Detected pickle protocol 4"):
        mine = reads(mt, data.getvalue())
    with pytest.warns(UserWarning, match="Detected pickle protocol 4"):
        assert mine == reads(torch, data.getvalue())


@pytest.mark.parametrize("target", [3, object(), ".pt", "/nowhere/x.pt", "/tmp"])
def test_bad_targets(target: Any) -> None:
    def text(module: Any, call: Any) -> tuple[str, str]:
        kind, message = outcome(call)
        return kind, message.rpartition("] . ")[2]  # the oracle names its source line

    assert text(mt, lambda: mt.save(1, target)) == text(torch, lambda: torch.save(1, target))
    if not isinstance(target, str):
        assert_same(lambda: mt.load(target), lambda: torch.load(target))


@pytest.mark.parametrize("zip_format", [True, False])
def test_two_readings_of_one_memory_are_refused(zip_format: bool) -> None:
    def attempt(module: Any) -> Any:
        tensor = module.zeros(4)
        saved(module, [tensor, tensor.view(module.int32)], _use_new_zipfile_serialization=zip_format)

    assert_same(lambda: attempt(mt), lambda: attempt(torch))


def test_skip_data() -> None:
    with mt.serialization.skip_data():
        data = saved(mt, mt.ones(1000))
    assert torch.load(data).tolist() == [0.0] * 1000
    data.seek(0)
    with mt.serialization.skip_data():
        assert mt.load(data).shape == (1000,)


def test_settings_have_the_errors_of_torch() -> None:
    for call in (
        lambda m: m.serialization.set_default_load_endianness(3),
        lambda m: m.serialization.set_default_mmap_options(3),
        lambda m: m.serialization.get_default_mmap_options(),
        lambda m: m.serialization.get_default_load_endianness(),
        lambda m: m.serialization.get_crc32_options(),
        lambda m: m.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(b"xx")),
    ):
        assert_same(lambda call=call: call(mt), lambda call=call: call(torch))


def test_what_was_saved_is_free_without_collecting_cycles() -> None:
    gc.collect()
    gc.disable()
    try:
        x = mt.zeros(3)
        held = weakref.ref(x.untyped_storage())
        mt.save(x, io.BytesIO())
        del x
        assert held() is None
    finally:
        gc.enable()
