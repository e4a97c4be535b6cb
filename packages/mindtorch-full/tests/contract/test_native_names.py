"""`torch._C`: what other libraries read of it."""

import pytest

import mindtorch as mt
import mindtorch._C

torch = pytest.importorskip("torch", reason="oracle")


def test_accelerator_is_the_cpu():
    assert str(mindtorch._C._get_accelerator()) == str(torch._C._get_accelerator()) == "cpu"
    assert mindtorch._C.device is mt.device


def test_missing_names_are_named():
    with pytest.raises(AttributeError) as caught:
        mindtorch._C._cuda_setDevice(0)
    assert str(caught.value) == "module 'torch._C' has no attribute '_cuda_setDevice'"
