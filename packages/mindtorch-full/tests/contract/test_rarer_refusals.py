"""What quantized and sparse tensors refuse, or show, where a program asks for it in a rarer way: as torch."""

from __future__ import annotations

import pytest

import mindtorch as mt
from mindtorch.distributed.launcher.api import launch_agent

torch = pytest.importorskip("torch", reason="oracle")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("t", [torch, mt], ids=["torch", "mindtorch"])
def test_quantized_results_given_by_the_caller_are_refused(t):
    given = t.quantize_per_tensor(t.ones(2), 0.1, 0, t.quint8)
    with pytest.raises(NotImplementedError, match=r"^Could not run 'aten::exp.* from the 'QuantizedCPU' backend"):
        t.exp(t.ones(2), out=given)


def made(t):
    """Sparse tensors without bytes."""
    indices = t.zeros(2, 3, dtype=t.int64, device="meta")
    yield t.empty(2, 2, layout=t.sparse_csr, device="meta")
    yield t.empty(2, 2, layout=t.sparse_coo, device="meta")
    yield t.sparse_coo_tensor(indices, t.zeros(3, device="meta", dtype=t.float64), (2, 2))


def test_sparse_tensors_on_meta_are_printed():
    assert [repr(one) for one in made(mt)] == [repr(one) for one in made(torch)]


def test_an_old_spelling_is_found_by_its_path():
    assert mt.autograd.variable.Variable is mt.autograd.Variable


def test_health_check_servers_are_refused_before_a_worker_starts():
    with pytest.raises(NotImplementedError, match="health check servers are not offered"):
        launch_agent(None, None, [], health_check_server=object())


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.zeros(2, -3),
        lambda t: t.zeros(2, -3, device="meta"),
        lambda t: t.zeros(-1, layout=t.sparse_coo),
        lambda t: t.empty(-1, layout=t.sparse_coo),
        lambda t: t.zeros(3, -2, layout=t.sparse_csr),
        lambda t: t.empty(3, -2, layout=t.sparse_csr),
    ],
)
def test_tensors_of_negative_sizes_are_refused_in_torchs_words(call):
    texts = []
    for t in (torch, mt):
        with pytest.raises(RuntimeError) as refused:
            call(t)
        texts.append(str(refused.value).split("\n", 1)[0])
    assert texts[1] == texts[0]
