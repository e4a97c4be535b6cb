"""What storages promise to the layers above; no oracle needed."""

from __future__ import annotations

import copy
import ctypes
import os
import pickle

import numpy as np
import pytest

from mindtorch_storage.device import device
from mindtorch_storage.storage import UntypedStorage, allocators, register_allocator, set_relocation_hook, untyped


def test_borrowed_memory_is_shared_both_ways() -> None:
    array = np.arange(4, dtype=np.uint8)
    storage = UntypedStorage._from_buffer(array)
    storage[0] = 9
    array[1] = 8
    assert (array[0], storage[1]) == (9, 8)
    assert storage.data_ptr() == array.ctypes.data


def test_any_buffer_object_can_be_borrowed() -> None:
    source = bytearray(b"\1\2\3")
    storage = UntypedStorage._from_buffer(source, resizable=False)
    storage[2] = 7
    assert source[2] == 7
    with pytest.raises(RuntimeError, match="not resizable"):
        storage.resize_(1)


def test_buffer_carries_typed_views() -> None:
    storage = UntypedStorage(16).fill_(0)
    view = np.ndarray((2, 2), np.float32, storage.buffer, 0, (4, 8))
    view[0, 1] = 1.0
    assert np.frombuffer(bytes(storage.tolist()), np.float32).tolist() == [0.0, 0.0, 1.0, 0.0]


def test_data_ptr_is_a_real_address() -> None:
    storage = UntypedStorage([5, 6, 7])
    assert ctypes.string_at(storage.data_ptr(), 3) == b"\5\6\7"
    assert storage[1:].data_ptr() == storage.data_ptr() + 1


def test_slice_shares_memory_and_keeps_it_alive() -> None:
    part = UntypedStorage([1, 2, 3, 4])[1:3]
    part[0] = 9
    assert part.tolist() == [9, 3]
    with pytest.raises(RuntimeError, match="not resizable"):
        part.resize_(10)


def test_resize_tells_the_layer_that_holds_views() -> None:
    moved = []
    before = untyped._Hooks.relocated
    set_relocation_hook(moved.append)
    try:
        storage = UntypedStorage([1, 2])
        storage.resize_(4)
        storage.share_memory_()
    finally:
        untyped._Hooks.relocated = before
    assert moved == [storage, storage]
    assert storage.tolist()[:2] == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_shared_memory_is_seen_by_a_forked_process() -> None:
    storage = UntypedStorage([1]).share_memory_()
    child = os.fork()
    if child == 0:
        storage[0] = 5
        os._exit(0)
    os.waitpid(child, 0)
    assert storage[0] == 5


def test_backends_bring_their_own_memory() -> None:
    class Block:
        buffer = None
        resizable = shared = pinned = False
        filename = None
        nbytes = 8

        def __init__(self) -> None:
            self.device_bytes = np.zeros(8, np.uint8)

        def read(self) -> np.ndarray:
            return self.device_bytes.copy()

        def write(self, data: np.ndarray) -> None:
            self.device_bytes[:] = data

        def pointer(self) -> int:
            return 4096

    before = allocators.Registered.allocators.copy()
    register_allocator("npu", lambda nbytes, where: Block())
    try:
        storage = UntypedStorage(8, device="npu:1")
        assert (storage.data_ptr(), storage.nbytes(), storage.device) == (4096, 8, device("npu:1"))
        storage.copy_(UntypedStorage(range(8)))
        assert storage.clone().cpu().tolist() == list(range(8))
    finally:
        allocators.Registered.allocators = before


@pytest.mark.parametrize("where", ["cpu", "meta"])
def test_pickle_round_trip(where: str) -> None:
    storage = UntypedStorage([1, 2, 3], device=where)
    loaded = pickle.loads(pickle.dumps(storage))
    assert repr(loaded) == repr(storage)


def test_deep_copies_of_one_storage_stay_one() -> None:
    storage = UntypedStorage([1])
    first, second = copy.deepcopy([storage, storage])
    assert first is second
    assert first is not storage
