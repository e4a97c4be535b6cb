"""One rank of a program that tries collectives: its argument is the library, its output what came of each, as JSON.

    RANK=0 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=29500 python -m mindtorch_testing.distributed.scenarios torch

The library is imported by name, since each rank runs with one of the two.
"""

import importlib
import json
import sys
import time
import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

DTYPES = "bool uint8 int8 int32 int64 float16 bfloat16 float32 float64 int16".split()
REDUCTIONS = "SUM AVG PRODUCT MIN MAX BAND BOR BXOR".split()


class Rank:
    """The library, and where this process is."""

    def __init__(self, name: str) -> None:
        self.torch = importlib.import_module(name)
        self.dist = importlib.import_module(f"{name}.distributed")
        self.functional = importlib.import_module(f"{name}.distributed.nn.functional")
        self.traced = importlib.import_module(f"{name}.distributed._functional_collectives")
        self.dist.init_process_group("gloo", timeout=timedelta(seconds=150))
        self.rank, self.size = self.dist.get_rank(), self.dist.get_world_size()

    def of(self, *sizes: int, dtype: str = "float32", seed: int = 0) -> Any:
        """A tensor of this rank's own numbers."""
        count = 1
        for size in sizes:
            count *= size
        values = (self.torch.arange(count) * (self.rank + 2) + self.rank + seed) % 7
        return values.reshape(sizes).to(getattr(self.torch, dtype))


def shown(value: Any) -> Any:
    """A result as JSON: tensors as their dtype and numbers."""
    if isinstance(value, (list, tuple)):
        return [shown(v) for v in value]
    if hasattr(value, "dtype"):
        return [str(value.dtype), list(value.shape), str(value.tolist())]
    return value if isinstance(value, (int, float, str, dict, bool, type(None))) else type(value).__name__


def reductions(at: Rank) -> dict[str, Callable[[], Any]]:
    """Every reduction of every dtype."""

    def one(op: str, dtype: str) -> Any:
        x = at.of(5, dtype=dtype)
        at.dist.all_reduce(x, op=getattr(at.dist.ReduceOp, op))
        return x

    def parts(op: str) -> Any:
        output = at.torch.zeros(3)
        at.dist.reduce_scatter_single(output, at.of(3 * at.size), op=getattr(at.dist.ReduceOp, op))
        root = at.of(4)
        at.dist.reduce(root, at.size - 1, op=getattr(at.dist.ReduceOp, op))
        return output, root if at.rank == at.size - 1 else None

    calls = {
        f"all_reduce {op} {dtype}": lambda op=op, dtype=dtype: one(op, dtype) for op in REDUCTIONS for dtype in DTYPES
    }
    return calls | {f"reduce_scatter and reduce {op}": lambda op=op: parts(op) for op in REDUCTIONS[:5]}


def orders(at: Rank) -> dict[str, Callable[[], Any]]:
    """Reductions whose result shows in which order the ranks were reduced, and complex numbers."""
    torch, dist = at.torch, at.dist
    nan, own = float("nan"), float(at.rank)

    def extremes(op: str, dtype: str, times: int) -> Any:
        values = [nan if at.rank == 0 else 1.0, 1.0 if at.rank == 0 else nan, 0.0 if at.rank else -0.0, own]
        x = torch.tensor(values * times, dtype=getattr(torch, dtype))
        rooted, part = x.clone(), torch.empty_like(x[: 2 * times])
        dist.reduce(rooted, at.size - 1, op=getattr(dist.ReduceOp, op))
        dist.reduce_scatter_single(part, torch.cat([x] * at.size)[: part.numel() * at.size], getattr(dist.ReduceOp, op))
        dist.all_reduce(x, op=getattr(dist.ReduceOp, op))
        held = [x, part, *([rooted] if at.rank == at.size - 1 else [])]
        return [[str(torch.signbit(one).sum()), one[:8], one[-8:], str(torch.isnan(one).sum())] for one in held]

    def sums(count: int) -> Any:
        x = torch.randn(count, generator=torch.Generator().manual_seed(at.rank))
        dist.all_reduce(x)
        return x[:20], x[-20:], x.double().sum()

    def complex_parts(op: str) -> Any:
        output = torch.zeros(2, dtype=torch.complex64)
        given = [torch.full((2,), complex(own, i), dtype=torch.complex64) for i in range(at.size)]
        dist.reduce_scatter(output, given, op=getattr(dist.ReduceOp, op))
        return output

    calls = {
        f"{op} of {dtype} in order, {times} times": lambda o=op, d=dtype, t=times: extremes(o, d, t)
        for op in ("MIN", "MAX")
        for dtype in ("float32", "float16", "bfloat16", "float64")
        for times in (1, 3, 40_003)
    }
    calls |= {f"sum of {count} in order": lambda count=count: sums(count) for count in (3, 1001, 300_001)}
    return calls | {f"complex reduce_scatter {op}": lambda op=op: complex_parts(op) for op in ("SUM", "AVG")}


