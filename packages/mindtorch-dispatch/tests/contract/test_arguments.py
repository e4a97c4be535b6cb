from __future__ import annotations

import warnings

import numpy as np
import pytest

from mindtorch_dispatch.arguments import ArgumentParser, bind_overload
from mindtorch_dispatch.schema import parse_schema
from mindtorch_storage import dtype as dtypes
from mindtorch_storage import layout as layouts
from mindtorch_storage.device import device
from mindtorch_storage.size import Size

from .tensors import Parameter, tensor

X = tensor(np.ones((2, 3), np.float32))
Y = tensor(np.ones((2, 3), np.float32))
ZERO_DIM = tensor(np.int64(2))
ADD = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
ADD_SCALAR = parse_schema("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
SUM = parse_schema("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor")
SUM_DIM = parse_schema(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
)
ZEROS = parse_schema(
    "zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None) -> Tensor"
)
VIEW = parse_schema("view(Tensor(a) self, SymInt[] size) -> Tensor(a)")
VIEW_DTYPE = parse_schema("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
MAX = parse_schema("max(Tensor self) -> Tensor")
MAX_DIM = parse_schema("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")


def function(name, *overloads):
    return ArgumentParser(name, [(schema, schema.as_out()) for schema in overloads])


def method(name, *overloads):
    return ArgumentParser(name, overloads, is_method=True)


def test_values_come_in_schema_order_with_sources():
    parsed = function("add", ADD).parse((X, Y), {"alpha": 3})
    assert parsed.values == [X, Y, 3]
    assert parsed.sources == [0, 1, 2]
    assert (parsed.index, parsed.schema, parsed.out, parsed.cacheable) == (0, ADD, None, True)
    parsed = method("add", ADD).parse((X,), {"alpha": 3, "other": Y})
    assert parsed.values == [X, Y, 3]
    assert parsed.sources == [0, 2, 1]


def test_defaults_have_no_source():
    parsed = function("add", ADD).parse((X, Y), {})
    assert parsed.values == [X, Y, 1]
    assert parsed.sources == [0, 1, None]


def test_python_names():
    parser = function("sum", SUM, SUM_DIM)
    parsed = parser.parse((), {"input": X, "axis": 1, "keepdims": True})
    assert parsed.values == [X, (1,), True, None]
    assert parsed.sources == [0, None, 2, None]
    assert parsed.index == 1
    assert parser.parse((), {"x": X}).values == [X, None]
    with pytest.raises(TypeError, match="missing 1 required positional arguments"):
        parser.parse((), {"self": X})


def test_out():
    parsed = function("add", ADD).parse((X, Y), {"out": X})
    assert (parsed.out, parsed.out_source) == (X, 2)
    assert parsed.values == [X, Y, 1]
    parsed = function("max", MAX, MAX_DIM).parse((X, 0), {"out": (X, Y)})
    assert (parsed.index, parsed.out) == (1, (X, Y))
    assert function("add", ADD).parse((X, Y), {"out": None}).out is None
    with pytest.raises(TypeError, match=r"expected tuple of 2 elements but got 1"):
        function("max", MAX, MAX_DIM).parse((X, 0), {"out": (X,)})


def test_numbers_where_a_tensor_is_expected():
    assert function("add", ADD, ADD_SCALAR).parse((X, 2.5), {}).values == [X, 2.5, 1]
    parsed = function("add", ADD).parse((X, np.float32(2)), {})
    assert type(parsed.values[1]) is float
    assert parsed.sources[1] is None
    with pytest.raises(TypeError, match=r"atan2\(\): argument 'other' \(position 2\) must be Tensor, not int"):
        function("atan2", parse_schema("atan2(Tensor self, Tensor other) -> Tensor")).parse((X, 1), {})


def test_variable_arguments():
    view = method("view", VIEW, VIEW_DTYPE)
    assert view.parse((X, 2, 3), {}).values == [X, (2, 3)]
    assert view.parse((X, 2, 3), {}).sources == [0, None]
    assert view.parse((X, (2, 3)), {}).sources == [0, 1]
    assert view.parse((X, [2, 3]), {}).values == [X, (2, 3)]
    assert view.parse((X, Size((2, 3))), {}).values[1] == (2, 3)
    assert view.parse((X, -1), {}).values == [X, (-1,)]
    assert view.parse((X, dtypes.int32), {}).index == 1


def test_values_read_out_of_tensors_are_not_cacheable():
    zeros = function("zeros", ZEROS)
    for size in (ZERO_DIM, (ZERO_DIM,)):
        parsed = zeros.parse((size,), {})
        assert parsed.values[0] == (2,)
        assert not parsed.cacheable
    assert zeros.parse((np.int64(2),), {}).cacheable
    add = function("add", ADD).parse((X, Y), {"alpha": ZERO_DIM})
    assert add.values == [X, Y, 2]
    assert not add.cacheable


def test_factory_keywords():
    zeros = function("zeros", ZEROS)
    parsed = zeros.parse((2, 3), {"dtype": float, "device": "meta", "requires_grad": True, "layout": layouts.strided})
    assert parsed.values == [(2, 3), dtypes.float64, layouts.strided, device("meta"), None]
    assert parsed.extras == {"requires_grad": True}
    like = parse_schema(
        "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
    )
    parsed = function("zeros_like", like).parse((X,), {"memory_format": layouts.contiguous_format})
    assert parsed.values == [X, None, None, None, None, layouts.contiguous_format]


def test_enumeration_defaults_become_objects():
    randperm = parse_schema("randperm(SymInt n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, "
                            "bool? pin_memory=None) -> Tensor")  # fmt: skip
    assert function("randperm", randperm).parse((3,), {}).values[1] is dtypes.int64
    assert bind_overload(randperm, (3,), {}).values[1] is dtypes.int64


def test_deprecated_order_warns():
    schema = parse_schema("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
    with pytest.warns(UserWarning, match=r"This overload of addmm is deprecated:\n\taddmm\(Number beta, Tensor input,"):
        parsed = function("addmm", schema).parse((5, X, X, Y), {})
    assert parsed.values == [X, X, Y, 5, 1]
    assert parsed.sources == [1, 2, 3, 0, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert function("addmm", schema).parse((X, X, Y), {"beta": 5}).values == [X, X, Y, 5, 1]


def test_self_need_not_be_first():
    where = parse_schema("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")
    parsed = method("where", where).parse((X, Y, ZERO_DIM), {})
    assert parsed.values == [Y, X, ZERO_DIM]
    assert parsed.sources == [1, 0, 2]
    only_function = parse_schema("where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor")
    assert len(method("where", where, only_function).signatures) == 1


def test_an_input_that_the_schema_itself_names():
    linear = parse_schema("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
    assert function("linear", linear).parse((), {"input": X, "weight": Y}).values == [X, Y, None]


def test_methods_without_parameters():
    absolute = method("abs", parse_schema("abs(Tensor self) -> Tensor"))
    assert absolute.parse((X,), {}).values == [X]
    with pytest.raises(TypeError, match=r"^TensorBase\.abs\(\) takes no arguments \(1 given\)$"):
        absolute.parse((X, 1), {})
    parameter = tensor(np.ones(2, np.float32), True, Parameter)
    with pytest.raises(TypeError, match=r"^TensorBase\.abs\(\) takes no keyword arguments$"):
        absolute.parse((parameter,), {"dim": 1})


def test_objects_that_override_torch_functions_are_tensors():
    class Override:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    other = Override()
    assert function("add", ADD).parse((X, other), {}).values[1] is other


def test_making_a_parser_builds_nothing():
    def overloads():
        raise AssertionError("built")
        yield ADD

    parser = ArgumentParser("add", overloads())
    with pytest.raises(AssertionError, match="built"):
        _ = parser.signatures


def test_bind_overload():
    parsed = bind_overload(SUM_DIM, (X, [1]), {"keepdim": True})
    assert parsed.values == [X, (1,), True, None]
    assert parsed.sources == [0, None, 2, None]
    assert bind_overload(SUM_DIM, (X, 1), {}).values[1] == (1,)
    assert bind_overload(ADD, (X, 2), {}).values == [X, 2, 1]
    index = parse_schema("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")
    assert bind_overload(index, (X, [None, Y]), {}).values[1] == [None, Y]
