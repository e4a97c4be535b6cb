"""Tasks of a recorded graph that are replaced between its runs, and attention of inference, which they are for."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("mindtorch", reason="the assembled library")
from mindtorch import _torch_npu as torch_npu  # noqa: E402
from mindtorch.npu._npugraph_handlers import dispatch  # noqa: E402
from mindtorch_npu import AclError  # noqa: E402
from mindtorch_npu.backend import launches  # noqa: E402

HEADS, KEY_HEADS, ROWS, COLUMNS, WIDTH, SCALE = 4, 2, 5, 7, 16, 0.25


@pytest.fixture(autouse=True)
def no_streams_of_other_hosts(npu):
    """Every test has a host of its own, whose streams are gone with it."""
    dispatch._streams.clear()
    torch.npu.graph.default_capture_stream = None


def draw(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).half()


def operands():
    return (
        draw(2, HEADS, ROWS, WIDTH, seed=0),
        draw(2, KEY_HEADS, COLUMNS, WIDTH, seed=1),
        draw(2, KEY_HEADS, COLUMNS, WIDTH, seed=2),
    )


def expected(rows=(ROWS, ROWS), columns=(COLUMNS, COLUMNS), after=None):
    """Return attention by its formula, in double precision, and the logarithms of the sums."""
    q, k, v = (one.double().numpy() for one in operands())
    out, sums = np.zeros((2, HEADS, ROWS, WIDTH)), np.full((2, HEADS, ROWS, 1), np.inf)
    for sample, (height, width) in enumerate(zip(rows, columns, strict=True)):
        for head in range(HEADS):
            keys, values = k[sample, head // 2, :width], v[sample, head // 2, :width]
            weights = np.exp(q[sample, head, :height] @ keys.T * SCALE)
            if after is not None:
                weights = weights * (np.arange(width)[None] - np.arange(height)[:, None] <= width - height + after)
            out[sample, head, :height] = weights @ values / weights.sum(-1, keepdims=True)
            sums[sample, head, :height] = np.log(weights.sum(-1, keepdims=True))
    return out, sums


def close(made, wanted):
    return np.allclose(made.cpu().double().numpy(), wanted, atol=2e-3)


@pytest.fixture(params=["cpu", "npu"])
def place(request, npu):
    return request.param


def test_lengths_of_samples_and_logarithms_of_sums(place):
    given = [one.to(place) for one in operands()]
    out, sums = torch_npu.npu_fused_infer_attention_score(
        *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, scale=SCALE, input_layout="BNSD",
        actual_seq_lengths=[5, 3], actual_seq_lengths_kv=[7, 4], softmax_lse_flag=True,
    )  # fmt: skip
    wanted = expected((5, 3), (7, 4))
    assert close(out, wanted[0])
    assert close(sums, wanted[1])


def test_the_diagonal_of_a_sample_ends_at_its_lengths(place):
    triangle = torch.ones(2048, 2048, dtype=torch.bool, device=place).triu(1)
    out, none = torch_npu.npu_fused_infer_attention_score_v2(
        *(one.to(place) for one in operands()), num_query_heads=HEADS, num_key_value_heads=KEY_HEADS,
        softmax_scale=SCALE, input_layout="BNSD", actual_seq_qlen=[5, 3], actual_seq_kvlen=[7, 4], sparse_mode=3,
        atten_mask=triangle,
    )  # fmt: skip
    assert close(out, expected((5, 3), (7, 4), after=0)[0])
    assert none.tolist() == [0.0]


@pytest.mark.parametrize("layout", ["BSH", "BSND", "BNSD_BSND", "TND"])
def test_layouts(place, layout):
    given = [one.to(place) for one in operands()]
    if layout != "BNSD_BSND":
        given = [one.transpose(1, 2).contiguous() for one in given]
    given = [one.flatten(2) if layout == "BSH" else one.flatten(0, 1) if layout == "TND" else one for one in given]
    ends = {"actual_seq_lengths": [5, 10], "actual_seq_lengths_kv": [7, 14]} if layout == "TND" else {}
    out, _ = torch_npu.npu_fused_infer_attention_score(
        *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, scale=SCALE, input_layout=layout, **ends
    )
    assert close(out.reshape(2, ROWS, HEADS, WIDTH).transpose(1, 2), expected()[0])


@pytest.mark.parametrize("heads_first", [False, True])
def test_keys_in_pages(place, heads_first):
    query, key, value = operands()
    table, size = torch.tensor([[3, 0], [1, 2]], dtype=torch.int32), 4
    caches = []
    for one in (key, value):
        cache = torch.zeros(4, size, KEY_HEADS, WIDTH).half()
        for sample in range(2):
            for column in range(COLUMNS):
                cache[int(table[sample, column // size]), column % size] = one[sample, :, column]
        caches.append(cache)
    given = [(one.transpose(1, 2).contiguous() if heads_first else one.flatten(2)).to(place) for one in caches]
    out, _ = torch_npu.npu_fused_infer_attention_score(
        query.to(place), *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, scale=SCALE, input_layout="BNSD",
        actual_seq_lengths_kv=[7, 6], block_table=table.to(place), block_size=size,
    )  # fmt: skip
    assert close(out, expected(columns=(7, 6))[0])
    newest = torch.empty(2, HEADS, WIDTH, dtype=torch.float16, device=place)
    torch_npu._npu_paged_attention(
        query[:, :, 0].to(place), *(one.to(place) for one in caches), KEY_HEADS, HEADS, SCALE, table.to(place),
        torch.tensor([7, 6]), newest,
    )  # fmt: skip
    assert close(newest, expected(columns=(7, 6))[0][:, :, 0])


def test_halves_are_one_launch(npu):
    given = [one.npu() for one in operands()]
    launches.clear()
    torch_npu.npu_fused_infer_attention_score(
        *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, input_layout="BNSD", actual_seq_lengths_kv=[7, 4]
    )
    assert launches == {"aclnnFusedInferAttentionScoreV3": 1}


def test_what_is_missing_is_said(npu):
    given = [one.npu() for one in operands()]
    with pytest.raises(RuntimeError, match="TND needs the ends"):
        torch_npu.npu_fused_infer_attention_score(*given, num_heads=HEADS, input_layout="TND")
    with pytest.raises(NotImplementedError, match="quant_scale1 is not supported"):
        torch_npu.npu_fused_infer_attention_score(*given, num_heads=HEADS, quant_scale1=given[0])


def attend(given, columns, out):
    torch_npu.npu_fused_infer_attention_score.out(
        *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, scale=SCALE, input_layout="BNSD",
        actual_seq_lengths_kv=columns, out=out,
    )  # fmt: skip


def outputs():
    return [torch.zeros(2, HEADS, ROWS, WIDTH).half().npu(), torch.zeros(1).npu()]


def test_a_group_of_tasks_is_replaced(npu):
    given, out, graph, event = (
        [one.npu() for one in operands()],
        outputs(),
        torch.npu.NPUGraph(),
        torch.npu.ExternalEvent(),
    )
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        attend(given, [7, 7], out)
        group = torch.npu.graph_task_group_end(stream)
        doubled = out[0] * 2
    updating = torch.npu.Stream()
    for columns in ([7, 4], [2, 6], [7, 7]):
        with torch.npu.stream(updating):
            torch.npu.graph_task_update_begin(updating, group)
            attend(given, columns, out)
            torch.npu.graph_task_update_end(updating)
            event.record(updating)
        graph.replay()
        torch.npu.synchronize()
        assert close(doubled, 2 * expected(columns=columns)[0])


def test_arguments_are_changed_by_their_names(npu):
    given, graph = [one.npu() for one in operands()], torch.npu.NPUGraph()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        made = [
            torch_npu.npu_fused_infer_attention_score(
                *given, num_heads=HEADS, num_key_value_heads=KEY_HEADS, scale=SCALE, input_layout="BNSD",
                actual_seq_lengths_kv=[7, 7],
            )[0]
            for _ in range(2)
        ]  # fmt: skip
    for first, second in (([7, 4], [1, 2]), ([3, 3], [7, 7])):
        graph.update([{"actual_seq_lengths_kv": first}, {"actual_seq_lengths_kv": second}])
        graph.replay()
        torch.npu.synchronize()
        assert close(made[0], expected(columns=first)[0])
        assert close(made[1], expected(columns=second)[0])
    with pytest.raises(RuntimeError, match="2 operators that need to be updated"):
        graph.update([{}, {}, {}])


def test_a_handler_of_a_programs_own_operator(npu):
    library = torch.library.Library("graph_task_test", "DEF")
    library.define("scaled(Tensor x, float factor, *, Tensor(a!) out) -> ()")

    def scaled(x, factor, *, out):
        out.copy_(x).mul_(factor)

    library.impl("scaled", scaled, "CompositeExplicitAutograd")

    @torch.npu.register_npu_graph_handler("scaled.default")
    class Handler(torch.npu.NpuGraphOpHandler):
        UPDATE_SPECS = {"scaled.default": [("arg", 1, "factor")]}

    x, out, graph = torch.arange(3.0).npu(), torch.zeros(3).npu(), torch.npu.NPUGraph()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        torch.ops.graph_task_test.scaled(x, 2.0, out=out)
    for factor in (3.0, 5.0):
        graph.update([{"factor": factor}])
        graph.replay()
        torch.npu.synchronize()
        assert out.tolist() == [0.0, factor, 2 * factor]


def test_misuses_are_refused(npu):
    x, stream, graph = torch.ones(3).npu(), torch.npu.Stream(), torch.npu.NPUGraph()
    with pytest.raises(RuntimeError, match="auto_dispatch_capture=True"):
        graph.update([{}])
    with pytest.raises(AclError, match="107029"):
        torch.npu.graph_task_group_begin(stream)
    out = torch.zeros(3).npu()
    with torch.npu.graph(graph):
        recorded = torch.npu.current_stream()
        torch.npu.graph_task_group_begin(recorded)
        out.copy_(x)
        group = torch.npu.graph_task_group_end(recorded)
        with pytest.raises(AclError, match="no group of tasks has begun"):
            torch.npu.graph_task_group_end(recorded)
    with torch.npu.stream(stream):
        torch.npu.graph_task_update_begin(stream, group)
        out.add_(x)
        with pytest.raises(AclError, match="cannot be replaced by"):
            torch.npu.graph_task_update_end(stream)
    graph.replay()
    torch.npu.synchronize()
    assert out.tolist() == [1.0, 1.0, 1.0]
