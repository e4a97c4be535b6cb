"""`torch.ops`: namespaces, operators, overloads and their schemas, against torch's objects."""

import copy
import pickle

import pytest

from mindtorch_dispatch.arguments import description
from mindtorch_dispatch.call import make_call
from mindtorch_dispatch.extend.overloads import OpOverloadPacket, OutOverload, find_overload
from mindtorch_dispatch.interface.native import native_path
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.schema import parse_schema
from mindtorch_dispatch.schema.function_schema import FunctionSchema
from mindtorch_dispatch.table import find_packet

from .sides import Scenarios, assert_same, caught, mt, torch

scenarios = Scenarios()
OPS = {
    name.replace(".", "_"): name
    for name in "add.Tensor mm.default view.default split.Tensor add_.Tensor cat.default sum.dim_IntList relu.default "
    "linear.default nonzero.default bernoulli.default add.out max.dim max.dim_max t_.default empty.memory_format".split()
}


@pytest.mark.parametrize("scenario", scenarios)
def test_as_torch(scenario):
    assert_same(scenario)


def overload(T, name):
    packet, _, rest = name.partition(".")
    return getattr(getattr(T.ops.aten, packet), rest)


@scenarios.each(**OPS)
def facts(T, ns, name):
    op = overload(T, name)
    names = "__name__ __qualname__ __module__ _overloadname _opname _name namespace is_view tags".split()
    return {one: getattr(op, one) for one in names} | {
        "name": op.name(), "str": str(op), "repr": repr(op), "schema": str(op._schema), "packet": repr(op.overloadpacket),
        "class": type(op).__name__, "home": type(op).__module__, "mutable": op._schema.is_mutable,
    }  # fmt: skip


@scenarios.each(**OPS)
def schema_arguments(T, ns, name):
    schema = overload(T, name)._schema
    return [schema.name, schema.overload_name], [
        (
            one.name, str(one.type), str(one.real_type), one.N, one.has_default_value(), one.default_value,
            one.kwarg_only, one.is_out, one.is_write, one.type.kind(), one.type.annotation_str,
            one.alias_info and (one.alias_info.before_set, one.alias_info.after_set, one.alias_info.is_write),
        )
        for one in (*schema.arguments, *schema.returns)
    ]  # fmt: skip


MISSING = {
    "op": lambda T: T.ops.aten.nope,
    "overload": lambda T: T.ops.aten.add.Nope,
    "namespace": lambda T: T.ops.nowhere.op,
    "dunder_overload": lambda T: T.ops.aten.add.Tensor.__nope__,
    "dunder_op": lambda T: T.ops.aten.__nope__,
    "of_overload": lambda T: T.ops.aten.add.Tensor.nope,
    "packet_namespace": lambda T: T.ops.aten.add.namespace,
    "packet_schema": lambda T: T.ops.aten.add._schema,
    "schema_name": lambda T: T.ops.aten.add.Tensor._schema.nope,
    "argument_name": lambda T: T.ops.aten.add.Tensor._schema.arguments[0].nope,
    "write_schema": lambda T: setattr(T.ops.aten.add.Tensor._schema, "name", "x"),
    "iterate": lambda T: list(T.ops.aten.add.Tensor),
}


@scenarios.each(**MISSING)
def what_is_not_there(T, ns, reach):
    return reach(T)


@scenarios
def objects_are_the_same_every_time(T, ns):
    A = T.ops.aten
    op = A.add.Tensor
    same = [A.add is A.add, op is A.add.Tensor, copy.deepcopy(op) is op, copy.deepcopy(A.add) is A.add]
    return same, hash(op) == hash(A.add.Tensor), {op: 1}[A.add.Tensor], op == A.mul.Tensor, op.overloadpacket is A.add


@scenarios
def attributes_can_be_set(T, ns):
    T.ops.aten.add.Tensor.noted = 3
    found = T.ops.aten.add.Tensor.noted
    del T.ops.aten.add.Tensor.noted
    return found


@scenarios.each(none=((), {}), keyword=((1,), {"bad": 3}), text=((1, "x"), {}), twice=((1, 1), {"self": 1}),
                many=((1, 1, 1), {}))  # fmt: skip
def calls_that_do_not_fit(T, ns, call):
    args = [T.ones(1) if one == 1 else one for one in call[0]]
    return T.ops.aten.add.Tensor(*args, **{k: T.ones(1) for k in call[1]})


BY_NAME = {
    "add": ("add", {"other": 1.0}),
    "sum": ("sum", {}),
    "sum_of_rows": ("sum", {"dim": [1]}),
    "relu": ("relu", {}),
    "view": ("view", {"size": [4]}),
    "clamp": ("clamp", {"min": 3}),
    "add_": ("add_", {"other": 1}),
    "max": ("max", {"dim": 1}),
    "softmax": ("softmax", {"dim": 0}),
}


@scenarios.each(**BY_NAME)
def packets_take_self_by_name(T, ns, given):
    name, rest = given
    return getattr(T.ops.aten, name)(self=T.ones(2, 2), **rest)


