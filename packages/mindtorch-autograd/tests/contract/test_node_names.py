"""Nodes of every op that torch samples: their names, and the attributes they show of what they keep, are torch's."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="oracle")

import mindtorch as mt  # noqa: E402

from . import entries  # noqa: E402
from .entries import Call, Unconvertible, samples  # noqa: E402
from .sides import assert_same, caught  # noqa: E402

OTHER_NODES = {
    "cdist": "distances are composed of others",
    "nn.functional.pdist": "distances are composed of others",
    "nn.functional.pairwise_distance": "torch has two norms",
    "to_sparse": "torch does not show the option that its node keeps",
    "masked.mean": "composed in other steps",
    "sparse.mm.reduce": "composed in other steps",
    "nn.functional.linear_cross_entropy.chunked": "composed in other steps",
    "nn.functional.linear_cross_entropy.chunked_none": "composed in other steps",
    "nn.functional.pad.circular": "composed in other steps",
    "nn.functional.soft_margin_loss": "composed in other steps",
    "nn.functional.rrelu": "composed in other steps",
    "nn.functional.celu": "is elu with other constants",
    "_native_batch_norm_legit": "one node for all batch norms",
    "_batch_norm_with_update": "one node for all batch norms",
    "_unsafe_masked_index": "composed in other steps",
    "_unsafe_masked_index_put_accumulate": "composed in other steps",
}
"""Entries whose last node is another one, and why."""

NOT_KEPT = {
    "CholeskySolveBackward0": "self",
    "ComplexBackward0": "real imag",
    "CummaxBackward0": "self",
    "CumminBackward0": "self",
    "DivBackward2": "self other rounding_mode",
    "ErfinvBackward0": "self",
    "FftR2CBackward0": "self",
    "GatherBackward0": "self",
    "IndexAddBackward0": "source source_dim",
    "IndexCopyBackward0": "source source_dim",
    "LinalgHouseholderProductBackward0": "result",
    "LinalgSvdBackward0": "S_sym_argsize_minus_1",
    "MaskedSelectBackward0": "self",
    "NativeDropoutBackwardBackward0": "grad_output",
    "OrmqrBackward0": "result",
    "PutBackward0": "source",
    "SpecialLogNdtrBackward0": "result",
    "TakeBackward0": "self",
    "ToSparseBackward0": "self_self_sym_blocksize_opt",
    "ToSparseBackward1": "self_self_sym_blocksize_opt",
    "TriangularSolveBackward0": "self",
}
"""What torch keeps, as a rule for the shape alone, and our formulas do without."""


def outputs(T, info, sample):
    call = Call(T, info, sample)
    found = call(*call.inputs)
    return [one for one in (found if isinstance(found, (list, tuple)) else (found,)) if isinstance(one, T.Tensor)]


def attributes(node):
    return {name for name in dir(node) if not name.startswith("__")}


def compare(info):
    """Return how the last nodes of an entry's samples differ from torch's."""
    wrong = set()
    for sample in samples(info, torch.float64, True):
        try:
            ours = outputs(mt, info, sample)
        except (AttributeError, NotImplementedError, Unconvertible):
            continue
        for one, other in zip(outputs(torch, info, sample), ours, strict=True):
            want, have = one.grad_fn, other.grad_fn
            if want is None and have is None:
                continue
            if want is None or have is None or want.name() != have.name():
                wrong.add(f"node {want and want.name()}, ours {have and have.name()}")
                continue
            left_out = {
                f"{prefix}{name}"
                for name in NOT_KEPT.get(want.name(), "").split()
                for prefix in ("_saved_", "_raw_saved_")
            }
            differing = (attributes(want) - left_out) ^ attributes(have)
            if differing:
                wrong.add(f"{want.name()}: {sorted(differing)}")
    return wrong


def shown(T):
    x, y = T.ones(2, 3, requires_grad=True), T.full((2, 3), 2.0)
    nodes = {
        "sum": x.sum(-1), "sums": x.sum((-2, -1)), "unsqueeze": x.unsqueeze(-1), "squeeze": x.unsqueeze(0).squeeze(0),
        "number": x * 2, "half": x * 0.5, "one_side": x * y, "mean": x.mean(), "norm": T.linalg.vector_norm(x, dim=-1),
        "max": x.max(1).values, "added": T.add(x, y, alpha=3), "plain": x + y, "select": x[:, -1],
        "cat": T.cat([x, y], -1), "rolled": x.roll(-1, -1), "softmax": x.softmax(-1), "weightless":
        T.nn.functional.binary_cross_entropy(x * 0.5, y * 0.5), "flip": x.flip(-1),
    }  # fmt: skip
    seen = []
    for name, one in nodes.items():
        node = one.grad_fn
        for attribute in sorted(set(dir(node)) - {"_saved_self"}):
            if attribute.startswith("_saved_"):
                seen.append((name, attribute, caught(lambda node=node, attribute=attribute: getattr(node, attribute))))
            if attribute.startswith("_raw_saved_") and name not in ("number", "half"):
                seen.append((name, attribute, getattr(node, attribute).data is None))
    return seen


def test_what_nodes_show():
    assert_same(shown)


@pytest.mark.slow
def test_last_nodes():
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for info in entries.entries(torch.float64):
            wrong = compare(info)
            if wrong:
                found[info.full_name] = sorted(wrong)
    assert {name: wrong for name, wrong in found.items() if name not in OTHER_NODES} == {}
    assert sorted(set(OTHER_NODES) - set(found)) == []
