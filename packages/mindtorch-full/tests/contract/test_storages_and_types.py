"""Storages under tensors, value types, conversions and interop: values, reprs and errors as torch's."""
# ruff: noqa: E501 (cases as data)

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")


def _outcome(case: Callable[[Any], Any], lib: Any) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = repr(case(lib))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            text = f"{type(error).__name__}: {error}"
    return re.sub(r"0x[0-9a-f]+", "0x", text)


STORAGES: list[Callable[[Any], Any]] = [
    lambda w: (w.UntypedStorage([1,2,3]).byteswap(w.int16)),
    lambda w: (lambda first, second: (hash(first) == hash(second), hash(first) == hash(first)))(w.UntypedStorage(2), w.UntypedStorage(2)),
    lambda w: (w.UntypedStorage([1,2])==w.UntypedStorage([1,2])),
    lambda w: (lambda t: t.untyped_storage()._cdata==t.untyped_storage()._cdata)(w.ones(3)),
    lambda w: (lambda t: t.untyped_storage() is t.untyped_storage())(w.ones(3)),
    lambda w: (lambda t: t.untyped_storage().data_ptr()==t[1:].untyped_storage().data_ptr())(w.ones(3)),
    lambda w: ((lambda t: (t.untyped_storage().resize_(0), t.untyped_storage().size(), t.shape)[1:])(w.ones(3))),
    lambda w: ((lambda t: (t.untyped_storage().resize_(0), t.untyped_storage().resize_(12), t.copy_(w.ones(3)), t))(w.ones(3))[3]),
    lambda w: ((lambda t: (t.untyped_storage().resize_(0), t.untyped_storage().data_ptr()))(w.ones(3))[1]),
    lambda w: (w.empty(0).set_(w.FloatStorage([1,2,3,4]),1,(2,),(1,))),
    lambda w: (w.empty(0).set_(w.DoubleStorage([1,2]))),
    lambda w: (w.empty(0,dtype=w.uint8).set_(w.UntypedStorage([1,2,3]),0,(3,))),
    lambda w: (w.empty(0).set_(w.ones(2,3).t())),
    lambda w: (w.empty(0).set_(w.ones(2,dtype=w.int64))),
    lambda w: (w.ones(4).as_strided((2,2),(1,1))),
    lambda w: (w.ones(4).as_strided((2,2),(4,1))),
    lambda w: (w.ones(4).as_strided((2,2),(-1,1))),
    lambda w: (w.ones(4).as_strided((2,2),(1,))),
    lambda w: (w.ones(4).as_strided((2,2),(1,1),-1)),
    lambda w: (w.ones(4).as_strided((2,-2),(1,1))),
    lambda w: (w.ones(4)[1:].as_strided((2,),(1,),0)),
    lambda w: (w.ones(4).as_strided((2,2),(1,1),9)),
    lambda w: w.from_numpy(np.ones(3)).untyped_storage().resize_(0),
    lambda w: w.from_numpy(np.ones(3)).resize_(9).shape,
    lambda w: w.from_numpy(np.ones(3)).untyped_storage().resizable(),
    lambda w: (w.frombuffer(bytearray(8),dtype=w.uint8).untyped_storage().resizable()),
    lambda w: w.ones(3).pin_memory(),
    lambda w: w.ones(3).is_pinned(),
    lambda w: (w.FloatStorage([1,2]).is_pinned()),
    lambda w: (w.FloatStorage([1,2]).pin_memory()),
    lambda w: (w.FloatStorage([1.5,2]).int()),
    lambda w: (w.FloatStorage([1.5,2]).bool()),
    lambda w: (w.FloatStorage([1.5,2]).bfloat16()),
    lambda w: (w.FloatStorage([1.5,2]).half()),
    lambda w: (w.FloatStorage([1.5,2]).complex_double()),
    lambda w: (w.FloatStorage([1.5,2]).complex_float()),
    lambda w: (w.FloatStorage([1.5,2]).char()),
    lambda w: (w.FloatStorage([1.5,2]).byte()),
    lambda w: (w.FloatStorage([1.5,2]).short()),
    lambda w: (w.FloatStorage([1.5,2]).float8_e5m2()),
    lambda w: (w.FloatStorage([1.5,2]).float8_e4m3fn()),
    lambda w: (w.FloatStorage([1.5,2]).cpu()),
    lambda w: (w.FloatStorage([1,2]).fill_("a")),
    lambda w: (w.FloatStorage([1,2]).__setitem__(0,"a")),
    lambda w: (w.FloatStorage([1,2]).__setitem__(slice(0,1),5)),
    lambda w: (w.FloatStorage([1,2]).__setitem__(7,5)),
    lambda w: (w.FloatStorage([1,2])["a"]),
    lambda w: (w.FloatStorage([1,2]).copy_(w.FloatStorage([1]))),
    lambda w: (w.FloatStorage([1,2]).resize_(5).size()),
    lambda w: (w.FloatStorage([1,2]).data_ptr()==0),
    lambda w: (w.FloatStorage([1,2]).get_device()),
    lambda w: (w.FloatStorage([1,2]).is_sparse),
    lambda w: (w.FloatStorage([1,2]).filename),
    lambda w: (w.FloatStorage([1,2]).untyped()),
    lambda w: (w.FloatStorage([1,2])==w.FloatStorage([1,2])),
    lambda w: hash(w.FloatStorage(1)) is not None,
    lambda w: (w.FloatStorage([1,2]).tolist()),
    lambda w: (list(w.FloatStorage([1,2]))),
    lambda w: w.FloatStorage("a"),
    lambda w: w.FloatStorage(-1),
    lambda w: (w.tensor([1.,2.]).storage().dtype),
    lambda w: (w.tensor([1.,2.]).storage()[1]),
    lambda w: (w.tensor([1.,2.]).storage_type()),
    lambda w: (w.tensor([1.,2.]).element_size()),
    lambda w: (w.tensor([1.,2.]).nbytes),
    lambda w: (w.tensor([1.,2.]).itemsize),
    lambda w: (w.empty(2,device="meta").untyped_storage().nbytes()),
    lambda w: (w.empty(2,device="meta").untyped_storage()),
    lambda w: (w.empty(2,device="meta").storage()[0]),
    lambda w: (w.empty(2,device="meta").data_ptr()),
    lambda w: w.UntypedStorage(3).__sizeof__()>0,
    lambda w: (w.UntypedStorage(3,device="cpu:0").device),
    lambda w: (w.UntypedStorage(3,device="foo")),
    lambda w: (w.UntypedStorage(3,device=3)),
    lambda w: (w.UntypedStorage([1,2]).float()),
    lambda w: (w.UntypedStorage([1,2]).is_hpu),
    lambda w: (w.UntypedStorage([1,2]).is_sparse_csr),
    lambda w: (w.UntypedStorage.from_buffer(b"abcd","foo",dtype=w.int16)),
    lambda w: (w.UntypedStorage.from_buffer(b"abcd",dtype=w.int16).tolist()),
    lambda w: (w.UntypedStorage.from_buffer(b"abcd","native",1,2,dtype=w.uint8).tolist()),
    lambda w: (w.UntypedStorage.from_buffer(b"abcd","native",0,9,dtype=w.uint8)),
    lambda w: (w.UntypedStorage.from_buffer(b"abcd","native",9,1,dtype=w.uint8)),
    lambda w: (w.UntypedStorage.from_buffer(b"abc","native",dtype=w.int16)),
    lambda w: w.UntypedStorage.from_buffer(b"abc"),
]  # fmt: skip