@scenarios
def out_forms(T, ns):
    x, y, values, indices = T.ones(2, 2), T.empty(2, 2), T.empty(2), T.empty(2, dtype=T.int64)
    A = T.ops.aten
    added = A.add.out(x, x, alpha=2, out=y)
    found = A.max.dim_max(x, 1, max=values, max_values=indices)
    return added is y, y, found[0] is values, values, indices


@scenarios.each(nothing={}, one={"max": 0})
def out_forms_need_their_results(T, ns, given):
    x = T.ones(2, 2)
    return T.ops.aten.max.dim_max(x, 1, **{name: T.empty(2) for name in given})


@scenarios
def redispatch_below_autograd(T, ns):
    keys = T._C.DispatchKeySet(T._C.DispatchKey.CPU)
    x = T.ones(2, requires_grad=True)
    return T.ops.aten.mul.Tensor.redispatch(keys, x, x), T.ops.aten.mul.Tensor(x, x)


@scenarios
def redispatch_of_a_composed_operator_records_its_parts(T, ns):
    keys = T._C.DispatchKeySet(T._C.DispatchKey.CPU)
    x = T.ones(2, 2, requires_grad=True)
    return T.ops.aten.square.default.redispatch(keys, x).requires_grad


@scenarios.each(
    **{name: name for name in ("mm", "relu", "linear", "matmul", "dropout", "square", "softmax_int", "sin")}
)
def decompositions(T, ns, name):
    op = T.ops.aten.softmax.int if name == "softmax_int" else getattr(T.ops.aten, name).default
    return op._can_decompose(), op.has_kernel_for_dispatch_key("CompositeImplicitAutograd")


@scenarios
def decompose(T, ns):
    x = T.ones(2, 2)
    return T.ops.aten.linear.default.decompose(x, x), T.ops.aten.mm.default.decompose(x, x) is NotImplemented


@scenarios.each(CPU="CPU", Meta="Meta", BackendSelect="BackendSelect", Tracer="FuncTorchVmapMode")
def kernels_for_a_key(T, ns, key):
    return [T.ops.aten.mm.default.has_kernel_for_dispatch_key(key), T._C._dispatch_has_kernel("aten::mm")]


@scenarios
def kernels_for_an_unknown_key(T, ns):
    return T.ops.aten.mm.default.has_kernel_for_dispatch_key("NOPE")


@scenarios
def python_implementations(T, ns):
    T.library.define(f"{ns}::op", "(Tensor x) -> Tensor")
    op = getattr(T.ops, ns).op.default

    class Handled(T.Tensor):
        pass

    first = op.py_impl(Handled)(len) is len
    return first, caught(lambda: op.py_impl(Handled)(len))


@scenarios
def namespaces(T, ns):
    T.library.define(f"{ns}::op", "(Tensor x) -> Tensor")
    space = getattr(T.ops, ns)
    before = list(space)
    space.op
    shown = repr(space).replace(ns, ""), type(space).__name__, space.name == ns, space.__name__.replace(ns, "")
    return shown, before, list(space), space is getattr(T.ops, ns), type(T.ops.aten.add).__name__


@scenarios.each(none="/no/such/file.so")
def libraries_that_cannot_be_loaded(T, ns, path):
    return caught(lambda: T.ops.load_library(path)), T.ops.loaded_libraries


@scenarios
def classes(T, ns):
    from_ops = T._ops.OpOverload, T._ops.OpOverloadPacket
    return isinstance(T.ops.aten.add.Tensor, from_ops[0]), isinstance(T.ops.aten.add, from_ops[1]), from_ops


@scenarios.each(
    plain="foo(Tensor x) -> Tensor", named="aten::foo.bar(Tensor(a!) x, *, int[2] y=[1, 2]) -> (Tensor(a!) out)",
    wrong="foo(Tensor x", unknown="foo(Nope x) -> Tensor",
)  # fmt: skip
def schemas_are_parsed(T, ns, text):
    schema = T._C.parse_schema(text)
    return schema, schema.name, schema.overload_name, schema == T._C.parse_schema(text), schema.is_mutable


@scenarios.each(
    same=("f(Tensor x) -> Tensor", "f(Tensor x) -> Tensor"),
    more=("f(Tensor x, int y=1) -> Tensor", "f(Tensor x) -> Tensor"),
    required=("f(Tensor x, int y) -> Tensor", "f(Tensor x) -> Tensor"),
    fewer=("f(Tensor x) -> Tensor", "f(Tensor x, int y=1) -> Tensor"),
    other=("f(int x) -> Tensor", "f(Tensor x) -> Tensor"),
    result=("f(Tensor x) -> int", "f(Tensor x) -> Tensor"),
)  # fmt: skip
def schemas_are_compatible(T, ns, pair):
    new, old = (T._C.parse_schema(text) for text in pair)
    return new.is_backward_compatible_with(old), new == old, hash(new) == hash(old)


