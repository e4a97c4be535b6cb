"""Results of functional collectives, which wait when they are used, of all ranks. Arguments: library, file."""

import copy
import importlib
import json
import re
import sys
import warnings

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
traced = importlib.import_module(f"{library}.distributed._functional_collectives")
modes = importlib.import_module(f"{library}.utils._python_dispatch")
mesh_of = importlib.import_module(f"{library}.distributed.device_mesh").init_device_mesh
dist.init_process_group("gloo")
rank, size, world = dist.get_rank(), dist.get_world_size(), dist.group.WORLD
operators = torch.ops._c10d_functional


def values(*shape, dtype=torch.float32, grad=False):
    """Return this rank's numbers."""
    return (torch.arange(1, 9).view(shape or (4, 2)).to(dtype) * (rank + 1)).requires_grad_(grad)


def told(value):
    """Return a result as JSON."""
    if isinstance(value, torch.Tensor):
        return [type(value).__name__, list(value.shape), value.requires_grad, value.detach().tolist()]
    if isinstance(value, (list, tuple)):
        return [told(one) for one in value]
    return value if isinstance(value, (int, float, bool)) or value is None else re.sub("0x[0-9a-f]+", "", str(value))


def as_list(found):
    """Return results as a list."""
    return list(found) if isinstance(found, (list, tuple)) else [found]


def used(function):
    """Return what a collective returns, what is waited for, gradients, and gradients of those."""
    given = values(grad=True)
    found = as_list(function(values()))
    again = as_list(function(values()))
    total = sum((one**3).sum() for one in as_list(function(given)))
    (grad,) = torch.autograd.grad(total, given)
    return [found, [one.wait() for one in again], total.detach(), grad]


COLLECTIVES = {
    "all_reduce": lambda x: traced.all_reduce(x, "SUM", world),
    "of a mesh": lambda x: traced.all_reduce(x, "sum", (mesh_of("cpu", (size,)), 0)),
    "of a name": lambda x: traced.all_reduce(x, "sum", world.group_name),
    "gather": lambda x: traced.all_gather_single(x, 0, world),
    "scatter": lambda x: traced.reduce_scatter_single(x, "sum", 0, world),
    "scatter columns": lambda x: traced.reduce_scatter_single(x, "sum", 1, world),
    "exchange": lambda x: traced.all_to_all_single(x, None, None, world),
    "exchange parts": lambda x: traced.all_to_all_single(x, [1 + 2 * rank] * 2, [1, 3], world),
    "permute": lambda x: traced.permute_tensor(x.reshape(-1), [1, 0], world),
    "several reduced": lambda x: traced.all_reduce_coalesced([x, x * 2], "sum", world),
    "several scattered": lambda x: traced.reduce_scatter_single_coalesced([x, x * 2], "sum", [0, 1], world),
}


def reduced():
    """Return a sum that may not be there yet."""
    return traced.all_reduce(values(), "sum", world)


def written(write):
    """Return a sum that was written to, and whether the write returned it."""
    found = reduced()
    return [write(found) is found, found]


def completed():
    """Return what a result says of itself."""
    found = reduced()
    before = found.completed
    return [before, found.trigger_wait() is found.elem, found.completed, found.__tensor_flatten__()]


USES = {
    "text": lambda: repr(reduced()),
    "numbers": lambda: [reduced().tolist(), str(reduced().numpy()), reduced().sum().item()],
    "completed": completed,
    "views": lambda: [reduced().view(-1), reduced()[0], reduced().t(), reduced().reshape(8), reduced().detach()],
    "rows": lambda: list(reduced()),
    "copies": lambda: [
        reduced().clone(),
        reduced() + 1,
        torch.cat([reduced(), reduced()]),
        reduced().to(torch.float64),
    ],
    "written": lambda: [written(lambda x: x.mul_(2)), written(lambda x: x.view(-1).add_(1).view(4, 2))],
    "deep copy": lambda: copy.deepcopy(reduced()),
    "chain": lambda: traced.all_gather_single(reduced(), 0, world),
    "waited": lambda: [traced.wait_tensor(reduced()), operators.wait_tensor(reduced())],
    "coerced": lambda: reduced().__coerce_same_metadata_as_tangent__(None, torch.Tensor),
    "gathered columns": lambda: traced.all_gather_single(values(), 1, world),
    "copy": lambda: traced.broadcast(values(), 1, world),
    "integers": lambda: traced.all_reduce(values(dtype=torch.int64), "max", world),
    "without memory": lambda: traced.all_reduce(torch.ones(2, device="meta"), "sum", world).shape,
    "parts": lambda: traced.all_to_all_single(values(), [2, 2], None, world),
    "parts of numbers": lambda: traced.all_to_all_single(values(), [2.0, 2], [2, 2], world),
    "uneven": lambda: traced.reduce_scatter_single(torch.ones(3), "sum", 0, world),
    "uneven columns": lambda: traced.reduce_scatter_single(torch.ones(2, 3), "sum", 1, world),
    "too many": lambda: traced.reduce_scatter_single_coalesced([torch.ones(2)], "sum", [0, 1], world),
    "one is uneven": lambda: traced.reduce_scatter_single_coalesced([torch.ones(3)], "sum", [0], world),
    "permuted table": lambda: traced.permute_tensor(values(), [1, 0], world),
    "gradient of a product": lambda: traced.all_reduce(values(grad=True), "product", world).sum().backward(),
}


