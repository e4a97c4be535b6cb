"""What `DistributedDataParallel` and mismatched collectives are refused with, on every rank. Arguments: library, file."""

import gc
import importlib
import json
import re
import sys
from datetime import timedelta

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
distributed = importlib.import_module(f"{library}.nn.parallel").DistributedDataParallel
nn = torch.nn
dist.init_process_group("gloo")
rank, group = dist.get_rank(), None


def DDP(module, **arguments):
    """Wrap a module in the scenario's group."""
    if "device_mesh" not in arguments:
        arguments["process_group"] = group
    return distributed(module, **arguments)


def said(action):
    """Return type and text of what an action raises, as one rank sees it."""
    try:
        value = action()
    except (RuntimeError, TypeError, ValueError) as error:
        text = re.sub(r"Exception raised from.*", "", str(error), flags=re.S)
        return [type(error).__name__, text.strip()]
    return ["", repr(value) if isinstance(value, (int, str)) else ""]


class Two(nn.Module):
    """Two layers, of which the last or the first may be left out, or called twice."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.third = nn.Linear(2, 2), nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x, used=("first", "second", "third")):
        for name in used:
            x = getattr(self, name)(x)
        return x


def steps(*calls, **arguments):
    """Train a step for every list of layers."""
    torch.manual_seed(0)
    model = DDP(Two(), **arguments)
    for used in calls:
        model(torch.ones(1, 2), used).sum().backward()


def twice():
    """Run forward twice before backward runs twice."""
    model = DDP(nn.Linear(2, 2))
    one, other = model(torch.ones(1, 2)).sum(), model(torch.ones(1, 2)).sum()
    one.backward()
    other.backward()


def shared(**arguments):
    """Give one parameter to two re-entrant backwards."""
    checkpoint = importlib.import_module(f"{library}.utils.checkpoint").checkpoint

    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            x = checkpoint(self.layer, x, use_reentrant=True)
            return checkpoint(self.layer, x, use_reentrant=True)

    model = DDP(Checkpointed(), **arguments)
    for _ in range(2):
        model(torch.ones(1, 2, requires_grad=True)).sum().backward()


def static_changes():
    """Use other layers than in the first step of a static graph."""
    steps(("first", "second"), ("first", "second", "third"), ("first", "second", "third"), static_graph=True)


def static_without_sums():
    """Let the first step of a static graph sum nothing."""
    model = DDP(Two(), static_graph=True)
    with model.no_sync():
        model(torch.ones(1, 2)).sum().backward()


def hooked(hook):
    """Train with a hook."""
    model = DDP(nn.Linear(2, 2))
    model.register_comm_hook(None, hook)
    model(torch.ones(1, 2)).sum().backward()


def wrong_annotation(state, bucket: int):
    """Take no bucket."""


def wrong_result(state, bucket) -> int:
    """Return no future."""
    return 1


def no_future(state, bucket):
    """Return no future."""
    return 3


def two_hooks():
    """Register two hooks."""
    model = DDP(nn.Linear(2, 2))
    for _ in "ab":
        model.register_comm_hook(None, lambda state, bucket: None)


frozen = nn.Linear(2, 2).requires_grad_(False)
wrapped = {
    "no gradient": lambda: DDP(frozen),
    "group and mesh": lambda: distributed(nn.Linear(2, 2), process_group=dist.group.WORLD, device_mesh=3),
    "devices": lambda: DDP(nn.Linear(2, 2), device_ids=[0]),
    "two devices": lambda: DDP(nn.Linear(2, 2), device_ids=[0, 1]),
    "output device": lambda: DDP(nn.Linear(2, 2), output_device=1),
    "uninitialized": lambda: DDP(nn.LazyLinear(2)),
    "negative": lambda: DDP(nn.Linear(2, 2), bucket_cap_mb=-1),
    "delayed": lambda: DDP(nn.Linear(2, 2), delay_all_reduce_named_params=[("a", frozen.weight)]),
    "shapes": lambda: DDP(nn.Linear(2, 2 + rank)),
    "count": lambda: DDP(nn.Sequential(*[nn.Linear(2, 2) for _ in range(1 + rank)])),
    "unused": lambda: steps(("first", "second"), ("first", "second")),
    "found": lambda: steps(("first", "second"), ("first", "second", "third"), find_unused_parameters=True),
    "called twice": lambda: steps(("first", "second", "third", "first")),
    "forward twice": twice,
    "reentrant": shared,
    "reentrant, unused": lambda: shared(find_unused_parameters=True),
    "reentrant, static": lambda: shared(static_graph=True),
    "static": static_changes,
    "static, first without sums": static_without_sums,
    "hook": lambda: hooked(3),
    "hook's bucket": lambda: hooked(wrong_annotation),
    "hook's result": lambda: hooked(wrong_result),
    "no future": lambda: hooked(no_future),
    "two hooks": two_hooks,
    "sync batch norm": lambda: DDP(nn.SyncBatchNorm(2)),
}
ones, both = torch.ones(2), [torch.ones(2) for _ in range(2)]
compared = {
    "kinds": lambda: dist.all_reduce(ones, group=group) if rank else dist.broadcast(ones, 0, group=group),
    "shapes": lambda: dist.all_reduce(torch.ones(2 + rank), group=group),
    "dimensions": lambda: dist.all_reduce(torch.ones((2, 1) if rank else (2,)), group=group),
    "dtypes": lambda: dist.all_reduce(torch.ones(2, dtype=torch.float64 if rank else torch.float32), group=group),
    "gather": lambda: dist.all_gather([torch.empty(2 + rank) for _ in both], torch.ones(2 + rank), group=group),
    "count of calls": lambda: (
        [dist.all_reduce(torch.ones(3), group=group), dist.barrier(group=group)] if rank else dist.barrier(group=group)
    ),
    "scatter": lambda: dist.scatter(torch.empty(2 + rank), [torch.ones(2)] * 2 if rank == 0 else None, group=group),
    "same": lambda: dist.all_reduce(torch.ones(2), group=group),
    "absent": lambda: rank or dist.all_reduce(ones, group=group),
    "all_to_all, kinds": lambda: (
        dist.all_to_all_single(ones, ones.clone(), group=group) if rank else dist.barrier(group=group)
    ),
    "next": lambda: [dist.barrier(group=group), dist.all_reduce(torch.ones(2 + rank), group=group)],
}
results = {"wrapped": {}, "compared": {}}
store = dist.distributed_c10d._get_default_store()
for part, scenarios in (("wrapped", wrapped), ("compared", compared)):
    for name, action in scenarios.items():
        group = dist.new_group(timeout=timedelta(seconds=3))
        store.set(f"{part}/{name}/{rank}", json.dumps(said(action)))
        results[part][name] = [json.loads(store.get(f"{part}/{name}/{other}")) for other in range(2)]
    dist.set_debug_level(dist.DebugLevel.DETAIL)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
gc.collect()  # models stand in cycles and hold their groups, whose threads would outlive this line
dist.destroy_process_group()