def layouts(at: Rank) -> dict[str, Callable[[], Any]]:
    """Exchanges of tensors that lie in memory in another order, and of bytes that do not divide by rows."""
    torch, dist = at.torch, at.dist
    last = torch.channels_last

    def exchanged(output: Any, given: Any) -> Any:
        dist.all_to_all_single(output, given)
        return output

    return {
        "exchange into columns": lambda: exchanged(torch.zeros(4, 8).t(), at.of(8, 4)),
        "exchange of channels": lambda: exchanged(torch.zeros(4, 4, 2, 2), at.of(4, 4, 2, 2).to(memory_format=last)),
        "exchange of uneven rows": lambda: exchanged(torch.zeros(3, 4), at.of(3, 4)),
        "exchange of half an element": lambda: exchanged(torch.zeros(()), at.of(1)[0]) if at.size == 2 else None,
    }


def moves(at: Rank) -> dict[str, Callable[[], Any]]:
    """Tensors that change hands, of every dtype."""
    dist, zeros = at.dist, at.torch.zeros

    def of_dtype(dtype: str) -> Any:
        x = at.of(2, 3, dtype=dtype)
        lists = [zeros(2, 3, dtype=x.dtype) for _ in range(at.size)]
        dist.all_gather(lists, x)
        dist.broadcast(x, 1)
        whole = zeros(2 * at.size, 3, dtype=x.dtype)
        dist.all_gather_single(whole, x)
        turned = at.of(at.size, 2, dtype=dtype)
        back = zeros(at.size, 2, dtype=x.dtype)
        dist.all_to_all_single(back, turned)
        return lists, x, whole, back

    def strided() -> Any:
        x = at.of(3, 2).t()
        dist.all_reduce(x)
        lists = [zeros(2, 3).t() for _ in range(at.size)]
        dist.all_gather(lists, at.of(3, 2))
        return x, lists

    def column() -> Any:
        x = at.of(4, 4)[:, 1]
        dist.broadcast(x, 0)
        return x

    def rooted() -> Any:
        got = [zeros(2) for _ in range(at.size)] if at.rank == 1 else None
        dist.gather(at.of(2), got, dst=1)
        mine = zeros(2)
        dist.scatter(mine, [at.of(2, seed=i) for i in range(at.size)] if at.rank == 0 else None, src=0)
        return got, mine

    def uneven() -> Any:
        sent = [i + 1 for i in range(at.size)]
        output = zeros(at.size * (at.rank + 1), 2)
        dist.all_to_all_single(output, at.of(sum(sent), 2), [at.rank + 1] * at.size, sent)
        lists = [zeros(2) for _ in range(at.size)]
        dist.all_to_all(lists, [at.of(2, seed=i) for i in range(at.size)])
        return output, lists

    calls = {f"moves {dtype}": lambda dtype=dtype: of_dtype(dtype) for dtype in DTYPES}
    return calls | {"strided": strided, "column": column, "rooted": rooted, "uneven": uneven}


def corners(at: Rank) -> dict[str, Callable[[], Any]]:
    """Complex tensors, empty ones, and negative views."""
    dist, zeros = at.dist, at.torch.zeros

    def complex_numbers() -> Any:
        x = at.of(3, dtype="complex64") * (1 + 2j)
        dist.all_reduce(x)
        dist.broadcast(x, 0)
        return x

    def empty() -> Any:
        x = zeros(0, 3)
        dist.all_reduce(x)
        return x

    def negative() -> Any:
        lists = [at.torch._neg_view(zeros(4)) for _ in range(at.size)]
        dist.all_gather(lists, at.torch._neg_view(at.of(4)))
        return [one.tolist() for one in lists]

    def leaves() -> list[str]:
        """A root's results are refused, and processes still agree where they are."""
        got = [zeros(2).requires_grad_() for _ in range(at.size)] if at.rank == 0 else None
        texts = []
        try:
            dist.gather(at.of(2), got, dst=0)
        except RuntimeError as error:
            texts.append(str(error))
        x = at.of(2)
        dist.all_reduce(x)
        return [*texts, str(x.tolist())]

    return {"complex": complex_numbers, "empty": empty, "negative": negative, "leaves": leaves}


