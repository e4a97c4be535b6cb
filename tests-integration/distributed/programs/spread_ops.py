"""Ops on spread tensors: how results and gradients lie, which collectives that took, and whether their values are right.

Rank 0 writes. Arguments: library, file. torch runs alone, beside a rank that is not there: its values mean nothing.
"""

import importlib
import itertools
import json
import math
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
spread = importlib.import_module(f"{library}.distributed.tensor")
CommDebugMode = importlib.import_module(f"{library}.distributed.tensor.debug").CommDebugMode
mesh = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
F, S, R, P = torch.nn.functional, spread.Shard, spread.Replicate(), spread.Partial
if library == "torch":
    importlib.import_module("torch.testing._internal.distributed.fake_pg")
    dist.init_process_group("fake", rank=0, world_size=2)
else:
    dist.init_process_group("gloo")
world = mesh("cpu", (dist.get_world_size(),))
PLACES = {"R": R, "S0": S(0), "S1": S(1), "S2": S(2), "S3": S(3), "P": P(), "Pavg": P("avg"), "Pmax": P("max")}


def beside(x, plain):
    """A tensor that everybody has, spread where another one is."""
    return spread.DTensor.from_local(plain, world, [R], run_check=False) if isinstance(x, spread.DTensor) else plain


X = ((4, 6, 8),)
index = torch.tensor([0, 2, 1, 3])
mask = torch.arange(4 * 6 * 8).reshape(4, 6, 8) % 3 == 0
CASES = {
    "argmax": (lambda x: x.argmax(), X),
    "argmax 0": (lambda x: x.argmax(0), X),
    "argmax 1": (lambda x: x.argmax(1), X),
    "argmax 1 keep": (lambda x: x.argmax(1, keepdim=True), X),
    "argmin 2": (lambda x: x.argmin(2), X),
    "argmin": (lambda x: x.argmin(), X),
    "max": (lambda x: x.max(), X),
    "min": (lambda x: x.min(), X),
    "max 0": (lambda x: tuple(x.max(0)), X),
    "max 1 keep": (lambda x: tuple(x.max(1, keepdim=True)), X),
    "min 2": (lambda x: tuple(x.min(2)), X),
    "amax 1": (lambda x: x.amax(1), X),
    "amin": (lambda x: x.amin(), X),
    "prod": (lambda x: x.prod(), X),
    "prod 1": (lambda x: x.prod(1), X),
    "var": (lambda x: x.var(), X),
    "var 1": (lambda x: x.var(1), X),
    "var 1 corr": (lambda x: x.var(1, correction=0, keepdim=True), X),
    "std": (lambda x: x.std(), X),
    "std 0": (lambda x: x.std(0), X),
    "var_mean 1": (lambda x: torch.var_mean(x, 1), X),
    "logsumexp 1": (lambda x: x.logsumexp(1), X),
    "logsumexp 0 2": (lambda x: x.logsumexp((0, 2)), X),
    "all": (lambda x: (x > 0).all(), X),
    "any": (lambda x: (x > 0).any(), X),
    "all 1": (lambda x: (x > 0).all(1), X),
    "any 0": (lambda x: (x > 0).any(0), X),
    "sum": (lambda x: x.sum(), X),
    "sum 0": (lambda x: x.sum(0), X),
    "sum 1 2": (lambda x: x.sum((1, 2), keepdim=True), X),
    "mean": (lambda x: x.mean(), X),
    "mean 1": (lambda x: x.mean(1), X),
    "norm": (lambda x: x.norm(), X),
    "norm 1": (lambda x: x.norm(dim=1), X),
    "vector_norm": (lambda x: torch.linalg.vector_norm(x), X),
    "vector_norm inf 0": (lambda x: torch.linalg.vector_norm(x, float("inf"), dim=0), X),
    "cumsum 0": (lambda x: x.cumsum(0), X),
    "cumprod 1": (lambda x: x.cumprod(1), X),
    "softmax 1": (lambda x: x.softmax(1), X),
    "log_softmax 2": (lambda x: x.log_softmax(2), X),
    "topk 1": (lambda x: tuple(x.topk(2, 1)), X),
    "sort 1": (lambda x: tuple(x.sort(1)), X),
    "argsort 0": (lambda x: x.argsort(0), X),
    "flip 0": (lambda x: x.flip(0), X),
    "roll 1": (lambda x: x.roll(1, 1), X),
    "pad": (lambda x: F.pad(x, (1, 2)), X),
    "pad 1": (lambda x: F.pad(x, (0, 0, 1, 0)), X),
    "pad all": (lambda x: F.pad(x, (1, 1, 1, 1, 1, 1), value=2.0), X),
    "unbind 0": (lambda x: x.unbind(0), X),
    "unbind 1": (lambda x: x.unbind(1), X),
    "repeat": (lambda x: x.repeat(2, 1, 1), X),
    "repeat lead": (lambda x: x.repeat(3, 1, 2, 1), X),
    "repeat_interleave": (lambda x: x.repeat_interleave(2, 1), X),
    "tile": (lambda x: x.tile(1, 2, 1), X),
    "expand": (lambda x: x.expand(3, 4, 6, 8), X),
    "index_select 0": (lambda x: x.index_select(0, beside(x, index)), X),
    "index_select 1": (lambda x: x.index_select(1, beside(x, index)), X),
    "index 0": (lambda x: x[beside(x, index)], X),
    "index 1": (lambda x: x[:, beside(x, index)], X),
    "gather": (lambda x: x.gather(1, beside(x, torch.zeros(4, 6, 8, dtype=torch.int64))), X),
    "scatter": (lambda x: x.scatter(1, beside(x, torch.zeros(4, 6, 8, dtype=torch.int64)), 1.0), X),
    "scatter_add": (lambda x: x.scatter_add(1, beside(x, torch.zeros(4, 6, 8, dtype=torch.int64)), x), X),
    "masked_fill": (lambda x: x.masked_fill(beside(x, mask), 0.0), X),
    "where": (lambda x: torch.where(x > 0, x, 0.0), X),
    "tril": (lambda x: x.tril(), X),
    "triu": (lambda x: x.triu(1), X),
    "chunk 1": (lambda x: x.chunk(2, 1), X),
    "split 0": (lambda x: x.split(2, 0), X),
    "narrow 1": (lambda x: x.narrow(1, 1, 2), X),
    "select 0": (lambda x: x[1], X),
    "slice 0": (lambda x: x[1:3], X),
    "slice whole": (lambda x: x[0:4], X),
    "slice step": (lambda x: x[:, ::2], X),
    "movedim": (lambda x: x.movedim(0, 2), X),
    "flatten": (lambda x: x.flatten(), X),
    "unflatten": (lambda x: x.unflatten(2, (2, 4)), X),
    "view": (lambda x: x.reshape(24, 8), X),
    "squeeze": (lambda x: x.unsqueeze(1).squeeze(1), X),
    "gelu": (lambda x: F.gelu(x), X),
    "silu": (lambda x: F.silu(x), X),
    "dropout": (lambda x: F.dropout(x, 0.5, training=False), X),
    "add scalar": (lambda x: x + 1, X),
    "mul scalar": (lambda x: x * 2, X),
    "div scalar": (lambda x: x / 2, X),
    "neg": (lambda x: -x, X),
    "exp": (lambda x: x.exp(), X),
    "to": (lambda x: x.to(torch.float64), X),
    "clamp": (lambda x: x.clamp(-1, 1), X),
    "zeros_like": (lambda x: torch.zeros_like(x), X),
    "ones_like": (lambda x: torch.ones_like(x), X),
    "new_zeros": (lambda x: x.new_zeros(4, 6, 8), X),
    "new_zeros other": (lambda x: x.new_zeros(3), X),
    "bucketize": (lambda x: torch.bucketize(x, beside(x, torch.tensor([-1.0, 0.0, 1.0]))), X),
    "layer_norm": (lambda x: F.layer_norm(x, (8,)), X),
    "rms_norm": (lambda x: F.rms_norm(x, (8,)), X),
    "group_norm": (lambda x: F.group_norm(x, 2), X),
    "glu": (lambda x: F.glu(x), X),
    "equal": (lambda x: torch.equal(x, x), X),
    "inplace add": (lambda x: x.add_(1), X),
    "inplace mul": (lambda x: x.mul_(2), X),
    "inplace exp": (lambda x: x.exp_(), X),
    "zero": (lambda x: x.zero_(), X),
    "nansum": (lambda x: x.nansum(), X),
    "count_nonzero": (lambda x: x.count_nonzero(), X),
    "add": (lambda x, y: x + y, (*X, *X)),
    "add row": (lambda x, y: x + y, ((4, 6, 8), (8,))),
    "add column": (lambda x, y: x + y, ((4, 6, 8), (6, 1))),
    "mul": (lambda x, y: x * y, (*X, *X)),
    "div": (lambda x, y: x / y, (*X, *X)),
    "maximum": (lambda x, y: torch.maximum(x, y), (*X, *X)),
    "copy_": (lambda x, y: x.copy_(y), (*X, *X)),
    "add_": (lambda x, y: x.add_(y), (*X, *X)),
    "mul_": (lambda x, y: x.mul_(y), (*X, *X)),
    "mm": (lambda x, y: x @ y, ((4, 6), (6, 8))),
    "bmm": (lambda x, y: x @ y, ((2, 4, 6), (2, 6, 8))),
    "mv": (lambda x, y: x @ y, ((4, 6), (6,))),
    "dot": (lambda x, y: x @ y, ((8,), (8,))),
    "linear": (lambda x, y: F.linear(x, y), ((2, 4, 6), (8, 6))),
    "cat 0": (lambda x, y: torch.cat([x, y]), (*X, *X)),
    "cat 1": (lambda x, y: torch.cat([x, y], 1), (*X, *X)),
    "stack 0": (lambda x, y: torch.stack([x, y]), (*X, *X)),
    "stack 2": (lambda x, y: torch.stack([x, y], 2), (*X, *X)),
    "where 2": (lambda x, y: torch.where(x > 0, x, y), (*X, *X)),
    "mse": (lambda x, y: F.mse_loss(x, y), (*X, *X)),
    "mse none": (lambda x, y: F.mse_loss(x, y, reduction="none"), (*X, *X)),
    "embedding": (lambda w, i: F.embedding(i, w), ((8, 6), "i:8:4,6")),
    "cross_entropy": (lambda x, i: F.cross_entropy(x, i), ((4, 8), "i:8:4")),
    "cross_entropy sum": (lambda x, i: F.cross_entropy(x, i, reduction="sum"), ((4, 8), "i:8:4")),
    "cross_entropy none": (lambda x, i: F.cross_entropy(x, i, reduction="none"), ((4, 8), "i:8:4")),
    "nll_loss": (lambda x, i: F.nll_loss(x, i), ((4, 8), "i:8:4")),
    "nll_loss none": (lambda x, i: F.nll_loss(x, i, reduction="none"), ((4, 8), "i:8:4")),
    "gather 2": (lambda x, i: x.gather(1, i), ((4, 8), "i:8:4,2")),
    "index_select 2": (lambda x, i: x.index_select(0, i), ((4, 8), "i:4:6")),
    "index_put": (lambda x, i: x.index_put((i,), torch.ones(())), ((4, 8), "i:4:2")),
    "sdpa": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v), ((2, 4, 6, 8),) * 3),
    "sdpa causal": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True), ((2, 4, 6, 8),) * 3),
    "addmm": (lambda b, x, y: torch.addmm(b, x, y), ((8,), (4, 6), (6, 8))),
    "addcmul": (lambda b, x, y: torch.addcmul(b, x, y), ((4, 6),) * 3),
    "linear bias": (lambda x, y, b: F.linear(x, y, b), ((2, 4, 6), (8, 6), (8,))),
    "layer_norm 3": (lambda x, w, b: F.layer_norm(x, (8,), w, b), ((4, 6, 8), (8,), (8,))),
    "convolution": (lambda x, w: F.conv1d(x, w), ((4, 6, 8), (2, 6, 3))),
}