def ring():
    """Send a tensor that no buffer holds, and receive one."""
    sent = traced.isend_inplace(torch.arange(300000.0) * (rank + 1), 1 - rank)
    came = torch.zeros(300000)
    received = traced.irecv_inplace(came, 1 - rank)
    return [sent, type(received).__name__, float(received.sum()), float(came.sum())]


def batch(*kinds):
    """Send and receive at once."""
    peers, tensors = [1 - rank] * len(kinds), [torch.ones(2) * (rank + 5), torch.zeros(2)]
    return traced.batch_p2p_ops_inplace(list(kinds), peers, [0] * len(kinds), tensors, world)


MESSAGES = {
    "ring": ring,
    "batch": lambda: batch("isend", "irecv"),
    "wrong": lambda: batch("isend", "throw"),
    "both": lambda: traced.isend_inplace(torch.ones(2), 1, group_dst=1),
    "both sources": lambda: traced.irecv_inplace(torch.ones(2), 1, group_src=1),
}


class Seen(modes.TorchDispatchMode):
    """Notes collectives and what waits for them."""

    def __init__(self):
        """Nothing was seen."""
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Note the operator."""
        if str(func).startswith("_c10d_functional") or "AsyncCollectiveTensor" in [kind.__name__ for kind in types]:
            self.names.append([str(func), [kind.__name__ for kind in types]])
        return func(*args, **(kwargs or {}))


def seen(function):
    """Return the operators that a mode sees, and the gradient."""
    given = values(grad=True)
    with Seen() as mode:
        (function(given) * 2).sum().backward()
    return [mode.names, given.grad]


def warned(name, *args):
    """Return the warnings of a call."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        getattr(traced, name)(*args)
    return [[one.category.__name__, str(one.message), one.filename == __file__] for one in found]


OTHERS = {
    **{f"seen {name}": lambda name=name: seen(COLLECTIVES[name]) for name in ("all_reduce", "gather", "scatter", "exchange")},
    "seen of several": lambda: seen(lambda x: traced.all_reduce_coalesced([x], "sum", world)[0]),
    "seen of several gathered": lambda: seen(lambda x: traced.all_gather_single_coalesced([x], world)[0]),
    "seen of several scattered": lambda: seen(
        lambda x: traced.reduce_scatter_single_coalesced([x], "sum", [1], world)[0]
    ),
    "older gather": lambda: warned("all_gather_tensor", values(), 0, world),
    "older scatter": lambda: warned("reduce_scatter_tensor_autograd", values(), "sum", 0, world),
    "older gather of several": lambda: warned("all_gather_into_tensor_coalesced", [values()], world),
    "ranks": lambda: warned("all_reduce", values(), "sum", list(range(size))),
}  # fmt: skip


def tried(function):
    """Return what comes of a call: a result, or an error."""
    try:
        return told(function())
    except (RuntimeError, ValueError, AssertionError, TypeError) as error:
        return [type(error).__name__, str(error)]


results = {name: tried(lambda function=function: used(function)) for name, function in COLLECTIVES.items()}
results |= {name: tried(function) for name, function in {**USES, **MESSAGES, **OTHERS}.items()}
gathered = [None] * size
dist.all_gather_object(gathered, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(gathered, stream)
dist.destroy_process_group()