def works(at: Rank) -> dict[str, Callable[[], Any]]:
    """Works, futures, several at once."""
    dist, torch = at.dist, at.torch

    def many() -> Any:
        tensors = [at.of(100, seed=i) for i in range(10)]
        pending = [dist.all_reduce(t, async_op=True) for t in tensors]
        waited = [work.wait() for work in pending]
        return [t.sum().item() for t in tensors], waited, [work.is_completed() for work in pending]

    def future() -> Any:
        x = at.of(3)
        work = dist.all_reduce(x, async_op=True)
        doubled = work.get_future().then(lambda f: f.value()[0] * 2).wait()
        return doubled, work.get_future().done(), work.get_future().wait()

    def together() -> Any:
        a, b = at.of(2), at.of(3)
        with dist._coalescing_manager():
            dist.all_reduce(a)
            dist.all_reduce(b)
        outputs = [torch.zeros(at.size * 2), torch.zeros(at.size)]
        with dist._coalescing_manager(async_ops=True) as manager:
            dist.all_gather_single(outputs[0], a)
            dist.all_gather_single(outputs[1], b[:1])
        manager.wait()
        return a, b, outputs

    def mixed() -> Any:
        with dist._coalescing_manager():
            dist.all_reduce(at.of(1))
            dist.reduce_scatter_single(torch.zeros(1), at.of(at.size))

    def gradients() -> Any:
        results = []
        for function in (
            lambda x: at.functional.all_reduce(x),
            lambda x: torch.stack(at.functional.all_gather(x)),
            lambda x: at.functional.broadcast(x, 0),
            lambda x: at.traced.all_reduce(x, "sum", dist.group.WORLD),
            lambda x: at.traced.all_gather_single(x, 0, dist.group.WORLD),
            lambda x: at.traced.reduce_scatter_single(x, "sum", 0, dist.group.WORLD),
        ):
            x = at.of(2 * at.size).requires_grad_()
            y = function(x)
            (y * (at.rank + 1)).sum().backward()
            results.append((y.detach() * 1, x.grad))
        return results

    return {"many": many, "future": future, "together": together, "mixed": mixed, "gradients": gradients}


def messages(at: Rank) -> dict[str, Callable[[], Any]]:
    """From one rank to another, and objects."""
    dist, torch = at.dist, at.torch
    following, before = (at.rank + 1) % at.size, (at.rank - 1) % at.size

    def circle() -> Any:
        x, y = at.of(4), torch.zeros(4)
        works = dist.batch_isend_irecv([dist.P2POp(dist.isend, x, following), dist.P2POp(dist.irecv, y, before)])
        return [work.wait() for work in works], y

    def tagged() -> Any:
        a, b = torch.zeros(1), torch.zeros(1)
        if at.rank == 0:
            dist.isend(at.of(1, seed=1), 1, tag=7).wait()
            dist.isend(at.of(1, seed=2), 1, tag=8).wait()
        elif at.rank == 1:
            return dist.recv(a, 0, tag=7), a, dist.recv(b, tag=8), b
        return None

    def objects() -> Any:
        gathered, one, broad = [None] * at.size, [None], [at.rank, {"a": "b" * at.rank}]
        dist.all_gather_object(gathered, {"rank": at.rank, "text": "x" * at.rank})
        dist.scatter_object_list(one, [[i] * i for i in range(at.size)] if at.rank == 0 else None)
        dist.broadcast_object_list(broad, src=1)
        rooted = [None] * at.size if at.rank == 0 else None
        dist.gather_object((at.rank,), rooted)
        return str((gathered, one, broad, rooted))

    def subgroups() -> Any:
        own, everything = dist.new_subgroups(1)
        pair = dist.new_group([0, at.size - 1], group_desc="pair")
        x = at.of(2)
        if pair != dist.GroupMember.NON_GROUP_MEMBER:
            dist.all_reduce(x, group=pair)
        ranks = dist.get_process_group_ranks(pair) if at.rank in (0, at.size - 1) else None
        return own.size(), len(everything), x, dist.get_rank(pair), dist.get_world_size(pair), ranks

    def barriers() -> Any:
        dist.barrier()
        return dist.monitored_barrier(timeout=timedelta(seconds=60))

    def store() -> Any:
        store = dist.distributed_c10d._get_default_store()
        store.set(f"of{at.rank}", str(at.rank))
        return [store.get(f"of{i}").decode() for i in range(at.size)]

    return {
        "circle": circle,
        "tagged": tagged,
        "objects": objects,
        "subgroups": subgroups,
        "barriers": barriers,
        "store": store,
    }


