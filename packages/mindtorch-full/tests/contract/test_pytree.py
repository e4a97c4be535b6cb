"""Trees: the same calls on our module and on torch's give the same values, texts and warnings."""

from __future__ import annotations

import dataclasses
import enum
import re
import time
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import NamedTuple

import pytest

import mindtorch.utils._pytree as ours
from mindtorch import Size

torch = pytest.importorskip("torch", reason="oracle")
theirs = pytest.importorskip("torch.utils._pytree")
SIZES = {ours: Size, theirs: torch.Size}

Point = namedtuple("Point", "x y")


class Pair(NamedTuple):
    a: int
    b: object = None


class Color(enum.Enum):
    RED = 1


class Box:
    def __init__(self, x, y):
        self.x, self.y = x, y


class Bare(Box):
    pass


@dataclasses.dataclass
class Record:
    a: int
    b: object
    c: int | None = 3


@dataclasses.dataclass
class Partial:
    a: int
    b: int = 2


class Constant:
    def __eq__(self, other):
        return isinstance(other, Constant)

    def __hash__(self):
        return 1


for tree_module in (ours, theirs):
    tree_module.register_pytree_node(
        Box,
        lambda box: ([box.x, box.y], "ctx"),
        lambda values, context: Box(*values),
        serialized_type_name="mod.Box",
        flatten_with_keys_fn=lambda box, m=tree_module: (
            [(m.GetAttrKey("x"), box.x), (m.GetAttrKey("y"), box.y)],
            "ctx",
        ),
    )
    tree_module.register_pytree_node(Bare, lambda box: ([box.x, box.y], None), lambda values, context: Bare(*values))
    tree_module.register_dataclass(Record)
    tree_module.register_dataclass(Partial, field_names=["a"], drop_field_names=["b"])
    tree_module.register_constant(Constant)
    tree_module._register_namedtuple(Pair, serialized_type_name="mod.Pair")

TREE = {
    "b": [1, (2, 3)],
    "a": OrderedDict(z=1, y=Point(4, [5])),
    "c": defaultdict(list, {"k": [1]}),
    "d": deque([1, 2], maxlen=5),
    "e": None,
    "f": (),
}
SMALL = {"a": [1, 2], "b": (3,)}
OTHERS = [
    3,
    {"a": [1, 2]},
    {"a": [1, 2], "b": (3,), "c": 1},
    {"a": [1, 2], "c": (3,)},
    {"a": [1], "b": (3,)},
    {"a": (1, 2), "b": (3,)},
    OrderedDict(b=(3,), a=[1, 2]),
    defaultdict(int, a=[1, 2], b=(3,)),
    {"b": ({},), "a": [None, 2]},
]


def _spec(p, tree):
    return p.tree_structure(tree)


