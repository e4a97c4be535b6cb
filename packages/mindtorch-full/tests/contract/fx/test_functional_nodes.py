"""A traced call of `torch.nn.functional` is the node that torch makes: its target, and how arguments are given."""

from __future__ import annotations

from typing import Any

import pytest

import mindtorch as mt

torch = pytest.importorskip("torch", reason="oracle")

CALLS = """
dropout(x, p=0.2, training=False); relu(x); layer_norm(x, (4,)); softmax(x, dim=-1); max_pool2d(x, 2); interpolate(x, 3)
pad(x, (1, 1)); gelu(x, approximate="tanh"); leaky_relu(x, 0.2); batch_norm(x, None, None, training=True); one_hot(x)
adaptive_avg_pool2d(x, 1); cross_entropy(x, x); mse_loss(x, x); normalize(x); embedding(x, x); linear(x, x); conv2d(x, x)
log_softmax(x, 1); avg_pool2d(x, 2); hardtanh(x); elu(x); glu(x); silu(x); mish(x); softplus(x); threshold(x, 1, 2)
alpha_dropout(x); dropout2d(x); instance_norm(x); group_norm(x, 2); local_response_norm(x, 2); cosine_similarity(x, x)
pixel_shuffle(x, 2); unfold(x, 2); fold(x, 2, 2); grid_sample(x, x); affine_grid(x, (1, 1, 2, 2)); smooth_l1_loss(x, x)
binary_cross_entropy_with_logits(x, x); nll_loss(x, x); kl_div(x, x); huber_loss(x, x); gumbel_softmax(x); hardsigmoid(x)
scaled_dot_product_attention(x, x, x); hardswish(x, inplace=True); prelu(x, x); rrelu(x); selu(x); celu(x); sigmoid(x)
tanh(x); relu6(x); logsigmoid(x); tanhshrink(x); softsign(x); softmin(x); hardshrink(x); softshrink(x); bilinear(x, x, x)
conv_transpose2d(x, x); lp_pool2d(x, 2, 2); max_unpool2d(x, x, 2); ctc_loss(x, x, x, x); triplet_margin_loss(x, x, x)
pdist(x); rms_norm(x, (4,)); upsample(x, 2); upsample_nearest(x, 2); upsample_bilinear(x, 2); embedding_bag(x, x)
channel_shuffle(x, 2); pairwise_distance(x, x); margin_ranking_loss(x, x, x); poisson_nll_loss(x, x)
gaussian_nll_loss(x, x, x); fractional_max_pool2d(x, 2, 2); adaptive_max_pool2d(x, 1); cosine_embedding_loss(x, x, x)
"""


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("call", [one.strip() for line in CALLS.strip().splitlines() for one in line.split(";")])
def test_a_call_is_the_node_of_torch(call: str) -> None:
    def nodes(lib: Any) -> list[Any]:
        traced = lib.fx.symbolic_trace(eval(f"lambda x: f.{call}", {"f": lib.nn.functional}))
        return [
            (n.name, n.op, getattr(n.target, "__name__", n.target), str(n.args), str(n.kwargs))
            for n in traced.graph.nodes
        ]

    assert nodes(mt) == nodes(torch)


def test_the_tracer_knows_objects_of_archives() -> None:
    assert mt.fx._symbolic_trace.ScriptObject is mt.ScriptObject
    assert torch.fx._symbolic_trace.ScriptObject is torch.ScriptObject
