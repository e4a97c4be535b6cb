"""Storages against torch: values, reprs, errors. Each case runs with either side's classes."""
# ruff: noqa: E501 (cases as data)

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mindtorch_storage.storage import TypedStorage, UntypedStorage

from .outcomes import assert_same
from .sides import OURS, THEIRS, torch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def compare(case: Callable[[Any], Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(lambda: case(OURS), lambda: case(THEIRS))


UNTYPED: list[Callable[[Any], Any]] = [
    lambda w: w.U(), lambda w: w.U([1, 2, 300]), lambda w: w.U(4, device="meta"), lambda w: w.U("a"), lambda w: w.U(-1),
    lambda w: w.U(1, 2), lambda w: w.U([1.5]), lambda w: len(w.U(7)), lambda w: w.U([1, 2, 3])[1:],
    lambda w: w.U([1, 2, 3])[::2], lambda w: w.U([1, 2, 3])[2:1], lambda w: w.U([1, 2, 3])[0], lambda w: w.U([1, 2, 3])[-1],
    lambda w: w.U([1])[1], lambda w: w.U([1, 2])[-5], lambda w: w.U([1])["a"], lambda w: w.U([1]).__setitem__(0, 1.5),
    lambda w: w.U([1]).__setitem__("a", 1), lambda w: w.U([1, 2]).__setitem__(slice(0, 2, 2), 1),
    lambda w: w.U([1, 2]).resize_(0), lambda w: w.U([1, 2]).resize_("a"), lambda w: w.U([1, 2]).resize_(-1),
    lambda w: w.U([1, 2, 3]).resize_(2), lambda w: w.U(3).nbytes(), lambda w: w.U(3).size(), lambda w: w.U(1).resizable(),
    lambda w: w.U(1).is_shared(), lambda w: w.U(1).is_pinned(), lambda w: w.U(1).device, lambda w: w.U(1).type(),
    lambda w: w.U(1).element_size(), lambda w: w.U([1, 2]).clone(), lambda w: w.U([1, 2]).copy_(w.U([3, 4])),
    lambda w: w.U([1, 2]).copy_(w.U([3])), lambda w: w.U(1).copy_(1), lambda w: w.U([1]).cpu(), lambda w: w.U(1).filename,
    lambda w: w.U(1).is_cuda, lambda w: w.U(1).get_device(), lambda w: w.U(1).new(), lambda w: w.U(3).fill_(300),
    lambda w: w.U(3).fill_(1.5), lambda w: w.U(3).fill_("a"), lambda w: w.U([1]).share_memory_().is_shared(),
    lambda w: w.U([1, 2]).share_memory_(), lambda w: w.U([1]).pin_memory(), lambda w: w.U(3).byteswap(w.int16),
    lambda w: 2 in w.U([1, 2]), lambda w: list(w.U([1, 2])), lambda w: w.U([1, 2]).tolist(), lambda w: w.U(0).data_ptr(),
    lambda w: copy.copy(w.U([1])), lambda w: copy.deepcopy(w.U([1, 2])), lambda w: w.U(2, device="cuda"),
    lambda w: w.U(4, device="meta").tolist(), lambda w: w.U(4, device="meta")[0], lambda w: w.U(4, device="meta").data_ptr(),
    lambda w: w.U(4, device="meta").fill_(0), lambda w: w.U(4, device="meta").copy_(w.U(4)),
    lambda w: w.U(4).copy_(w.U(4, device="meta")), lambda w: w.U(4, device="meta").resize_(8).nbytes(),
    lambda w: w.U(4, device="meta").clone(), lambda w: w.U(4, device="meta").cpu(), lambda w: w.U(2, device="meta").device,
    lambda w: w.U.from_buffer(b"abcdef", dtype=w.uint8), lambda w: w.U.from_buffer(b"abcd", "big", dtype=w.int16).tolist(),
    lambda w: w.U.from_buffer(b"abcd", "little", dtype=w.int16).tolist(),
    lambda w: w.U([1, 2, 3, 4])[1:3][1:].tolist(), lambda w: w.U([1, 2]).to(device="cpu"), lambda w: w.U(1).untyped().size(),
]  # fmt: skip


@pytest.mark.parametrize("case", UNTYPED)
def test_untyped(case: Callable[[Any], Any]) -> None:
    compare(case)


TYPED: list[Callable[[Any], Any]] = [
    lambda w: w.FloatStorage(3).fill_(1), lambda w: w.FloatStorage([1, 2]), lambda w: w.T([1, 2]),
    lambda w: w.T(wrap_storage=w.U([0] * 8), dtype=w.float32), lambda w: w.T(wrap_storage=w.U(8)), lambda w: w.T(),
    lambda w: w.T(4, dtype=w.int32).fill_(2), lambda w: w.FloatStorage(2).size(), lambda w: w.FloatStorage(2).nbytes(),
    lambda w: w.FloatStorage([1, 2, 3])[1:], lambda w: w.FloatStorage([1, 2])[-1], lambda w: w.FloatStorage([1, 2])[2],
    lambda w: w.FloatStorage(wrap_storage=w.U([0] * 8)), lambda w: w.FloatStorage.__module__,
    lambda w: type(w.FloatStorage(1)), lambda w: w.FloatStorage(2).pickle_storage_type(), lambda w: w.FloatStorage([1, 2]).tolist(),
    lambda w: w.FloatStorage([1, 2]).type(), lambda w: w.T([1], dtype=w.float32).type(), lambda w: w.FloatStorage([1, 2]).double(),
    lambda w: w.FloatStorage([1.5, 2.5]).long(), lambda w: isinstance(w.T([1], dtype=w.float32), w.FloatStorage),
    lambda w: isinstance(w.T([1], dtype=w.float32), w.DoubleStorage), lambda w: w.T(wrap_storage=w.U(7), dtype=w.float32).size(),
    lambda w: w.FloatStorage([1, 2]).dtype, lambda w: w.FloatStorage([1]).copy_(w.DoubleStorage([2.5])),
    lambda w: w.FloatStorage.from_buffer(b"\x00\x00\x80?", "little"), lambda w: w.ComplexFloatStorage([1j]),
    lambda w: w.BFloat16Storage([1.5]), lambda w: copy.deepcopy(w.FloatStorage([1])), lambda w: w.BoolStorage([True, False]),
    lambda w: w.FloatStorage([1, 2]).element_size(), lambda w: w.FloatStorage([1, 2]).resize_(1), lambda w: w.FloatStorage([1]).is_shared(),
    lambda w: w.FloatStorage(1, 2), lambda w: w.FloatStorage(dtype=w.float32), lambda w: w.HalfStorage([1, 2]).clone(),
]  # fmt: skip


@pytest.mark.parametrize("case", TYPED)
def test_typed(case: Callable[[Any], Any]) -> None:
    compare(case)


def test_typed_storage_warns_once_with_the_text_of_torch() -> None:
    from mindtorch_storage.storage import deprecation

    deprecation.forget_warning()
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        TypedStorage()
        TypedStorage()
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        torch.storage._always_warn_typed_storage_removal = True
        torch.storage.TypedStorage()
        torch.storage._always_warn_typed_storage_removal = False
    assert len(ours) == 1
    assert (str(ours[0].message), ours[0].category) == (str(theirs[0].message), theirs[0].category)
    assert ours[0].filename == __file__


FILES: list[Callable[[Any, str], Any]] = [
    lambda w, p: w.U.from_file(p + "/absent"), lambda w, p: w.U.from_file(p + "/absent", False, 4),
    lambda w, p: w.U.from_file(p + "/four", False, 4), lambda w, p: w.U.from_file(p + "/four", False, 5),
    lambda w, p: w.U.from_file(p + "/four", False, 2).tolist(), lambda w, p: w.U.from_file(p + "/four"),
    lambda w, p: w.U.from_file(p + "/four", False, 4).resizable(), lambda w, p: w.U.from_file(p + "/four", False, 4).resize_(2),
    lambda w, p: w.U.from_file(p + "/four", False, -1), lambda w, p: w.U.from_file(filename=p + "/four", shared=False, nbytes=3).nbytes(),
    lambda w, p: w.U.from_file(3), lambda w, p: w.U.from_file(p + "/four", True, 4).is_shared(),
    lambda w, p: w.U.from_file(p + "/four", False, 4).is_shared(), lambda w, p: w.U.from_file(p + "/none/x", True, 4),
    lambda w, p: w.U.from_file(p + "/four", True, 4).filename, lambda w, p: w.U.from_file(p + "/four", False, 4).filename,
    lambda w, p: w.FloatStorage.from_file(p + "/four", False, 1).tolist(),
]  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_file_mapping(case: Callable[[Any, str], Any], tmp_path: Path) -> None:
    (tmp_path / "four").write_bytes(bytes([1, 2, 3, 4]))
    compare(lambda w: case(w, str(tmp_path)))


@pytest.mark.parametrize("shared", [True, False])
def test_writes_to_a_mapping_reach_the_file_only_when_shared(tmp_path: Path, shared: bool) -> None:
    path = tmp_path / "data"
    path.write_bytes(bytes(8))
    storage = UntypedStorage.from_file(str(path), shared, 8)
    storage[3] = 7
    assert storage[3] == 7
    assert path.read_bytes()[3] == (7 if shared else 0)


def test_shared_mapping_makes_and_extends_the_file(tmp_path: Path) -> None:
    path = tmp_path / "data"
    UntypedStorage.from_file(str(path), True, 16).fill_(1)
    assert path.read_bytes() == bytes([1]) * 16


def test_programs_note_things_at_storages():
    def noted(world: Any) -> Any:
        storage = world.T([1, 2], dtype=world.int32)
        storage.archiveinfo = ("storage", 3)
        return storage.archiveinfo, vars(storage)["archiveinfo"]

    compare(noted)
