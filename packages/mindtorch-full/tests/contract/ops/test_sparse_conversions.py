"""Every conversion between layouts, with every argument it may be given: the same results and refusals as torch."""

import itertools
import warnings

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

LAYOUTS = ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc", "strided"]
BLOCKSIZES = [None, (2, 2), (1, 2), (3, 2), (0, 1), (1,)]
DENSE_DIMS = [None, 0, 1, 2, -1]


def sources(T):
    x = T.tensor([[1.0, 0, 2, 0], [0, 0, 3, 0], [0, 1, 0, 0], [0, 0, 0, 4]])
    return {
        "strided": x,
        "coo": x.to_sparse(),
        "csr": x.to_sparse_csr(),
        "csc": x.to_sparse_csc(),
        "bsr": x.to_sparse_bsr((2, 2)),
        "bsc": x.to_sparse_bsc((2, 2)),
        "vector": T.ones(3),
        "sparse vector": T.ones(3).to_sparse(),
        "batch": T.ones(2, 4, 4),
        "sparse in three": T.ones(2, 4, 4).to_sparse(),
        "hybrid": T.ones(4, 4, 2).to_sparse(2),
    }


def outcome(call):
    try:
        made = call()
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)
    return tuple(made.shape), str(made.layout), made.to_dense().tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", list(sources(mt)))
def test_conversions_are_those_of_torch(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = sources(mt)[source], sources(torch)[source]
    differ = []
    for layout, blocksize, dense_dim in itertools.product(LAYOUTS, BLOCKSIZES, DENSE_DIMS):
        given = {
            name: value for name, value in (("blocksize", blocksize), ("dense_dim", dense_dim)) if value is not None
        }
        forms = [lambda t, T: t.to_sparse(layout=getattr(T, layout), **given)]  # noqa: B023  # called in this turn
        if layout.startswith("sparse_") and layout != "sparse_coo":
            forms.append(lambda t, T: getattr(t, "to_" + layout)(**given))  # noqa: B023
        for form in forms:
            here = outcome(lambda: form(ours, mt))  # noqa: B023
            there = outcome(lambda: form(theirs, torch))  # noqa: B023
            if here != there:
                differ.append((layout, given, here, there))
    assert differ == []
