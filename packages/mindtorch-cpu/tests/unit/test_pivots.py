"""Pivots that a program gives are looked at before LAPACK follows them."""

import pytest

import mindtorch as mt
from mindtorch_testing import assert_same_value, assert_torch_error

PIVOTS = [(7, 9), (0, 1), (1, 3), (0, 9), (9, 0), (2**31 - 1, 1), (-(2**31), 1)]


def solving(lib, name, pivots, right, **options):
    return getattr(lib.linalg, name)(lib.eye(2), lib.tensor(pivots, dtype=lib.int32), lib.ones(right), **options)


@pytest.mark.parametrize("pivots", PIVOTS)
@pytest.mark.parametrize("name", ["lu_solve", "ldl_solve"])
def test_pivots_out_of_range_are_refused_as_in_torch(name, pivots):
    torch = pytest.importorskip("torch", reason="oracle")
    assert_torch_error(lambda: solving(mt, name, pivots, (2, 1)), lambda: solving(torch, name, pivots, (2, 1)))


@pytest.mark.parametrize("pivots", PIVOTS)
@pytest.mark.parametrize(("right", "options"), [((2, 1), {"adjoint": True}), ((1, 2), {"left": False})])
def test_pivots_of_other_systems_are_refused_as_in_torch(right, options, pivots):
    torch = pytest.importorskip("torch", reason="oracle")
    assert_torch_error(
        lambda: solving(mt, "lu_solve", pivots, right, **options),
        lambda: solving(torch, "lu_solve", pivots, right, **options),
    )


@pytest.mark.parametrize("pivots", PIVOTS)
def test_pivots_of_nothing_are_not_looked_at(pivots):
    torch = pytest.importorskip("torch", reason="oracle")
    assert_same_value(
        lambda: solving(mt, "lu_solve", pivots, (2, 0)), lambda: solving(torch, "lu_solve", pivots, (2, 0))
    )


@pytest.mark.parametrize("pivots", [(1, 2), (2, 2), (2, 1)])
@pytest.mark.parametrize("name", ["lu_solve", "ldl_solve"])
def test_pivots_in_range_are_followed(name, pivots):
    torch = pytest.importorskip("torch", reason="oracle")
    assert_same_value(lambda: solving(mt, name, pivots, (2, 1)), lambda: solving(torch, name, pivots, (2, 1)))


@pytest.mark.parametrize("pivots", [(1, -1), (-1, 2)])
def test_a_block_with_one_negative_pivot_is_refused(pivots):
    with pytest.raises(RuntimeError, match="negative in pairs"):  # torch answers with what lies beyond
        solving(mt, "ldl_solve", pivots, (2, 1))


def test_batches_that_differ_are_named_in_torchs_order():
    torch = pytest.importorskip("torch", reason="oracle")

    def call(lib):
        factors, pivots = lib.linalg.lu_factor(lib.eye(2).expand(2, 2, 2))
        return lib.linalg.lu_solve(factors, pivots, lib.ones(3, 2, 1))

    assert_torch_error(lambda: call(mt), lambda: call(torch))