def errors(at: Rank) -> dict[str, Callable[[], Any]]:
    """What is refused before anything is sent."""
    dist, torch = at.dist, at.torch
    one = torch.ones
    return {
        "no tensor": lambda: dist.all_reduce(3),
        "no list": lambda: dist.all_gather(one(1), one(1)),
        "short list": lambda: dist.all_gather([one(2)], one(2)),
        "other shapes": lambda: dist.all_gather([one(3)] * at.size, one(2)),
        "other dtypes": lambda: dist.all_gather([one(2).double()] * at.size, one(2)),
        "other dtype of one": lambda: dist.all_gather_single(one(2 * at.size).double(), one(2)),
        "no such root": lambda: dist.broadcast(one(1), at.size + 3),
        "no such root of reduce": lambda: dist.reduce(one(1), -1),
        "no root": lambda: dist.broadcast(one(1)),
        "two roots": lambda: dist.broadcast(one(1), src=0, group_src=0),
        "list at the wrong rank": lambda: dist.gather(one(1), [one(1)] * at.size, dst=(at.rank + 1) % at.size),
        "no list at the root": lambda: dist.gather(one(1), dst=at.rank),
        "wrong length at the root": lambda: dist.gather(one(1), [one(1)], dst=at.rank),
        "no list of the source": lambda: dist.scatter(one(1), src=at.rank),
        "short list of parts": lambda: dist.reduce_scatter(one(1), [one(1)]),
        "splits": lambda: dist.all_to_all_single(one(4), one(4), [1], [4]),
        "sum of splits": lambda: dist.all_to_all_single(one(4), one(4), [1] * at.size, [9] * at.size),
        "uneven list to all": lambda: dist.all_to_all([one(1)] * at.size, [one(i + 1) for i in range(at.size)]),
        "short list to all": lambda: dist.all_to_all([one(1)], [one(1)]),
        "send to oneself": lambda: dist.send(one(1), at.rank),
        "no such operation": lambda: dist.P2POp(dist.all_reduce, one(1), 0),
        "no works": lambda: dist.batch_isend_irecv([1]),
        "message of columns": lambda: dist.isend(at.of(3, 2).t(), (at.rank + 1) % at.size),
        "receiving into columns": lambda: dist.irecv(at.of(3, 2).t(), (at.rank + 1) % at.size),
        "product of complex": lambda: dist.all_reduce(one(1).to(torch.complex64), op=dist.ReduceOp.PRODUCT),
        "bits of floats": lambda: dist.all_reduce(one(1), op=dist.ReduceOp.BAND),
        "twice": lambda: dist.init_process_group("gloo"),
        "rank out of range": lambda: dist.new_group([at.size]),
        "ranks twice": lambda: dist.new_group([0, 0]),
        "too many ranks": lambda: dist.new_group(list(range(at.size + 1))),
        "no time": lambda: dist.new_group([0], timeout=3),
        "subgroups that do not fit": lambda: dist.new_subgroups(at.size + 1),
        "no ranks": lambda: dist.new_subgroups_by_enumeration([]),
        "no device": lambda: dist.split_group(split_ranks=[[0]]),
        "no such group": lambda: dist.destroy_process_group(5),
        "group of nobody": lambda: dist.get_global_rank(5, 0),
        "float time": lambda: dist.monitored_barrier(timeout="soon"),
    }


def _end_together(at: Rank) -> None:
    """Let rank 0, which has the store, end last. No collective: after a refused one gloo's next may tell its error."""
    store = at.dist.distributed_c10d._get_default_store()
    store.add("ended", 1)
    while at.rank == 0 and store.add("ended", 0) < at.size:
        time.sleep(0.02)


SCENARIOS = (reductions, orders, layouts, moves, corners, works, messages, errors)


def main() -> None:
    """Run all scenarios and print what came of them."""
    warnings.simplefilter("ignore")
    at = Rank(sys.argv[1])
    outcomes: dict[str, Any] = {}
    for scenario in SCENARIOS:
        for name, call in scenario(at).items():
            try:
                outcomes[name] = shown(call())
            except Exception as error:  # noqa: BLE001 - errors are compared, too
                outcomes[name] = f"{type(error).__name__}: {error}"
    _end_together(at)
    at.dist.destroy_process_group()
    print("OUTCOMES " + json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main()
