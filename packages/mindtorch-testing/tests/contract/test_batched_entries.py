"""Entries of torch's `op_db` under `vmap`: a batch gives what its examples give; the rules that must stay rules are."""

import pytest

pytest.importorskip("torch", reason="oracle")

from torch.testing._internal.common_methods_invocations import op_db

import mindtorch
from mindtorch_dispatch.batching.rules import table
from mindtorch_testing.sweep.batching import BatchRunner
from mindtorch_testing.sweep.runner import Limits

ENTRIES = {info.full_name: info for info in op_db}
BY_RULE = (
    "add", "where", "clamp", "sum", "amax", "std", "softmax", "cumsum", "sort", "topk", "argmax", "median", "norm",
    "reshape", "permute", "squeeze", "unfold", "diagonal", "expand", "split", "cat", "stack", "flip", "roll",
    "matmul", "bmm", "mv", "addmm", "baddbmm", "einsum", "linalg.solve", "linalg.svd", "linalg.det", "cholesky_solve",
    "gather", "scatter_add", "index_select", "index_put", "take_along_dim", "masked_fill", "searchsorted",
    "nn.functional.linear", "nn.functional.conv2d", "nn.functional.conv_transpose1d", "nn.functional.max_pool2d",
    "nn.functional.interpolate.bilinear", "nn.functional.layer_norm", "nn.functional.group_norm",
    "nn.functional.cross_entropy", "nn.functional.nll_loss", "nn.functional.mse_loss",
    "nn.functional.scaled_dot_product_attention", "fft.rfft", "zeros_like", "new_zeros", "tril", "cdist", "logsumexp",
)  # fmt: skip
BY_LOOP = ("histc", "bincount", "block_diag", "nn.functional.multi_margin_loss")
RANDOM = ("rand_like", "bernoulli", "nn.functional.dropout", "multinomial")


def judged(name: str) -> dict[str, str]:
    fields = BatchRunner(mindtorch, Limits(2, 1, 60.0)).run(ENTRIES[name]).to_json()["fields"]
    assert fields["vmap"]["total"] > 0
    return {field: found["status"] + found.get("reason", "") for field, found in fields.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BY_RULE, *RANDOM])
def test_a_rule_gives_what_the_examples_give(name: str) -> None:
    assert judged(name) == {"vmap": "pass", "rule": "pass"}


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_LOOP)
def test_a_loop_gives_what_the_examples_give(name: str) -> None:
    found = judged(name)
    assert found["vmap"] == "pass"
    assert found["rule"].startswith("faila loop over slices")


def test_a_wrong_rule_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(row, batch, values, dims):
        result, dim = table.families["pointwise"].fn(row, batch, values, dims)
        return result + 1, dim

    monkeypatch.setitem(table.rules, "sinh", table.Rule(wrong))
    assert judged("sinh")["vmap"].startswith("fail")
