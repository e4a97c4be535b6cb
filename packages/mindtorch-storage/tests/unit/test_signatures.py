"""The signatures of a geometry: one of each kind, whichever thread asks first."""

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from mindtorch_storage.device import device
from mindtorch_storage.dtype import float32
from mindtorch_storage.spec import Signature, Spec


@pytest.mark.parametrize("name", ["inference", "inference_tracked"])
def test_threads_get_one_signature(name, monkeypatch):
    interval = sys.getswitchinterval()
    monkeypatch.setattr(Signature, "__init__", _slow(Signature.__init__))
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for size in range(20):
                spec = Spec(float32, device("cpu"), (size + 2, 3), (3, 1))
                barrier = Barrier(4)
                found = list(pool.map(lambda _, spec=spec, barrier=barrier: _asked(spec, name, barrier), range(4)))
                assert len({id(one) for one in found}) == 1
                assert found[0] is getattr(spec, name)
    finally:
        sys.setswitchinterval(interval)


def _asked(spec, name, barrier):
    barrier.wait()
    return getattr(spec, name)


def _slow(init):
    def slow(self, *args):
        for _ in range(200):
            pass
        init(self, *args)

    return slow


def test_flags():
    spec = Spec.of(float32, device("cpu"), (11, 7))
    flags = [
        (one.requires_grad, one.inference) for one in (spec.plain, spec.tracked, spec.inference, spec.inference_tracked)
    ]
    assert flags == [(False, False), (True, False), (False, True), (True, True)]
