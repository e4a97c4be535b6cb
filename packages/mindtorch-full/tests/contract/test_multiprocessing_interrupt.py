"""Ctrl-C while shared memory is given back, in a callback whose exceptions Python drops."""

import os
import signal
import time

import pytest

import mindtorch as mt
from mindtorch_storage.storage import sharing

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX")


def test_it_comes_once_the_memory_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = sharing.change_count

    def interrupted(handle: str, step: int) -> None:
        counted(handle, step)
        if step < 0:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)

    storage = mt.ones(10).untyped_storage()
    storage._share_filename_cpu_()
    path = sharing._path_of(storage._allocation.handle)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(sharing, "change_count", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it comes some time after the storage has gone
            del storage
            time.sleep(5)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not os.path.exists(path)
