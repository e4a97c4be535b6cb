# ruff: noqa: E501 (cases as data)
from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import mindtorch_storage.device as module
from mindtorch_storage.device import device, intern_device, set_accelerator

from .outcomes import assert_same

torch = pytest.importorskip("torch", reason="oracle")
TYPES = [
    "cpu",
    "cuda",
    "ipu",
    "xpu",
    "mkldnn",
    "opengl",
    "opencl",
    "ideep",
    "hip",
    "ve",
    "fpga",
    "maia",
    "xla",
    "lazy",
    "vulkan",
    "mps",
    "meta",
    "hpu",
    "mtia",
    "privateuseone",
]
STRINGS = [
    *TYPES, "", "x", "metal", "CPU", "cpu:", "cpu:0", "cpu:1", "cpu:-1", "cuda:01", "cuda:00", "cuda:a", "cuda:1:2",
    "cuda:+1", "cuda:127", "cuda:128", "cuda:255", "cuda:300", "cuda ", "cpu :0", "cpu1", ":1", "cu\u00e9",
    "cuda:2147483647", "cuda:2147483648", "cuda:99999999999999", "meta:0",
]  # fmt: skip
ARGUMENTS = [
    ((), {}), ((0,), {}), ((-1,), {}), ((10**30,), {}), ((1.5,), {}), ((None,), {}), ((True,), {}), ((b"cpu",), {}),
    (([],), {}), (([1, "a"],), {}), (((1,),), {}), (((1, 2),), {}), (("cuda", 1), {}), (("cpu", -1), {}), (("cuda:0", 1), {}), (("cuda", None), {}), (("cuda", 300), {}),
    (("cuda", 255), {}), (("cuda", True), {}), (("cuda", 1.0), {}), (("cuda", 10**30), {}), (("x", 1), {}),
    (("", 1), {}), (("cpu", 1, 2), {}), ((1, 1), {}), (("cuda", np.int64(1)), {}), ((), {"type": "cuda"}),
    ((), {"type": "cuda", "index": 1}), ((), {"index": 1}), ((), {"device": "cuda:1"}), ((), {"type": 1}),
    ((), {"type": "cuda", "foo": 1}), (("cuda",), {"device": "cuda"}), (("cuda",), {"index": "a"}),
    (("cuda",), {"foo": 1}), ((1,), {"index": 1}), (("cuda", 1), {"index": 1}), (([1], {}), {}),
    (("cuda",), {"index": 3}),
]  # fmt: skip


@pytest.mark.parametrize("text", STRINGS)
def test_strings_parse_as_in_torch(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert_same(lambda: device(text), lambda: torch.device(text))


@pytest.mark.parametrize("text", ["cpu", "cuda:1", "meta", "xpu:0", "cuda:127", "privateuseone:2"])
def test_facts_are_those_of_torch(text: str) -> None:
    mine, theirs = device(text), torch.device(text)
    assert (str(mine), mine.type, mine.index, hash(mine)) == (str(theirs), theirs.type, theirs.index, hash(theirs))


@pytest.mark.parametrize(("args", "kwargs"), ARGUMENTS)
def test_arguments_parse_as_in_torch(args: tuple, kwargs: dict) -> None:
    assert_same(lambda: device(*args, **kwargs), lambda: torch.device(*args, **kwargs))


def test_device_argument_is_returned() -> None:
    mine = device("cuda", 1)
    assert device(mine) is mine
    assert device(device=mine) is mine
    assert_same(lambda: device(mine, 1), lambda: torch.device(torch.device("cuda", 1), 1))


def test_equal_devices_are_one_object() -> None:
    assert device("cuda:1") is device("cuda", 1) is intern_device("cuda", 1)
    assert device("cuda") != device("cuda:0")
    assert device("cpu") != "cpu"


@pytest.mark.parametrize("write", ["type", "index", "x"])
def test_attributes_cannot_be_set(write: str) -> None:
    assert_same(lambda: setattr(device("cpu"), write, 1), lambda: setattr(torch.device("cpu"), write, 1))


def test_order_and_subclass_are_refused() -> None:
    assert_same(lambda: device("cpu") < device("cpu"), lambda: torch.device("cpu") < torch.device("cpu"))
    assert_same(lambda: type("Mine", (device,), {}), lambda: type("Mine", (torch.device,), {}))


@pytest.mark.parametrize("text", ["cpu", "cuda:3", "npu:0"])
def test_pickles_and_copies_are_the_same_object(text: str) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(device(text), protocol)) is device(text)
    assert copy.deepcopy(device(text)) is device(text)


def test_npu_is_a_device_type_although_the_text_does_not_list_it() -> None:
    assert repr(device("npu:2")) == "device(type='npu', index=2)"
    assert "npu" not in module._EXPECTED.split(", ")


def test_bare_index_means_the_accelerator() -> None:
    set_accelerator("npu")
    try:
        assert device(1) is device("npu:1")
    finally:
        set_accelerator(None)


def test_pickle_names_torch_when_torch_is_ours() -> None:
    code = (
        "import sys, types, pickle, pickletools; from mindtorch_storage import dtype, device, layout, size;"
        "fake = types.ModuleType('torch'); sys.modules['torch'] = fake; fake.float32 = dtype.float32;"
        "fake.device = device.device; fake.Size = size.Size;"
        "data = pickle.dumps([dtype.float32, device.device('cpu'), size.Size([2])], 2);"
        "assert b'ctorch\\nfloat32' in data and b'ctorch\\ndevice' in data and b'ctorch\\nSize' in data, data;"
        "assert pickle.loads(data) == [dtype.float32, device.device('cpu'), size.Size([2])]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
