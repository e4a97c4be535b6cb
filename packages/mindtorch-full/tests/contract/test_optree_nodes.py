"""`torch.utils._cxx_pytree`: trees by optree, with the types that `torch.utils._pytree` knows."""

from __future__ import annotations

import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("optree")
ours = importlib.import_module("mindtorch.utils._cxx_pytree")
theirs = importlib.import_module("torch.utils._cxx_pytree")
Point = namedtuple("Point", "x y")
TREES: list[Any] = [
    1,
    None,
    [1, (2, {"b": 3, "a": None})],
    OrderedDict(b=1, a=[2]),
    defaultdict(list, {"z": 1, "a": 2}),
    deque([1, 2], maxlen=3),
    Point(1, [2]),
]


@pytest.mark.parametrize("tree", TREES, ids=repr)
def test_trees(tree: Any) -> None:
    for call in (
        lambda library: library.tree_flatten(tree)[0],
        lambda library: repr(library.tree_structure(tree)).replace("namespace='mindtorch'", "namespace='torch'"),
        lambda library: library.treespec_pprint(library.tree_structure(tree)),
        lambda library: library.tree_map(lambda x: (x, x), tree),
        lambda library: library.tree_map_only(int, lambda x: x + 1, tree),
        lambda library: library.tree_any(lambda x: x is None, tree),
        lambda library: library.tree_all_only(int, lambda x: x > 1, tree),
        lambda library: library.tree_is_leaf(tree),
        lambda library: library._broadcast_to_and_flatten(7, library.tree_structure(tree)),
        lambda library: library.tree_structure(tree).is_leaf(),
    ):
        assert call(ours) == call(theirs)
    leaves, spec = ours.tree_flatten(tree)
    assert ours.tree_unflatten(leaves, spec) == tree


def test_specs_are_written_as_the_other_module_writes_them() -> None:
    for tree in TREES[:6]:
        text = ours.treespec_dumps(ours.tree_structure(tree))
        assert text == theirs.treespec_dumps(theirs.tree_structure(tree))
        assert ours.treespec_loads(text) == ours.tree_structure(tree)


def test_types_are_registered_in_both() -> None:
    class Pair:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    pytree = importlib.import_module("mindtorch.utils._pytree")
    pytree.register_pytree_node(Pair, lambda pair: ([pair.a, pair.b], None), lambda leaves, _: Pair(*leaves))
    assert ours.tree_leaves(Pair(1, [2])) == [1, 2]

    class Single(Pair):
        pass

    ours.register_pytree_node(Single, lambda pair: ([pair.a], pair.b), lambda leaves, b: Single(*leaves, b))
    assert ours.tree_leaves([Single(1, 2)]) == pytree.tree_leaves([Single(1, 2)]) == [1]
    for cls in (Pair, Single):
        with pytest.raises(ValueError, match="already registered"):
            ours.register_pytree_node(cls, lambda pair: ([], None), lambda leaves, _: None)


def test_errors() -> None:
    for call in (
        lambda library: library.tree_unflatten([1], [2]),
        lambda library: library.treespec_dumps(3),
        lambda library: library._broadcast_to_and_flatten(1, 3),
        lambda library: library.tree_leaves_with_path([1]),
        lambda library: library.register_pytree_node(str, len, len, flatten_with_keys_fn=len),
        lambda library: library.tree_map_only(3, len, [1]),
    ):
        found = []
        for library in (ours, theirs):
            with pytest.raises((TypeError, NotImplementedError)) as error:
                call(library)
            found.append((type(error.value), str(error.value)))
        assert found[0] == found[1]
