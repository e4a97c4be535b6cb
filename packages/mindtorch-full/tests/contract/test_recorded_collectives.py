"""Graphs of functional collectives, and what groups, ranks and meshes expand to, in a world of one, beside torch's."""

import importlib
import re

import pytest

pytest.importorskip("torch", reason="oracle")


@pytest.fixture(params=["mindtorch", "torch"])
def library(request, tmp_path):
    """A library with a world of one process."""
    T = importlib.import_module(request.param)
    dist = importlib.import_module(f"{request.param}.distributed")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    yield T
    dist.destroy_process_group()


CALLS = {
    "all_reduce": (lambda f, g, a: f.all_reduce(a, "sum", g) + 1, "all_reduce.default(a_1, 'sum', '0')"),
    "all_gather": (lambda f, g, a: f.all_gather_tensor(a, 1, g) + 1, "all_gather_into_tensor.default(a_1, 1, '0')"),
    "reduce_scatter": (
        lambda f, g, a: f.reduce_scatter_tensor(a, "sum", 0, g) + 1,
        "reduce_scatter_tensor.default(a_1, 'sum', 1, '0')",
    ),
    "all_to_all": (
        lambda f, g, a: f.all_to_all_single(a, None, None, g) + 1,
        "all_to_all_single.default(a_1, [4], [4], '0')",
    ),
    "broadcast": (lambda f, g, a: f.broadcast(a, 0, g) + 1, "broadcast.default(a_1, 0, '0')"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_graph_has_collectives_as_operators(library, name):
    functional = importlib.import_module(f"{library.__name__}.distributed._functional_collectives")
    make_fx = importlib.import_module(f"{library.__name__}.fx.experimental.proxy_tensor").make_fx
    call, expected = CALLS[name]
    code = make_fx(lambda a: call(functional, library.distributed.group.WORLD, a))(library.rand(4, 2)).code
    code = re.sub(r"'\d+'\)", "'0')", code)  # a group is named by a number that counts the groups before it
    assert f"torch.ops._c10d_functional.{expected}" in code
    assert "torch.ops._c10d_functional.wait_tensor.default(" in code


def test_recorded_collectives_have_gradients(library):
    ops = library.ops._c10d_functional
    name = library.distributed.group.WORLD.group_name
    given = library.arange(4.0).requires_grad_()
    ops.wait_tensor(ops.all_reduce(given, "sum", name)).mul(3).sum().backward()
    assert given.grad.tolist() == [3.0] * 4


EXPANDED = {
    "ranks": lambda dist, mesh: [0, 1],
    "rows": lambda dist, mesh: [[0, 1], [2, 3]],
    "uneven rows": lambda dist, mesh: [[0], [1, 2, 3]],
    "group": lambda dist, mesh: dist.group.WORLD,
    "mesh of two dimensions": lambda dist, mesh: mesh,
    "dimension of a mesh": lambda dist, mesh: (mesh, 0),
    "name": lambda dist, mesh: "0",
    "number": lambda dist, mesh: 3,
    "pair": lambda dist, mesh: (3, 4),
}


def expanded(library, tmp_path):
    """Return what every kind of group expands to, or the error."""
    dist = importlib.import_module(f"{library}.distributed")
    functional = importlib.import_module(f"{library}.distributed._functional_collectives")
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/{library}", rank=0, world_size=1)
    mesh = dist.init_device_mesh("cpu", (1, 1))
    found = {}
    for name, make in EXPANDED.items():
        try:
            found[name] = functional._expand_group(make(dist, mesh))
        except (AssertionError, ValueError) as error:
            found[name] = type(error).__name__, str(error)
    dist.destroy_process_group()
    return found


def test_groups_expand_as_torchs(tmp_path):
    assert expanded("mindtorch", tmp_path) == expanded("torch", tmp_path)


def test_a_group_that_nobody_knows(library):
    functional = importlib.import_module(f"{library.__name__}.distributed._functional_collectives")
    with pytest.raises(RuntimeError, match=r"registered under the name nope$"):
        functional.all_reduce(library.ones(2), "sum", "nope")
