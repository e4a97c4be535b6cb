"""Collectives in functions that are compiled: rank 0 writes graphs and results of all. Arguments: library, file."""

import importlib
import json
import sys
import warnings

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
functional = importlib.import_module(f"{library}.distributed._functional_collectives")
warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()


def reduced(x):
    """Reduce in place what was computed."""
    y = x * 2
    dist.all_reduce(y)
    return y + 1


def largest(x):
    """Reduce an argument in place."""
    dist.all_reduce(x, op=dist.ReduceOp.MAX, group=dist.group.WORLD)
    return x * rank


def moved(x):
    """Gather and scatter."""
    whole = torch.empty(4 * size)
    part = torch.empty(4 // size)
    dist.all_gather_into_tensor(whole, x)
    dist.reduce_scatter_tensor(part, x)
    return whole.sum() + part.sum()


def exchanged(x):
    """Exchange parts."""
    other = torch.empty(4)
    dist.all_to_all_single(other, x)
    return other + x


def functionally(x):
    """Gather and reduce without writing."""
    y = functional.all_reduce(x, "avg", dist.group.WORLD)
    z = functional.all_gather_tensor(x.view(2, 2), 1, dist.group.WORLD)
    return y, z * 2


def listed(x):
    """Gather into a list."""
    parts = [torch.empty(4) for _ in range(size)]
    dist.all_gather(parts, x)
    return torch.stack(parts)


def sent(x):
    """Copy from a rank, which no graph holds."""
    y = x + 1
    dist.broadcast(y, 0)
    return y * 2


def waited(x):
    """Wait for a reduction, which no graph holds."""
    y = x + 1
    dist.all_reduce(y, async_op=True).wait()
    return y * 2


def compiled(function, fullgraph=True):
    """Return what a compiled function gives, its argument, and its graphs."""
    graphs = []

    def backend(graph, inputs):
        graphs.append("\n".join(line.rstrip() for line in graph.code.splitlines() if line.strip()))
        return graph

    x = torch.arange(4.0) * (rank + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = torch.compile(function, backend=backend, fullgraph=fullgraph)(x)
    made = made if isinstance(made, tuple) else (made,)
    return [[one.tolist() for one in made], x.tolist(), graphs]


def refused(function):
    """Return the first lines of what a graph that must be whole raises."""
    try:
        compiled(function)
    except torch._dynamo.exc.Unsupported as error:
        return str(error).splitlines()[0]
    return ""


results = {f.__name__: compiled(f) for f in (reduced, largest, moved, exchanged)}
results |= {f.__name__: compiled(f)[:2] for f in (functionally, listed)}  # names in graphs are those of torch's lines
results |= {f.__name__: compiled(f, fullgraph=False)[:2] for f in (sent, waited)}
results["refused"] = refused(waited)
everybody = [None] * size
dist.all_gather_object(everybody, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(everybody, stream)
dist.destroy_process_group()
