"""What `repr` shows of tensors, parameters, modules and value types, under every print option."""
# ruff: noqa: E501 (cases as data)

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

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
        finally:
            lib.set_printoptions(profile="default")  # what a case leaves is not for the next test
    return re.sub(r"0x[0-9a-f]+", "0x", text)


TEXTS: list[Callable[[Any], Any]] = [
    lambda w: (w.tensor([1e-8,1.,1e8])),
    lambda w: (w.tensor([float("nan"),float("inf"),-float("inf"),1.])),
    lambda w: w.tensor([float("nan")]*2),
    lambda w: (w.tensor([0.,-0.])),
    lambda w: (w.tensor(1e20), w.tensor(-0.), w.tensor(float("nan"))),
    lambda w: (w.tensor([1e10,1.])),
    lambda w: (w.tensor([123456789.,2.])),
    lambda w: (w.tensor([0.00001,1])),
    lambda w: (w.tensor([1.5,2.5],dtype=w.float16), w.tensor([1.5,2.5],dtype=w.bfloat16), w.tensor([1.5],dtype=w.float8_e4m3fn)),
    lambda w: (w.tensor([1e5,1e-3],dtype=w.float16)),
    lambda w: (w.tensor([65504.,1e-7],dtype=w.float16)),
    lambda w: (w.tensor([1,2],dtype=w.uint16), w.tensor([2**63],dtype=w.uint64), w.tensor([-128],dtype=w.int8)),
    lambda w: (w.tensor([True,False]), w.tensor(True)),
    lambda w: (w.tensor([1+2j,3.5-1j]), w.tensor([1j],dtype=w.complex128), w.tensor([1j,float("nan")*1j+1]), w.tensor([1e9+1j,1])),
    lambda w: (w.tensor([0.5+0j],dtype=w.complex64)),
    lambda w: w.tensor([1+1j]).to(w.complex32),
    lambda w: (w.arange(1001), w.arange(1001.)),
    lambda w: (w.arange(2000).reshape(2,1000), w.arange(2000).reshape(1000,2), w.arange(2000.).reshape(10,10,20)),
    lambda w: (w.arange(10000).reshape(10,10,10,10)),
    lambda w: (w.arange(40), w.arange(40.)*1000, w.rand(0), w.rand(0,3), w.rand(2,0,3), w.rand(0,dtype=w.float64), w.empty(0,dtype=w.int64), w.empty(0,2,dtype=w.int64)),
    lambda w: (w.ones(2,requires_grad=True), (w.ones(2,requires_grad=True)*2), w.ones(2,requires_grad=True).double(), w.ones(60,requires_grad=True)*1.25),
    lambda w: (w.nn.Parameter(w.ones(2)), w.nn.Parameter(w.ones(2),requires_grad=False), w.nn.Parameter(w.ones(0))),
    lambda w: (w.empty(2,3,device="meta"), w.empty(2,device="meta",dtype=w.int64), w.empty(2,device="meta",dtype=w.float64,requires_grad=True)),
    lambda w: (w.nn.Linear(2,3), w.nn.Sequential(w.nn.Linear(2,3),w.nn.ReLU()), w.nn.ModuleDict({"a":w.nn.Conv2d(1,2,3,padding=1)})),
    lambda w: (w.nn.ParameterList([w.ones(2),w.ones(2,3)]), w.nn.ParameterDict({"a":w.ones(2)})),
    lambda w: (w.set_printoptions(precision=2) or (w.tensor([1.23456]), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(sci_mode=True) or (w.tensor([1.23456,1e5]), w.tensor([1+1j]), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(sci_mode=False) or (w.tensor([1e-9,1e5]), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(threshold=5,edgeitems=1) or (w.arange(10), w.arange(10.).reshape(5,2), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(edgeitems=0,threshold=1) or (w.arange(10), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(linewidth=20) or (w.arange(10), w.arange(10.)/3, w.ones(1,requires_grad=True,dtype=w.float64), w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(profile="short") or (w.arange(2000.), w.rand(3,3)>2, w.set_printoptions(profile="default"))),
    lambda w: (w.set_printoptions(profile="full") or (w.arange(1100), w.set_printoptions(profile="default"))),
    lambda w: w.set_printoptions(profile="foo"),
    lambda w: w.set_printoptions(precision="a"),
    lambda w: (str(w.tensor(3)), format(w.tensor(3.14159),".2f"), f"{w.tensor([1.])}", f"{w.tensor(5):>5}"),
    lambda w: (format(w.tensor([1.]),".2f")),
    lambda w: (w.zeros(2,3).t(), w.ones(3)[None], w.ones(1,1,1)),
    lambda w: (w.float32, w.Size([1,2]), w.finfo(w.float32), w.iinfo(w.int8), w.device("cpu:0"), w.strided, w.channels_last),
    lambda w: (w.tensor([1e-45]), w.tensor([5e-324],dtype=w.float64), w.tensor([3.4e38]), w.tensor([1e300],dtype=w.float64)),
    lambda w: (w.tensor([99999.5,1.]), w.tensor([0.99995,1.]), w.tensor([1000.,1.]), w.tensor([1001.5,1.]), w.tensor([1000.5,1.])),
    lambda w: (w.tensor([[1,-2],[300,4]]), w.tensor([[True]]), w.tensor([[1.5,float("inf")]])),
    lambda w: (w.arange(12).reshape(3,4)[::2,1:], w.ones(2,2).expand(3,2,2)),
    lambda w: (w.tensor(3,dtype=w.int32), w.tensor(3.,dtype=w.float64), w.tensor(2.5,requires_grad=True)),
    lambda w: (w.ones(3).view(w.int32), w.tensor([255],dtype=w.uint8)),
    lambda w: (w.ones(2).to(w.float8_e5m2), w.tensor([448.,1e-3]).to(w.float8_e4m3fn), w.tensor([1.,2.]).to(w.float8_e8m0fnu)),
    lambda w: (w.ones(1001,dtype=w.bool), w.ones(1001,dtype=w.complex64), w.ones(1001,dtype=w.bfloat16)),
    lambda w: (w.set_default_dtype(w.float64) or (w.ones(1), w.ones(1,dtype=w.float32), w.ones(1,dtype=w.complex64), w.ones(1,dtype=w.complex128), w.set_default_dtype(w.float32))),
    lambda w: (w.return_types.max((w.ones(1),w.ones(1)))),
    lambda w: (w.ones(2,2).max(0)),
    lambda w: (w.Generator(), w.no_grad, w.preserve_format),
    lambda w: (w.ones(2,names=("a",)) ),
    lambda w: (w.Tensor([1,2]), w.FloatTensor([1,2]), w.LongTensor([1])),
    lambda w: (repr(w.ones(2,requires_grad=True).sum()), repr((w.ones(2,requires_grad=True)+1).view(2,1)), repr(w.ones(2,requires_grad=True)[0])),
    lambda w: (w.ones(2).as_subclass(type("Sub",(w.Tensor,),{}))),
    lambda w: (w.ones(2,3,requires_grad=True).t().contiguous()),
]  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_texts(case: Callable[[Any], Any]) -> None:
    assert _outcome(case, mt) == _outcome(case, torch)
