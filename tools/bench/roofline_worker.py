"""What the roofline is made of: `python roofline_worker.py CASE:MODULE...` prints a JSON line of peaks, then one a case.

Runs our side alone. A case's operators are seen by a dispatch mode: products and convolutions by their operations,
all that moves data by its bytes; views move none.
"""

import gc
import importlib
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from worker import repeat

import mindtorch_proxy

FLOATS = 4  # bytes
SETS = (3 << 15, 3 << 17, 3 << 20, 3 << 23, 3 << 26)  # bytes that an addition touches
TURNS = 5
SECONDS = 0.05
# Of their source no more is read than is written.
PICKING = ("embedding", "index", "gather", "take", "slice_backward", "scatter")
MAKING_NOTHING = ("empty", "new_empty")


def seconds(step: Callable[[], object]) -> float:
    """Return the least CPU time of a call over some turns."""
    repeat(step, 2)
    begin, count = time.process_time(), 0
    while count == 0 or (time.process_time() - begin < SECONDS and count < 10_000):
        step()
        count += 1
    best = math.inf
    for _ in range(TURNS):
        gc.collect()
        begin = time.process_time()
        repeat(step, count)
        best = min(best, (time.process_time() - begin) / count)
    return best


def peaks(torch: Any) -> dict[str, Any]:
    """Measure operations a second of products by dtype, bytes a second by working set, and what a small call takes."""
    found: dict[str, Any] = {"products": {}, "bytes": [], "call": 0.0}
    for name, size in (("float32", 1024), ("float64", 768), ("bfloat16", 512)):
        left, right = (torch.randn(size, size).to(getattr(torch, name)) for _ in range(2))
        found["products"][name] = 2 * size**3 / seconds(lambda left=left, right=right: left @ right)
    for touched in SETS:
        left, right, out = (torch.zeros(touched // 3 // FLOATS) for _ in range(3))
        spent = seconds(lambda left=left, right=right, out=out: torch.add(left, right, out=out))
        found["bytes"].append([touched, touched / spent])
    small = torch.zeros(16)
    found["call"] = seconds(lambda: torch.add(small, small))
    return found


def tensors(values: Any, kind: type) -> Iterator[Any]:
    """Yield the tensors of nested sequences."""
    if isinstance(values, kind):
        yield values
    elif isinstance(values, (list, tuple)):
        for value in values:
            yield from tensors(value, kind)


def touched(tensor: Any) -> int:
    """Return the bytes of a tensor's elements, those once that an expansion repeats."""
    extents = (extent for extent, step in zip(tensor.shape, tensor.stride(), strict=True) if step)
    return math.prod(extents) * tensor.element_size() if tensor.numel() else 0


def counting_mode(torch: Any) -> Any:
    """Return a mode that lists (dtype, operations, bytes) of each operator that is no view."""
    dispatch = importlib.import_module("torch.utils._python_dispatch")
    registry = importlib.import_module("torch.utils.flop_counter").flop_registry

    class Counting(dispatch.TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.seen: list[tuple[str, int, int]] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            out = func(*args, **kwargs)
            name = func._schema.name.partition("::")[2]
            if func.is_view or name.startswith(MAKING_NOTHING):
                return out
            results = [touched(one) for one in tensors(out, torch.Tensor)]
            given = [touched(one) for one in tensors([*args, *kwargs.values()], torch.Tensor)]
            if any(word in name for word in PICKING):
                most = max([*results, *given[1:]], default=0)
                given = [min(one, most) for one in given]
            count = registry.get(func._overloadpacket)
            operations = count(*args, **kwargs, out_val=out) if count else 0
            first = next(tensors(out, torch.Tensor), None)
            self.seen.append(
                (str(getattr(first, "dtype", "")).removeprefix("torch."), operations, sum(given + results))
            )
            return out

    return Counting()


def main() -> None:
    """Measure the peaks, then every case that is named."""
    warnings.simplefilter("ignore")
    mindtorch_proxy.install()
    torch = importlib.import_module("torch")
    print(json.dumps(peaks(torch)), flush=True)
    for given in sys.argv[1:]:
        name, _, module = given.partition(":")
        try:
            torch.manual_seed(0)
            step = getattr(importlib.import_module(module), name)()
            repeat(step, 3)
            mode = counting_mode(torch)
            with mode:
                step()
            answer = {"name": name, "seconds": seconds(step), "seen": mode.seen}
        except Exception as error:  # noqa: BLE001 - a case that cannot run here is a result
            answer = {"name": name, "error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
