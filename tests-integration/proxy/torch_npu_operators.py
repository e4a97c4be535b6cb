"""Run by `test_torch_npu.py`: torch_npu's operators on the simulated device against formulas that are written out."""

import math

import numpy as np
import torch
import torch_npu

random = np.random.default_rng(0)


def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)


def there(value):
    return torch.from_numpy(np.ascontiguousarray(value)).npu()


def same(found, expected, tolerance=1e-5):
    expected = np.asarray(expected)
    found = found.cpu().numpy()
    assert found.shape == expected.shape, (found.shape, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    return np.vectorize(lambda one: one * 0.5 * (1 + math.erf(one / math.sqrt(2))))(x).astype(np.float32)


def norms():
    x, y, gamma = numbers(3, 8), numbers(3, 8), numbers(8)
    root = np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    made, rstd = torch_npu.npu_rms_norm(there(x), there(gamma))
    same(made, x / root * gamma)
    same(rstd, 1 / root)
    same(torch_npu.npu_gemma_rms_norm(there(x), there(gamma))[0], x / root * (gamma + 1))
    total = x + y
    root = np.sqrt((total**2).mean(-1, keepdims=True) + 1e-6)
    made, _, again = torch_npu.npu_add_rms_norm(there(x), there(y), there(gamma))
    same(made, total / root * gamma)
    same(again, total)
    deep = x * 0.3 + y
    centred = deep - deep.mean(-1, keepdims=True)
    expected = centred / np.sqrt(deep.var(-1, keepdims=True) + 1e-6) * gamma + total[0]
    same(torch_npu.npu_deep_norm(there(x), there(y), there(total[0]), there(gamma))[2], expected, 1e-4)
    image, weight, bias = numbers(2, 4, 3), numbers(4), numbers(4)
    groups = image.reshape(2, 2, -1)
    flat = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
    flat = flat.reshape(2, 4, 3) * weight[:, None] + bias[:, None]
    made = torch_npu.npu_group_norm_silu(there(image), there(weight), there(bias), 2)[0]
    same(made, flat * sigmoid(flat), 1e-4)
    made = torch_npu.npu_group_norm_swish(there(image), 2, there(weight), there(bias), 1e-5, 0.5)[0]
    same(made, flat * sigmoid(0.5 * flat), 1e-4)


def activations():
    x = numbers(4, 6)
    first, second = x[:, :3], x[:, 3:]
    same(torch_npu.npu_swiglu(there(x)), first * sigmoid(first) * second)
    same(torch_npu.npu_fast_gelu(there(x)), x * sigmoid(1.702 * x))
    same(torch_npu.npu_gelu_mul(there(x)), gelu(first) * second)
    kept, gate = torch_npu.npu_geglu(there(x), -1, 0)
    same(gate, gelu(second))
    same(kept, first * gelu(second))
    gate, linear = np.minimum(x[:, ::2], 0.5), np.clip(x[:, 1::2], -0.5, 0.5)
    same(torch_npu.npu_clipped_swiglu(there(x), limit=0.5), gate * sigmoid(1.702 * gate) * (linear + 1))
    mask = numbers(4, 6) > 0
    same(torch_npu.npu_scaled_masked_softmax(there(x), there(mask), 0.5), softmax(np.where(mask, -10000, x * 0.5)))
    logits = np.array([[1.0, 3.0, 2.0, 0.0]], np.float32)
    found = torch_npu.npu_top_k_top_p(there(logits), k=there(np.array([2], np.int32)))
    same(found, [[-np.inf, 3.0, 2.0, -np.inf]])


def positions():
    x, angle = numbers(2, 5, 3, 8), numbers(1, 5, 1, 8)
    cosine, sine = np.cos(angle), np.sin(angle)
    half = np.concatenate((-x[..., 4:], x[..., :4]), -1)
    same(torch_npu.npu_rotary_mul(there(x), there(cosine), there(sine)), x * cosine + half * sine)
    pairs = np.stack((-x[..., 1::2], x[..., ::2]), -1).reshape(x.shape)
    made = torch_npu.npu_rotary_mul(there(x), there(cosine), there(sine), "interleave")
    same(made, x * cosine + pairs * sine)
    matrix = np.zeros((8, 8), np.float32)
    matrix[:4, 4:], matrix[4:, :4] = np.eye(4), -np.eye(4)
    made = torch_npu.npu_rotary_mul(there(x), there(cosine), there(sine), rotate=there(matrix))
    same(made, x * cosine + half * sine)


def products():
    rows, matrices = numbers(6, 4), numbers(3, 4, 5)
    ends = [1, 4, 6]
    parts = [rows[a:b] @ matrices[one] for one, (a, b) in enumerate(zip([0, *ends], ends, strict=False))]
    groups = there(np.array(ends))
    found = torch_npu.npu_grouped_matmul([there(rows)], [there(matrices)], group_list=groups, split_item=3)
    same(found[0], np.concatenate(parts), 1e-4)
    counts = torch_npu.npu_grouped_matmul(
        [there(rows)], [there(matrices)], group_list=there(np.array([1, 3, 2])), group_list_type=1, split_item=0
    )
    for one, part in zip(counts, parts, strict=True):
        same(one, part, 1e-4)
    x, y, z = numbers(3, 4), numbers(4, 2), numbers(3, 2)
    same(torch_npu.npu_fused_matmul(there(x), there(y), x3=there(z), fused_op_type="mul"), (x @ y) * z, 1e-4)
    eight = random.integers(-100, 100, (3, 64)).astype(np.int8), random.integers(-100, 100, (64, 2)).astype(np.int8)
    scale = np.array([0.01, 0.02], np.float32)
    expected = (eight[0].astype(np.int64) @ eight[1].astype(np.int64)) * scale
    made = torch_npu.npu_quant_matmul(*map(there, eight), there(scale), output_dtype=torch.float16)
    same(made, expected.astype(np.float16), 1e-3)


def experts():
    tokens = numbers(4, 3)
    chosen = np.array([[2, 0], [1, 2], [0, 1], [2, 1]])
    order = np.argsort(chosen.reshape(-1), kind="stable")
    rows, places = torch_npu.npu_moe_token_permute(there(tokens), there(chosen))
    same(rows, tokens[order // 2])
    weights = softmax(numbers(4, 2))
    back = torch_npu.npu_moe_token_unpermute(rows, places, there(weights))
    same(back, tokens * weights.sum(-1, keepdims=True))
    index = np.arange(8).reshape(2, 4).T.astype(np.int32)
    rows, places, numbers_ = torch_npu.npu_moe_init_routing(
        there(tokens), there(index), there(chosen.astype(np.int32)), 4
    )
    source = index.reshape(-1)[order]
    same(rows, tokens[source % 4])
    same(numbers_, np.sort(chosen.reshape(-1)))
    ends = torch_npu.npu_moe_compute_expert_tokens(numbers_, 3)
    same(ends, [2, 5, 8])
    bias = numbers(3, 3)
    made = torch_npu.npu_moe_finalize_routing(
        rows, there(tokens), None, there(bias), there(weights), places, there(chosen.astype(np.int32))
    )
    expected = tokens + sum(weights[:, k : k + 1] * (tokens + bias[chosen[:, k]]) for k in (0, 1))
    same(made, expected)
    scores = numbers(5, 8)
    best, numbers_, every = torch_npu.npu_moe_gating_top_k_softmax_v2(there(scores), k=2, output_softmax=True)
    same(every, softmax(scores))
    same(numbers_, np.argsort(-scores, -1, kind="stable")[:, :2])
    same(best, -np.sort(-softmax(scores), -1)[:, :2])
    gate = torch_npu.npu_moe_gating_top_k(there(scores), 2, k_group=1, group_count=2, norm_type=1)
    of_group = sigmoid(scores).reshape(5, 2, 4).max(-1).argmax(-1)
    inside = np.where(np.arange(8)[None] // 4 == of_group[:, None], sigmoid(scores), -np.inf)
    picked = np.argsort(-inside, -1, kind="stable")[:, :2]
    same(gate[1], picked)
    values = np.take_along_axis(sigmoid(scores), picked, -1)
    same(gate[0], values / values.sum(-1, keepdims=True))


def boxes():
    a = np.array([[0, 0, 10, 10], [10, 10, 20, 20], [32, 32, 38, 42]], np.float32)
    b = np.array([[0, 0, 10, 20], [10, 10, 20, 20]], np.float32)
    same(torch_npu.npu_iou(there(a), there(b)), [[0.5, 0, 0], [0, 1, 0]])
    giou = torch_npu.npu_giou(there(a[:2].T), there(b.T))
    same(giou, [[0.5], [1.0]])
    same(torch_npu.npu_diou(there(a[:2].T), there(b.T)), [[0.5 - 25 / 500, 1.0]])
    encoded = torch_npu.npu_bounding_box_encode(there(a[:2]), there(b), 0, 0, 0, 0, 1, 1, 1, 1)
    again = torch_npu.npu_bounding_box_decode(there(a[:2]), encoded, 0, 0, 0, 0, 1, 1, 1, 1, (100, 100), 1e-3)
    same(again, b, 1e-4)
    scored = np.array([[0, 0, 10, 10, 0.9], [1, 1, 11, 11, 0.8], [30, 30, 40, 40, 0.7]], np.float32)
    same(torch_npu.npu_nms_with_mask(there(scored), 0.5)[2], [1, 0, 1])


def layouts():
    x = numbers(2, 3, 4)
    same(torch_npu.npu_transpose(there(x), (2, 0, 1)), x.transpose(2, 0, 1))
    same(torch_npu.npu_confusion_transpose(there(x), (1, 0, 2), (3, 8), True), x.transpose(1, 0, 2).reshape(3, 8))
    same(torch_npu.npu_slice(there(x), (0, 1, 2), (2, 2, -1)), x[:, 1:3, 2:])
    out = torch.empty(0).npu()
    assert torch_npu.npu_slice(there(x), (0, 1, 2), (2, 2, 2), out=out) is out
    same(out, x[:, 1:3, 2:])
    same(torch_npu.npu_indexing(there(x), [0, 1, 0], [2, 3, 4], [1, 1, 2]), x[:, 1:3, ::2])
    same(torch_npu.npu_pad(there(x), (0, 0, 1, 0, 0, 2)), np.pad(x, ((0, 0), (1, 0), (0, 2))))
    signs = there(np.array([1, -1, -1, 1, 1, -1, -1, -1, 1], np.float32))
    packed = torch_npu.npu_sign_bits_pack(signs, 1)
    same(packed, [[0b00011001, 1]])
    same(torch_npu.npu_sign_bits_unpack(packed, 1, torch.float32)[:, :9], signs.cpu().numpy()[None])


def quantised():
    x = numbers(3, 8)
    eight, scale = torch_npu.npu_dynamic_quant(there(x))
    same(scale, np.abs(x).max(-1) / 127)
    same(eight, np.round(x / (np.abs(x).max(-1, keepdims=True) / 127)))
    scales, zeros = np.array([0.5, 0.25, 1.0], np.float32), np.array([1.0, 2.0, 3.0], np.float32)
    found = torch_npu.npu_quantize(there(x), there(scales), there(zeros), torch.int8, 0)
    same(found, np.round(x / scales[:, None]) + zeros[:, None])
    same(torch_npu.npu_anti_quant(found, there(np.ones(8, np.float32))), found.cpu().numpy())


def gradients():
    x, gamma = there(numbers(3, 8)).requires_grad_(), there(numbers(8)).requires_grad_()
    torch_npu.npu_rms_norm(x, gamma)[0].sum().backward()
    copy, weight = x.detach().cpu().requires_grad_(), gamma.detach().cpu().requires_grad_()
    torch.nn.functional.rms_norm(copy, (8,), weight, 1e-6).sum().backward()
    same(x.grad, copy.grad.numpy(), 1e-4)
    same(gamma.grad, weight.grad.numpy(), 1e-4)


def refusals():
    x = there(numbers(2, 2))
    for call in (lambda: torch_npu.npu_rms_norm(x), lambda: torch_npu.npu_swiglu(x, dimension=1)):
        try:
            call()
        except RuntimeError as error:
            print("npu::npu_" in str(error))
    try:
        torch_npu.npu_grouped_matmul([x], [x], scale=[x])
    except NotImplementedError as error:
        print(error)
    print(torch.ops.npu.npu_swiglu.default._schema)


def steps():
    from torch_npu.optim import NpuFusedBertAdam, NpuFusedLamb, NpuFusedRMSpropTF

    start, slope = numbers(3, 4), numbers(3, 4)

    def stepped(kind, **options):
        p = there(start).requires_grad_()
        optimizer = kind([p], **options)
        for _ in range(2):
            p.grad = there(slope)
            optimizer.step()
        return p.detach()

    mean, square = 0, 0
    lamb, bert = start.copy(), start.copy()
    for _ in range(2):
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        step = mean / (np.sqrt(square) + 1e-6) + 0.01 * lamb
        lamb = lamb - 0.1 * step * min(np.linalg.norm(lamb), 10) / np.linalg.norm(step)
    same(stepped(NpuFusedLamb, lr=0.1, weight_decay=0.01), lamb, 1e-4)
    mean, square = 0, 0
    cut = slope * min(1.0, 1.0 / (np.linalg.norm(slope) + 1e-6))
    for _ in range(2):
        mean, square = 0.9 * mean + 0.1 * cut, 0.999 * square + 0.001 * cut**2
        bert = bert - 0.1 * (mean / (np.sqrt(square) + 1e-6) + 0.01 * bert)
    same(stepped(NpuFusedBertAdam, lr=0.1), bert, 1e-4)
    square, kept, root = 1.0, 0.0, start.copy()
    for _ in range(2):
        square = square + 0.1 * (slope**2 - square)
        kept = 0.5 * kept + 0.1 * slope / np.sqrt(square + 1e-10)
        root = root - kept
    same(stepped(NpuFusedRMSpropTF, lr=0.1, momentum=0.5), root, 1e-4)


def places():
    from torch_npu.contrib import ChannelShuffle

    x = there(numbers(2, 2))
    for made in (x.new_zeros(2, device="cpu"), x.new_ones(2, device="cpu"), x.new_full((2,), 3.0, device="cpu")):
        assert made.device.type == "cpu"
    assert torch.ones(1).new_full((2,), 3.0, device="npu").cpu().tolist() == [3.0, 3.0]
    assert (torch.device(1), torch.ones(1, device=0).device) == (torch.device("npu:1"), torch.device("npu:0"))
    storage = x.untyped_storage()
    storage.fill_(0)
    storage[0] = 1
    assert storage.tolist() == [1] + [0] * 15
    assert torch.UntypedStorage([1, 2], device="npu").tolist() == [1, 2]
    assert torch.UntypedStorage(4, device="npu").device == torch.device("npu:0")
    assert torch.npu.FloatStorage([1.0, 2.0]).tolist() == [1.0, 2.0]
    assert torch.npu.IntStorage([3, 4]).double().tolist() == [3.0, 4.0]
    x.storage()[1] = 2.5
    assert float(x[0, 1]) == 2.5
    assert isinstance(x, torch.npu.FloatTensor)
    assert not isinstance(x.cpu(), torch.npu.FloatTensor)
    assert torch.npu.LongTensor([1, 2]).device.type == "npu"
    stream, block = torch.npu.Stream(), torch.ones(4, device="npu")
    block.record_stream(stream)
    torch_npu.erase_stream(block, stream)
    try:
        torch_npu.erase_stream(block, 1)
    except TypeError as error:
        print(str(error).partition(",")[0])
    first, second = ChannelShuffle(4)(there([[1.0, 2.0]]), there([[3.0, 4.0]]))
    assert (first.tolist(), second.tolist()) == ([[1.0, 3.0]], [[2.0, 4.0]])


for check in (
    norms,
    activations,
    positions,
    products,
    experts,
    boxes,
    layouts,
    quantised,
    gradients,
    steps,
    places,
    refusals,
):
    check()