@pytest.mark.parametrize("case", STORAGES)
def test_storages(case: Callable[[Any], Any]) -> None:
    assert _outcome(case, mt) == _outcome(case, torch)


TYPES: list[Callable[[Any], Any]] = [
    lambda w: (w.device("meta"), w.device("cpu",1), w.device("cuda:1"), w.device(0)),
    lambda w: w.device("cpu:a"),
    lambda w: w.device(""),
    lambda w: w.device("cpu:-1"),
    lambda w: w.device("cuda:01"),
    lambda w: (w.device("cpu",-2)),
    lambda w: (w.device("cpu:1",1)),
    lambda w: (w.device("cpu").type, w.device("cpu").index),
    lambda w: w.device("xla"),
    lambda w: w.device("cpu")==w.device("cpu:0"),
    lambda w: w.device("cpu")=="cpu",
    lambda w: hash(w.device("cpu:1"))==hash(w.device("cpu:1")),
    lambda w: pickle.loads(pickle.dumps(w.device("cpu:1"))),
    lambda w: (w.device(type="cuda",index=2)),
    lambda w: w.device(1.5),
    lambda w: w.device(),
    lambda w: w.device(None),
    lambda w: ((lambda d: (d.__enter__(), w.ones(1).device, d.__exit__(None,None,None), w.ones(1).device))(w.device("meta"))[1::2]),
    lambda w: (w.set_default_device("meta") or (w.ones(2).device, w.arange(3).device, w.tensor([1]).device, w.get_default_device(), w.set_default_device(None), w.ones(1).device)),
    lambda w: w.set_default_device("foo"),
    lambda w: w.get_default_device(),
    lambda w: w.set_default_dtype(w.int32),
    lambda w: w.set_default_dtype("a"),
    lambda w: (w.set_default_dtype(w.float64) or (w.ones(1).dtype, w.tensor(1.5).dtype, w.tensor(1j).dtype, w.ones(2), w.ones(2,dtype=w.float32), w.set_default_dtype(w.float32))),
    lambda w: (w.float32.to_complex(), w.complex64.to_real(), w.int8.is_signed, w.bfloat16.itemsize),
    lambda w: w.int32.to_complex(),
    lambda w: ([str(getattr(w,n)) for n in ("uint16","bits8","quint8","float8_e8m0fnu","uint1","int4","float4_e2m1fn_x2")]),
    lambda w: (w.finfo(w.bfloat16), w.finfo(w.float8_e4m3fn), w.finfo(), w.finfo(w.complex64)),
    lambda w: w.finfo(w.int32),
    lambda w: w.iinfo(w.float32),
    lambda w: (w.iinfo(w.uint8), w.iinfo(w.int64), w.iinfo(w.uint16)),
    lambda w: w.iinfo(w.bool),
    lambda w: w.iinfo(),
    lambda w: (w.finfo(w.float16).smallest_normal, w.finfo(w.float16).tiny, w.finfo(w.float16).resolution, w.finfo(w.float16).bits),
    lambda w: (w.finfo(w.float8_e5m2fnuz), w.finfo(w.float8_e8m0fnu)),
    lambda w: (w.promote_types(w.uint8,w.int8), w.promote_types(w.bfloat16,w.float16), w.promote_types(w.bool,w.uint8)),
    lambda w: (w.promote_types(w.float8_e5m2,w.float16)),
    lambda w: (w.promote_types(w.uint16,w.int16)),
    lambda w: (w.result_type(w.ones(1,dtype=w.int8),1.5), w.result_type(w.ones(()),w.ones(1,dtype=w.float16))),
    lambda w: (w.can_cast(w.double,w.float), w.can_cast(w.float,w.int)),
    lambda w: (w.strided, w.sparse_coo, w.channels_last, w.preserve_format),
    lambda w: w.contiguous_format,
    lambda w: w.layout(),
    lambda w: w.memory_format(),
    lambda w: (pickle.loads(pickle.dumps((w.strided,w.channels_last,w.float32)))),
]  # fmt: skip


