"""Between 33 and 64 dimensions numpy has arrays, but its iterators of several arrays raise, and `ufunc.at` ends the process."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mindtorch as mt
import mindtorch_cpu
from mindtorch_testing import assert_same_value


def leading(t, ndim):
    """Six elements in two rows, as the first and the last of `ndim` dimensions."""
    return t.arange(6.0).reshape([2, *[1] * (ndim - 2), 3])


def places(t, ndim):
    return t.tensor([1, 0, 1]).reshape([1] * (ndim - 1) + [3])


def gradient(t, ndim, call):
    leaf = leading(t, ndim).requires_grad_()
    call(leaf).pow(2).sum().backward()
    return leaf.grad


CALLS = {
    "index": lambda t, n: gradient(t, n, lambda x: x[t.tensor([1, 1, 0])]),
    "index_select": lambda t, n: gradient(t, n, lambda x: x.index_select(-1, t.tensor([1, 1, 0]))),
    "gather": lambda t, n: gradient(t, n, lambda x: x.gather(0, places(t, n))),
    "take_along_dim": lambda t, n: gradient(t, n, lambda x: x.take_along_dim(places(t, n), 0)),
    "sort": lambda t, n: gradient(t, n, lambda x: x.sort(-1, descending=True)[0]),
    "median": lambda t, n: gradient(t, n, lambda x: x.median(-1)[0]),
    "max": lambda t, n: gradient(t, n, lambda x: x.max(0)[0]),
    "put bool": lambda t, n: (leading(t, n) > 3).index_put_((t.tensor([0, 0]),), leading(t, n) > 4, accumulate=True),
    "put half": lambda t, n: (
        leading(t, n).half().index_put_((t.tensor([0, 0]),), leading(t, n).half(), accumulate=True)
    ),
    "put columns": lambda t, n: (
        leading(t, n).transpose(0, -1).index_put_((t.tensor([0, 0]),), t.tensor(2.0), accumulate=True)
    ),
    "put at places": lambda t, n: t.zeros(3).index_put_((places(t, n),), t.ones(3), accumulate=True),
    "put at rows and places": lambda t, n: t.zeros(3, 3).index_put_(
        (places(t, n), t.tensor([[0, 2, 1]] * 3)), t.ones(3, 3), accumulate=True
    ),
    "put at one place": lambda t, n: t.zeros(1).index_put_((t.zeros([1] * n).long(),), t.tensor(1.5), accumulate=True),
    "index at places": lambda t, n: gradient(t, 2, lambda x: x[places(t, n)]),
    "index_add": lambda t, n: leading(t, n).index_add_(0, t.tensor([1, 1]), leading(t, n)),
    "index_reduce": lambda t, n: leading(t, n).index_reduce_(0, t.tensor([1, 1]), leading(t, n), "mean"),
    "scatter_add": lambda t, n: leading(t, n).scatter_add_(0, places(t, n), leading(t, n)),
    "scatter_reduce": lambda t, n: leading(t, n).scatter_reduce_(0, places(t, n), leading(t, n), "amax"),
    "mode": lambda t, n: leading(t, n).mode(-1),
    "kthvalue": lambda t, n: leading(t, n).kthvalue(2, -1),
    "topk": lambda t, n: leading(t, n).topk(2, -1),
    "topk of many": lambda t, n: t.arange(600.0).reshape([*[1] * (n - 1), 600]).topk(3, -1),
    "quantile": lambda t, n: leading(t, n - 1).quantile(0.4, -1),
    "cross": lambda t, n: t.cross(leading(t, n), leading(t, n).flip(-1), dim=-1),
    "masked_select": lambda t, n: leading(t, n).masked_select(leading(t, n)[:1] > 0),
    "searchsorted": lambda t, n: t.searchsorted(leading(t, n), leading(t, n).flip(0)),
    "msort": lambda t, n: leading(t, n).flip(0).msort(),
    "isin": lambda t, n: t.isin(leading(t, n), leading(t, n)[:1]),
}


@pytest.mark.parametrize("ndim", [33, 40, 63])
@pytest.mark.parametrize("name", CALLS)
def test_like_torch(name, ndim):
    torch = pytest.importorskip("torch", reason="oracle")
    assert_same_value(lambda: CALLS[name](mt, ndim), lambda: CALLS[name](torch, ndim))


def test_a_gradient_of_repeated_rows_survives_without_torch():
    leaf = mt.ones([2, *[1] * 39], requires_grad=True)
    leaf[mt.tensor([0, 0])].sum().backward()
    assert leaf.grad.flatten().tolist() == [2.0, 0.0]


def test_places_of_many_dimensions_survive_without_torch():
    target = mt.zeros(1)
    for _ in range(200):  # numpy wrote past its tables, which did not end a process each time
        target.index_put_((mt.zeros([1] * 49, dtype=mt.int64),), mt.tensor(0.5), accumulate=True)
    assert target.tolist() == [100.0]


STOPPED = {"at", "argsort", "argpartition", "lexsort", "partition", "broadcast_arrays", "broadcast_shapes"}
EXCEPTIONS = {
    "many_dimensions.py": STOPPED,
    "grid_sample.py": {"broadcast_arrays"},  # grids of two or three dimensions
    "embedding.py": {"argsort"},  # of one dimension
    "multinomial.py": {"argsort"},  # of rows
    "unique.py": {"lexsort"},  # of rows
    "weighted_sums.py": {"argsort"},  # of one dimension
}


def calls_of_numpy(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr


def test_kernels_go_through_what_has_room_for_all_dimensions():
    root = Path(mindtorch_cpu.__file__).parent
    found = {
        (path.name, name)
        for path in root.rglob("*.py")
        for name in calls_of_numpy(ast.parse(path.read_text()))
        if name in STOPPED - EXCEPTIONS.get(path.name, set())
    }
    assert found - {("threads.py", "partition")} == set()  # a string's
