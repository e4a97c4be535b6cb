"""What a file made to do harm can do with `weights_only=True`: be refused, with an error of the documented family."""

from __future__ import annotations

import io
import pickle
import struct
import tracemalloc
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import mindtorch as mt
from mindtorch.serialization import _budget
from mindtorch_storage.tensor_base import TensorBase
from mindtorch_testing.hostile.containers import VALUES, Member, archive, deflated, legacy, members, zipped
from mindtorch_testing.hostile.pickles import Build, Call, Pairs, Raw, Remembered, pickled, stored, torch_name

FAMILY = (pickle.UnpicklingError, RuntimeError)
REBUILD = "torch._utils._rebuild_"
STORAGE = stored("0", "FloatStorage", 16)
TENSOR = Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, 0, (4, 4), (4, 1), False, None))
PARAMETER = torch_name("torch.nn.parameter.Parameter")
FROM_TYPE = torch_name("torch._tensor._rebuild_from_type_v2")


def load(value: Any, **options: Any) -> Any:
    return mt.load(io.BytesIO(zipped(pickled(value))), **options)


def with_state(state: Any) -> list[Any]:
    from_type = (TENSOR.function, torch_name("torch.Tensor"), TENSOR.args, state)
    return [
        Call(torch_name(REBUILD + "parameter_with_state"), (TENSOR, True, None, state)),
        Call(FROM_TYPE, from_type),
        Call(FROM_TYPE, (TENSOR.function, PARAMETER, TENSOR.args, (None, state))),
    ]


SLOTS = [name for name in TensorBase.__slots__ if name != "__weakref__"]
PROPERTIES = ["grad", "data", "requires_grad", "_version", "shape", "grad_fn", "_backward_hooks", "is_leaf"]


@pytest.mark.parametrize("name", [*SLOTS, *PROPERTIES, "__class__", "__dict__", "__setstate__", "_wraps"])
def test_a_state_cannot_set_parts_of_a_tensor(name: str) -> None:
    for made in with_state(Pairs([(name, 0x4141414141414141)])):
        with pytest.raises(RuntimeError, match="Refused to set"):
            load(made)


def test_a_state_sets_what_a_program_gave() -> None:
    for made in with_state(Pairs([("sequence_parallel", True), ("_mine", [1]), ("tag", "x")])):
        found = load(made)
        assert (found.sequence_parallel, found._mine, found.tag) == (True, [1], "x")
        assert found.detach().tolist() == mt.arange(16.0).reshape(4, 4).tolist()


def test_a_state_does_not_hide_methods_with_what_can_be_called() -> None:
    for made in with_state(Pairs([("backward", torch_name("builtins.set"))])):
        with pytest.raises(RuntimeError, match="Refused to set"):
            load(made)


@pytest.mark.parametrize("name", ["items", "__class__", "update", ""])
def test_attributes_of_an_ordered_dict(name: str) -> None:
    made = Build(Call(torch_name("collections.OrderedDict"), ()), {name: 1})
    if name:
        with pytest.raises(pickle.UnpicklingError, match="Refused"):
            load(made)
    else:
        assert vars(load(made)) == {"": 1}


def test_metadata_of_a_state_dict_stays() -> None:
    stream = io.BytesIO()
    mt.save(mt.nn.Linear(2, 2).state_dict(), stream)
    assert mt.load(io.BytesIO(stream.getvalue()))._metadata == OrderedDict({"": {"version": 1}})


def test_a_tensor_with_history_is_not_laid_over_other_memory() -> None:
    leaf = Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, 0, (16,), (1,), True, None))
    with pytest.raises(RuntimeError, match="without history"):
        load(Build(leaf, (STORAGE, 0, (2,), (1,))))
    assert load(Build(Call(torch_name("torch.Tensor"), ()), (STORAGE, 4, (2,), (3,)))).tolist() == [4.0, 7.0]


HUGE = Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, 0, (1 << 40,), (0,), False, None))
MAKES_MEMORY: dict[str, Any] = {
    "Size of an int": Call(torch_name("torch.Size"), (1 << 28,)),
    "Size of a tensor": Call(torch_name("torch.Size"), (HUGE,)),
    "bytearray of an int": Call(torch_name("builtins.bytearray"), (1 << 28,)),
    "bytearray of a tensor": Call(torch_name("builtins.bytearray"), (TENSOR,)),
    "set of a tensor": Call(torch_name("builtins.set"), (HUGE,)),
    "tensor of a size": Call(torch_name("torch.Tensor"), (1 << 28,)),
    "new tensor of a size": Call(torch_name("torch.Tensor"), (1 << 28,), new=True),
    "storage": Call(torch_name("torch.storage.UntypedStorage"), (1 << 28,)),
    "typed storage": Call(torch_name("torch.storage.TypedStorage"), (1 << 28,)),
    "from type": Call(FROM_TYPE, (torch_name("builtins.bytearray"), torch_name("torch.Tensor"), (1 << 28,), None)),
    "from type of storage": Call(
        FROM_TYPE, (torch_name("torch.storage.UntypedStorage"), torch_name("torch.Tensor"), (1 << 28,), None)
    ),
    "conjugated": Call(
        torch_name(REBUILD + "tensor_v2"),
        (stored("0", "ComplexFloatStorage", 8), 0, (1 << 28,), (0,), False, None, {"conj": True}),
    ),
    "converted": Call(
        torch_name(REBUILD + "device_tensor_from_cpu_tensor"), (HUGE, torch_name("torch.complex128"), "cpu", False)
    ),
    "codec": Call(torch_name("_codecs.encode"), ("x", "zlib")),
    "sets of a list": [Remembered(0, list(range(10_000))), Raw(b"cbuiltins\nset\nh\x00\x85R" * 500)],
    "empty sets": Raw(b"](" + b"\x8f" * 700_000 + b"e"),
}