def test_overloads_and_packets_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(mt.ops.aten.add.Tensor)) is mt.ops.aten.add.Tensor
    assert pickle.loads(pickle.dumps(mt.ops.aten.add)) is mt.ops.aten.add


def entry(one):
    alias = one.alias_info
    sets = alias and (sorted(alias.before_set), sorted(alias.after_set), alias.is_write)
    default = one.default_value
    return (one.name, str(one.type), str(one.real_type), one.N, one.has_default_value(), str(default), one.kwarg_only,
            one.is_out, sets)  # fmt: skip


def test_every_schema_shows_what_torchs_shows():
    checked, different = 0, []
    for theirs in torch._C._jit_get_all_schemas():
        if "PyObject" in str(theirs):
            continue
        ours = FunctionSchema(parse_schema(str(theirs)))
        checked += 1
        pairs = [[entry(one) for one in (*schema.arguments, *schema.returns)] for schema in (ours, theirs)]
        if pairs[0] != pairs[1] or ours.is_mutable != theirs.is_mutable or ours._is_view_op() != theirs._is_view_op():
            different.append((str(theirs), pairs))
    assert checked > 3000
    assert different == []


def rows():
    """Our overloads; torch knows its `sym_` ones only after they were asked for."""
    names = mt._C._dispatch_get_all_op_names()
    return [name for name in names if name.startswith("aten::") and not name.startswith("aten::sym_")]


def overload_in_torch(name):
    packet, _, rest = name.removeprefix("aten::").partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), rest or "default", None)


def test_tags_are_torchs():
    different = {}
    for name in rows():
        theirs = overload_in_torch(name)
        if theirs is None:
            continue
        ours = find_overload(name)
        if [tag.name for tag in ours.tags] != [tag.name for tag in theirs.tags]:
            different[name] = (ours.tags, theirs.tags)
    assert different == {}


OURS_ALONE = {
    "aten::_index_masked", "aten::_index_integer", "aten::as_strided_backward",
    "aten::nonzero.as_tuple", "aten::_div_floor.Tensor", "aten::_div_floor.Scalar", "aten::_div_trunc.Tensor",
    "aten::_div_trunc.Scalar", "aten::_unique_runs", "aten::_unique_rows", "aten::floor_divide_",
    "aten::pow_.Tensor_Tensor", "aten::pow_.Tensor_Scalar", "aten::_div_floor_.Tensor", "aten::_div_floor_.Scalar",
    "aten::_div_trunc_.Tensor", "aten::_div_trunc_.Scalar", "aten::ldexp_.Tensor",
}  # fmt: skip
"""Overloads that torch has under another name or in parts; the set may only shrink."""


@scenarios.each(integers=[[0, 1]], none=[None, [0, 1]])
def operators_with_none_in_lists_are_shown_to_subclasses_once(T, lib, *indices):
    seen = []

    class Shown(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            seen.append(f"{type(func).__name__} {func}")
            return super().__torch_function__(func, types, args, kwargs or {})

    value = T.arange(6.0).reshape(2, 3).as_subclass(Shown)
    T.ops.aten.index(value, [None if one is None else T.tensor(one) for one in indices])
    return seen


WRITTEN_OTHERWISE = {
    "aten::_native_batch_norm_legit.out", "aten::tril.out", "aten::triu.out", "aten::nll_loss_forward.output",
    "aten::multilabel_margin_loss_forward.output", "aten::nll_loss2d_forward.output",
}  # fmt: skip
"""`out=` forms that torch writes with other letters, SymInt or without names of results; the set may only shrink."""


def test_every_out_form_is_one_of_torchs():
    unknown, different, checked = set(), set(), 0
    for name in rows():
        packet = find_overload(name).overloadpacket
        for op in (getattr(packet, form) for form in packet.overloads()):
            if not isinstance(op, OutOverload) or f"aten::{op.row.name}" in OURS_ALONE:
                continue
            theirs = overload_in_torch(op.name())
            checked += 1
            if theirs is None:
                unknown.add(f"aten::{op.row.name}")
            elif str(theirs._schema) != str(op._schema):
                different.add(op.name())
    assert checked > 300
    assert unknown == set()
    assert different == WRITTEN_OTHERWISE


def test_names_of_overloads_are_torchs():
    """Those of forms that write have a test of their own above."""
    alone = {
        name for name in rows() if overload_in_torch(name) is None and not isinstance(find_overload(name), OutOverload)
    }
    assert alone == OURS_ALONE


@pytest.mark.skipif(native_path.caller is None, reason="functions of Python have their text from the beginning")
def test_documentation_is_put_together_when_it_is_read(monkeypatch):
    read, entry_of = [], description.entry_of
    monkeypatch.setattr(description, "entry_of", lambda name: read.append(name) or entry_of(name))
    monkeypatch.setattr(wired, "call_form", make_call)
    made = OpOverloadPacket(find_packet("frac"))
    assert read == []
    assert "`aten::frac`" in made.__doc__
    assert read == ["frac"]
    assert "packet" in OpOverloadPacket.__doc__