CALLS = {
    "flatten": lambda p: p.tree_flatten(TREE),
    "round trip": lambda p: p.tree_unflatten([str(x) for x in p.tree_leaves(TREE)], _spec(p, TREE)),
    "counts": lambda p: [getattr(_spec(p, TREE), n) for n in ("num_leaves", "num_nodes", "num_children", "context")],
    "equality": lambda p: (_spec(p, TREE) == _spec(p, TREE), hash(_spec(p, TREE)) == hash(_spec(p, TREE))),
    "key order": lambda p: _spec(p, {"a": 1, "b": 2}) == _spec(p, {"b": 1, "a": 2}),
    "children": lambda p: (_spec(p, TREE).children(), _spec(p, TREE).child(1)),
    "children_specs": lambda p: _spec(p, SMALL).children_specs,
    "leaf spec": lambda p: (p.treespec_leaf(), p.treespec_leaf().num_nodes, p.treespec_leaf().type),
    "is LeafSpec": lambda p: isinstance(p.treespec_leaf(), p.LeafSpec),
    "too few leaves": lambda p: p.tree_unflatten([1], _spec(p, TREE)),
    "no spec": lambda p: p.tree_unflatten([1], 3),
    "map": lambda p: p.tree_map(lambda x: x * 2, {"a": 1, "b": [2, 3]}),
    "map two": lambda p: p.tree_map(lambda x, y: (x, y), [1, 2], [[3], {"q": 4}]),
    "map mismatch": lambda p: p.tree_map(lambda x, y: x, {"a": 1, "b": [2, 3]}, {"a": 1, "b": [2]}),
    "map in place": lambda p: p.tree_map_(lambda x: 5, {"a": 1}),
    "is_leaf": lambda p: p.tree_flatten({"a": [1, 2]}, is_leaf=lambda x: isinstance(x, list)),
    "only": lambda p: p.tree_map_only(int, lambda x: x + 1, [1, "a", 2.0, True]),
    "only union": lambda p: p.tree_map_only(int | str, lambda x: x * 2, [1, "a", 2.0]),
    "only tuple": lambda p: p.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.0]),
    "only test": lambda p: p.tree_map_only(lambda v: v == 1, lambda x: x * 2, [1, "a", 2.0]),
    "only nonsense": lambda p: p.tree_map_only(3, lambda x: x, [1]),
    "all and any": lambda p: (p.tree_all(bool, [1, 0]), p.tree_any(bool, [1, 0]), p.tree_any_only(str, bool, [1, ""])),
    "leaves": lambda p: (list(p.tree_iter(TREE)), p.tree_is_leaf(None), p.arg_tree_leaves(1, [2], k={"a": 3})),
    "paths": lambda p: p.tree_flatten_with_path(TREE),
    "keystr": lambda p: [p.keystr(k) for k, _ in p.tree_leaves_with_path(TREE)],
    "key_get": lambda p: [p.key_get(TREE, k) for k, _ in p.tree_leaves_with_path(TREE)],
    "map with path": lambda p: p.tree_map_with_path(lambda k, x, y: (p.keystr(k), x, y), [1, (2,)], [3, (4,)]),
    "node": lambda p: (p.tree_flatten(Box(1, [2])), p.tree_flatten_with_path(Box(1, [2]))),
    "no keys": lambda p: p.tree_flatten_with_path(Bare(1, 2)),
    "twice": lambda p: p.register_pytree_node(Box, None, None),
    "half a serializer": lambda p: p.register_pytree_node(
        type("Half", (), {}), None, None, to_dumpable_context=lambda c: 1
    ),
    "older name": lambda p: p._register_pytree_node(type("Older", (), {}), None, None),
    "dumps": lambda p: p.treespec_dumps(_spec(p, [1, (2, {"a": 3, "b": None}), OrderedDict(q=1)])),
    "dumps more": lambda p: p.treespec_dumps(
        _spec(p, [defaultdict(list, a=1), deque([1], maxlen=3), Pair(1), Box(1, 2)])
    ),
    "dumps enum": lambda p: p.treespec_dumps(_spec(p, {Color.RED: 1})),
    "loads enum": lambda p: p.treespec_loads(p.treespec_dumps(_spec(p, {Color.RED: 1}))),
    "loads": lambda p: p.treespec_loads(
        p.treespec_dumps(_spec(p, [1, Pair(1), Box(1, 2), defaultdict(list, a=1), deque([1], 3)]))
    ),
    "dumps unnamed tuple": lambda p: p.treespec_dumps(_spec(p, Point(1, 2))),
    "dumps unnamed node": lambda p: p.treespec_dumps(_spec(p, Bare(1, 2))),
    "dumps protocol": lambda p: p.treespec_dumps(_spec(p, 1), protocol=7),
    "loads protocol": lambda p: p.treespec_loads("[2,{}]"),
    "loads unknown": lambda p: p.treespec_loads('[1, {"type": "nope.X", "context": "null", "children_spec": []}]'),
    "to_str": lambda p: p.pytree_to_str(_spec(p, [1])),
    "dataclass": lambda p: (p.tree_flatten(Record(1, [2])), p.tree_flatten(Record(1, 2, None))),
    "dataclass map": lambda p: p.tree_map(lambda x: x + 1, Record(1, [2])),
    "dataclass paths": lambda p: p.tree_flatten_with_path(Record(1, [2])),
    "dataclass dropped": lambda p: p.tree_flatten(Partial(1, 5)),
    "dataclass refused": lambda p: p.register_dataclass(Partial, field_names=["a"]),
    "no dataclass": lambda p: p.register_dataclass(Box),
    "constant": lambda p: (p.tree_leaves(Constant()), p.is_constant_class(Constant)),
    "bad constant": lambda p: p.register_constant(type("Plain", (), {})),
    "broadcast": lambda p: [p._broadcast_to_and_flatten(tree, _spec(p, SMALL)) for tree in ({"a": 1, "b": 2}, 7, [1])],
    "kinds": lambda p: (
        p.is_namedtuple(Point(1, 2)),
        p.is_namedtuple_class(tuple),
        p.is_structseq(time.localtime()),
        p.is_structseq_instance((1,)),
    ),
    "spec of": lambda p: (p.treespec_tuple([p.treespec_leaf()]), p.treespec_dict({"a": p.treespec_leaf()})),
    "spec of nonsense": lambda p: p.treespec_tuple([1]),
    "pprint": lambda p: p.treespec_pprint(_spec(p, TREE)),
    "dict keys": lambda p: p._dict_flatten_with_keys({"a": 1}),
    "subclasses": lambda p: p.tree_flatten([type("D", (dict,), {"__repr__": lambda s: "D"})(a=1)]),
    "sizes": lambda p: p.tree_map(str, [SIZES[p]([2, 3]), (1, SIZES[p]([]))]),
    "sizes again": lambda p: type(p.tree_map(abs, SIZES[p]([2, 3]))),
    "keys": lambda p: (p.SequenceKey(1), str(p.MappingKey("a")), str(p.GetAttrKey("q")), p.SequenceKey(0).get([7])),
}
for index, other in enumerate(OTHERS):
    CALLS[f"up to {index}"] = lambda p, other=other: _spec(p, SMALL).flatten_up_to(other)
CALLS["up to named"] = lambda p: _spec(p, Point(1, 2)).flatten_up_to(Pair(1, 2))


def _outcome(module, call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = repr(call(module))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is compared
            result = f"{type(error).__name__}: {error}"
    return re.sub(r"0x[0-9a-f]+", "0x", result), [(w.category.__name__, str(w.message)) for w in caught]


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    assert _outcome(ours, CALLS[name]) == _outcome(theirs, CALLS[name])