@pytest.mark.parametrize("name", MAKES_MEMORY)
@pytest.mark.parametrize("older", [False, True])
def test_memory_is_that_of_the_file(name: str, older: bool) -> None:
    code = pickled(MAKES_MEMORY[name])
    data = legacy(code.replace(b"tQ", b"NtQ")) if older else zipped(code)
    tracemalloc.start()
    try:
        with pytest.raises(FAMILY, match=r"Refused|expected|of damaged|size mismatch"):
            mt.load(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 2 * len(data) + (64 << 20)
    finally:
        tracemalloc.stop()


def test_a_trusted_file_has_no_limit() -> None:
    value = [list(range(10_000))] * 2
    data = zipped(pickled([Remembered(0, value[0]), Raw(b"cbuiltins\nset\nh\x00\x85R" * 500)]))
    assert len(mt.load(io.BytesIO(data), weights_only=False)) == 501


def test_what_a_large_good_pickle_holds_fits() -> None:
    value = {
        "vocabulary": {f"token {number}": number for number in range(50_000)},
        "rows": [{} for _ in range(200_000)],
    }
    stream = io.BytesIO()
    mt.save(value, stream)
    assert mt.load(io.BytesIO(stream.getvalue())) == value


DEEP = (b")" + b"\x85" * 100_000, b"]q\x00h\x00a", b"]q\x00h\x00\x85a", b"K\x01q\x00" + b"h\x00h\x00\x86q\x00" * 100)


@pytest.mark.parametrize("code", DEEP)
def test_depth(code: bytes) -> None:
    deep = Raw(code)
    for made in (
        Pairs([(deep, 1)]),
        Call(torch_name("builtins.set"), ([deep],)),
        Call(torch_name("torch.Tensor"), (deep,)),
        Call(torch_name("torch.Tensor"), ([deep],)),
        Call(torch_name("torch.Size"), deep),
        Build(TENSOR, deep),
        stored("0", "FloatStorage", deep),
        Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, 0, deep, deep, False, None)),
    ):
        with pytest.raises(FAMILY):
            load(made)
        with pytest.raises(FAMILY):
            mt.load(io.BytesIO(legacy(pickled(made).replace(b"tQ", b"NtQ"))))


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ((0, 1 << 62), (1 << 62, 1), 0), ((0,), (1,), 1 << 62), ((1,), (1 << 62,), 0), ((2,), (1 << 61,), 0),
        ((1 << 63,), (0,), 0), ((1 << 32, 1 << 32), (0, 0), 0), ((1,), (1, 1), 0), ((-1,), (1,), 0), ((1,), (-1,), 0),
        ((1,) * 65, (1,) * 65, 0), ((1,), (1,), -1), ((17,), (1,), 0),
    ],
)  # fmt: skip
def test_geometries(size: Any, stride: Any, offset: int) -> None:
    for made in (
        Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, offset, size, stride, False, None)),
        Call(torch_name(REBUILD + "tensor"), (STORAGE, offset, size, stride)),
        Build(Call(torch_name("torch.Tensor"), ()), (STORAGE, offset, size, stride)),
    ):
        with pytest.raises(RuntimeError):
            load(made)


def test_a_view_that_is_not_aligned() -> None:
    saved = (*stored("0", "ByteStorage", 64).saved_id, ("view", 1, 8))
    saved_id = type(STORAGE)(saved)
    made = Call(torch_name(REBUILD + "tensor_v3"), (saved_id, 0, (2,), (1,), False, None, torch_name("torch.float32")))
    loaded = mt.load(io.BytesIO(legacy(pickled(made), {"0": (64, VALUES)})))
    assert loaded.tolist() == list(struct.unpack_from("<2f", VALUES, 1))  # as torch; kernels take any address
    assert (loaded + 1).tolist() == [value + 1 for value in loaded.tolist()]