@pytest.mark.parametrize("case", TYPES)
def test_value_types(case: Callable[[Any], Any]) -> None:
    assert _outcome(case, mt) == _outcome(case, torch)


CONVERSIONS: list[Callable[[Any], Any]] = [
    lambda w: (lambda t: t.contiguous() is t)(w.ones(3)),
    lambda w: (lambda t: t.to(w.float32) is t)(w.ones(3)),
    lambda w: (lambda t: t.to("cpu") is t)(w.ones(3)),
    lambda w: (lambda t: t.to(w.ones(1)) is t)(w.ones(3)),
    lambda w: ((lambda t: t.to(w.float32,copy=True) is t)(w.ones(3))),
    lambda w: ((lambda t: t.to(memory_format=w.channels_last) is t)(w.ones(1,2,3,4))),
    lambda w: (w.ones(1,2,3,4).to(memory_format=w.channels_last).stride()),
    lambda w: (w.ones(2,3).contiguous(memory_format=w.channels_last)),
    lambda w: (w.ones(2,3).contiguous(memory_format=w.preserve_format)),
    lambda w: (w.ones(2,3).to("cuda")),
    lambda w: (w.ones(2,3).to("xla")),
    lambda w: (w.ones(2,3).to("foo")),
    lambda w: (w.ones(2,3).to(5)),
    lambda w: (w.ones(2,3).to()),
    lambda w: (w.ones(2,3).to("meta")),
    lambda w: (w.empty(2,device="meta").to("cpu")),
    lambda w: (w.empty(2,device="meta").cpu()),
    lambda w: (w.empty(2,device="meta").item()),
    lambda w: (w.empty(2,device="meta").tolist()),
    lambda w: (w.empty(2,device="meta").numpy()),
    lambda w: (bool(w.empty(1,device="meta"))),
    lambda w: (w.ones(2).to(dtype=w.float16,non_blocking=True)),
    lambda w: (w.ones(2,requires_grad=True).to(w.float64)),
    lambda w: (w.ones(2,requires_grad=True).to(w.int32)),
    lambda w: (w.ones(2,requires_grad=True).numpy()),
    lambda w: (w.ones(2,dtype=w.bfloat16).numpy()),
    lambda w: (w.ones(2,requires_grad=True).numpy(force=True)),
    lambda w: (np.asarray(w.ones(2,dtype=w.bfloat16))),
    lambda w: (np.asarray(w.ones(2,requires_grad=True))),
    lambda w: w.from_numpy(np.ones(3)[::-1]),
    lambda w: w.from_numpy(np.array(["a"])),
    lambda w: (w.from_numpy(np.ones(3,">f4"))),
    lambda w: w.from_numpy([1]),
    lambda w: w.tensor(np.ones(3)[::-1]),
    lambda w: (w.frombuffer(b"",dtype=w.uint8)),
    lambda w: (w.frombuffer(b"abc",dtype=w.int16)),
    lambda w: (w.frombuffer(b"abcd",dtype=w.int16,offset=9)),
    lambda w: (w.frombuffer(b"abcd",dtype=w.int16,count=9)),
    lambda w: (w.frombuffer(1,dtype=w.int16)),
    lambda w: (w.asarray([1,2],copy=False)),
    lambda w: (w.asarray(w.ones(2),dtype=w.int32,copy=False)),
    lambda w: (w.asarray(w.ones(2),device="meta",copy=False)),
    lambda w: (w.asarray(bytearray(b"abcd"),dtype=w.uint8)),
    lambda w: w.asarray(b"abcd"),
    lambda w: (w.asarray(3.5), w.asarray([1,2],requires_grad=True)),
    lambda w: (w.asarray([1.,2],requires_grad=True)),
    lambda w: (w.as_tensor([1,2],dtype=w.float16)),
    lambda w: (hasattr(w.ones(1),"__cuda_array_interface__")),
    lambda w: w.ones(2).__dlpack_device__(),
    lambda w: (w.empty(2,device="meta").__dlpack__()),
    lambda w: (w.empty(2,device="meta").__dlpack_device__()),
    lambda w: (w.ones(2,requires_grad=True).__dlpack__()),
    lambda w: w.from_dlpack(1),
    lambda w: w.utils.dlpack.from_dlpack(w.utils.dlpack.to_dlpack(w.ones(2))),
    lambda w: (w.from_dlpack(w.ones(2),copy=True)),
    lambda w: (w.from_dlpack(w.ones(2,dtype=w.bfloat16))),
    lambda w: (w.from_dlpack(w.ones(2,dtype=w.bool))),
    lambda w: (w.from_dlpack(w.ones(2,dtype=w.complex64))),
    lambda w: w.ones(2).__dlpack__(stream=1.5),
    lambda w: w.ones(2).__array__(dtype="f8"),
    lambda w: memoryview(w.ones(2).numpy()).format,
    lambda w: len(w.tensor(3)),
    lambda w: int(w.ones(2)),
    lambda w: float(w.tensor(1j)),
    lambda w: (w.tensor([1,2]).__index__()),
    lambda w: w.tensor(3).__index__(),
    lambda w: w.tensor(3.5).__index__(),
    lambda w: ([1,2,3][w.tensor(1)]),
    lambda w: w.ones(2).item(),
]  # fmt: skip


@pytest.mark.parametrize("case", CONVERSIONS)
def test_conversions_and_interop(case: Callable[[Any], Any]) -> None:
    assert _outcome(case, mt) == _outcome(case, torch)