GRADIENTS = (
    "linear", "embedding", "layer_norm 3", "cross_entropy", "sdpa", "add row", "max 0", "prod 1", "var 1", "logsumexp 1",
    "pad 1", "index_select 2", "gather 2", "unbind 1", "repeat", "rms_norm", "mse", "nll_loss", "cat 1", "stack 0", "gelu",
    "softmax 1", "cumsum 0", "norm", "slice 0", "select 0", "index 1", "mean 1", "addmm", "where", "group_norm", "glu",
)  # fmt: skip


def made(shape, seed):
    """A plain tensor: of numbers, or, of `i:HIGH:SIZES`, of places below HIGH."""
    torch.manual_seed(seed)
    if isinstance(shape, str):
        _, high, sizes = shape.split(":")
        return torch.randint(0, int(high), [int(n) for n in sizes.split(",")])
    return torch.randn(*shape)


def placed(plain, place):
    """A plain tensor, spread; everybody has the whole of it."""
    if place.startswith("P"):
        local = plain / world.size() if place == "P" else plain.clone()
        return spread.DTensor.from_local(local, world, [PLACES[place]], run_check=False)
    return spread.distribute_tensor(plain, world, [PLACES[place]], src_data_rank=None)


def combinations(shapes):
    """Which placements of the inputs are tried."""
    single = []
    for shape in shapes:
        ndim = len(shape.split(":")[2].split(",")) if isinstance(shape, str) else len(shape)
        single.append(["R", *(f"S{d}" for d in range(ndim)), *([] if isinstance(shape, str) else ["P"])])
    if len(shapes) == 1:
        return [(one,) for one in (*single[0], "Pavg", "Pmax")]
    if len(set(shapes)) == 1 and len(shapes) == 3:
        return [(one,) * 3 for one in single[0]]
    if len(shapes) == 3:
        return [one for one in itertools.product(*single) if one[0] != "P" and sum(p != "R" for p in one) != 2]
    return list(itertools.product(*single))