def test_mapping_of_a_record_that_is_not_aligned(tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    path.write_bytes(archive([Member(b"a/x", b"y"), *members(pickled(TENSOR))], alignment=1))
    assert mt.load(path, mmap=True).tolist() == mt.arange(16.0).reshape(4, 4).tolist()


def test_a_record_that_expands() -> None:
    made = [stored("1", "ByteStorage", 1 << 26)]
    data = archive([*members(pickled(made)), deflated(b"a/data/1", bytes(1 << 26))])
    with pytest.raises(RuntimeError, match="Refused to load"):
        mt.load(io.BytesIO(data))
    small = archive([*members(pickled([stored("1", "ByteStorage", 1 << 20)])), deflated(b"a/data/1", bytes(1 << 20))])
    assert mt.load(io.BytesIO(small))[0].nbytes() == 1 << 20


@pytest.mark.parametrize("name", [b"a/data.pkl", b"a/data/0"])
def test_two_records_of_one_name(name: bytes) -> None:
    with pytest.raises(RuntimeError, match="corrupted"):
        mt.load(io.BytesIO(archive([*members(pickled(TENSOR)), Member(name, VALUES)])))


def test_a_header_that_names_another_record() -> None:
    found = members(pickled(TENSOR))
    found[0].local_name = b"a/data.pkx"
    with pytest.raises(RuntimeError, match="corrupted"):
        mt.load(io.BytesIO(archive(found)))


@pytest.mark.parametrize(
    "numbers", [(0,) * 8, tuple(range(8))[::-1], (0, 0, 0, 0, 0, 1, 1, 2), (-1, *range(7)), (200,) * 8]
)
def test_sparse_indices_that_are_not_what_the_file_says(numbers: tuple[int, ...]) -> None:
    rebuild = torch_name(REBUILD + "tensor_v2")
    indices = Call(rebuild, (stored("1", "LongStorage", 8), 0, (2, 4), (4, 1), False, None))
    values = Call(rebuild, (STORAGE, 0, (4,), (1,), False, None))
    layout = Call(torch_name("torch.serialization._get_layout"), ("torch.sparse_coo",))
    code = pickled(Call(torch_name(REBUILD + "sparse_tensor"), (layout, (indices, values, (100, 100), True))))
    content = struct.pack("<8q", *numbers)
    for data in (
        zipped(code, {"0": VALUES, "1": content}),
        legacy(code.replace(b"tQ", b"NtQ"), {"0": (16, VALUES), "1": (8, content)}),
    ):
        with pytest.raises(RuntimeError, match=r"uncoalesced|found index|negative index"):
            mt.load(io.BytesIO(data))


def test_hooks_in_a_file() -> None:
    hooks = Pairs([(0, torch_name("builtins.set"))])
    with pytest.raises(pickle.UnpicklingError, match="hooks"):
        load(Call(torch_name(REBUILD + "tensor_v2"), (STORAGE, 0, (4,), (1,), True, hooks)))


class Raises:
    """A class that a user marks safe."""

    def __setstate__(self, state: Any) -> None:
        raise LookupError("mine")


def test_errors_of_the_callers_own_code_stay_what_they_are() -> None:
    made = Build(Call(torch_name(f"{Raises.__module__}.Raises"), (), new=True), {"a": 1})
    with mt.serialization.safe_globals([Raises]), pytest.raises(LookupError, match="mine"):
        load(made)

    def place(storage: Any, location: str) -> Any:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        load(TENSOR, map_location=place)


def test_the_budget_counts_what_is_taken() -> None:
    budget = _budget.Budget(1000)
    budget.take(_budget.SLACK)
    budget.take(2000)
    with pytest.raises(RuntimeError, match="asks for more than"):
        budget.take(1)
    _budget.UNLIMITED.take(1 << 60)


@pytest.mark.parametrize("count", [-1, 1 << 59, 1 << 70])
@pytest.mark.parametrize("location", [None, "meta"])
def test_sizes_of_storages(count: int, location: Any) -> None:
    with pytest.raises(pickle.UnpicklingError, match="size of a storage"):
        load(stored("0", "FloatStorage", count), map_location=location)


@pytest.mark.parametrize("place", ["cuda:" + "1" * 5000, "cuda" + "1" * 5000, "npu:99999999999"])
def test_locations_that_are_no_device(place: str) -> None:
    with pytest.raises(RuntimeError, match="device"):
        load(stored("0", "FloatStorage", 16, place))
    with pytest.raises(RuntimeError, match="device"):
        load(Call(torch_name("torch.device"), (place,)))


@pytest.mark.parametrize("code", [b"I" + b"9" * 5000 + b"\n.", b"\x8b\xff\xff\xff\x7f.", b"cx\n.", b""])
def test_listing_names_of_a_damaged_pickle(code: bytes) -> None:
    with pytest.raises(pickle.UnpicklingError):
        mt.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(zipped(b"\x80\x02" + code)))