def flat(result):
    """The results as a list."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


def lie(value):
    """How a result lies."""
    if isinstance(value, spread.DTensor):
        return " ".join(map(repr, value.placements))
    return "plain" if isinstance(value, torch.Tensor) else type(value).__name__


def counts(mode):
    """How often which collective began."""
    return {str(name).split(".")[-1]: n for name, n in sorted(mode.get_comm_counts().items(), key=str) if n}


def same(spread_value, plain):
    """Whether a value is what one process computes."""
    if isinstance(spread_value, spread.DTensor):
        spread_value = spread_value.full_tensor()
    if not isinstance(plain, torch.Tensor):
        return spread_value == plain or math.isclose(spread_value, plain, rel_tol=1e-4)
    return spread_value.shape == plain.shape and torch.allclose(spread_value, plain, rtol=1e-4, atol=1e-5)


def total(results):
    """One number of results, for a gradient."""
    tracked = [one for one in results if isinstance(one, torch.Tensor) and one.requires_grad]
    summed = sum(one.sum() for one in tracked)
    return summed.full_tensor() if isinstance(summed, spread.DTensor) else summed


def tried(name, places, gradient):
    """How results lie and what that took, and for gradients too; then what of it has other values."""
    function, shapes = CASES[name]
    plain = [made(shape, seed) for seed, shape in enumerate(shapes)]
    inputs = [placed(one, place) for one, place in zip(plain, places, strict=True)]
    if gradient:
        for one in (*plain, *inputs):
            one.requires_grad_(one.is_floating_point())
    mode = CommDebugMode()
    with mode:
        results = flat(function(*inputs))
    found = [[lie(one) for one in results], counts(mode)]
    expected, wrong = flat(function(*plain)), []
    if library != "torch":
        wrong = [f"result {at}" for at, pair in enumerate(zip(results, expected, strict=True)) if not same(*pair)]
    if gradient:
        summed, mode = total(results), CommDebugMode()
        with mode:
            summed.backward()
        total(expected).backward()
        found += [[lie(one.grad) if one.grad is not None else None for one in inputs], counts(mode)]
        if library != "torch":
            pairs = [(a.grad, b.grad) for a, b in zip(inputs, plain, strict=True) if b.grad is not None]
            wrong += [f"gradient {at}" for at, pair in enumerate(pairs) if not same(*pair)]
    return [found, wrong]


results = {}
for name, (_, shapes) in CASES.items():
    for places, gradient in itertools.product(combinations(shapes), (False, True) if name in GRADIENTS else (False,)):
        key = f"{name} | {' '.join(places)}{' | gradient' if gradient else ''}"
        try:
            results[key] = tried(name, places, gradient)
        except (RuntimeError, ValueError, IndexError) as error:
            results[key] = [["raises", type(error).__name__, str(error)], []]
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
