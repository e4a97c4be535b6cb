"""Gradients that go through collectives, of all ranks. Arguments: library, file."""

import importlib
import json
import sys
import warnings

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
functional = importlib.import_module(f"{library}.distributed.nn.functional")
traced = importlib.import_module(f"{library}.distributed._functional_collectives")
warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
half = dist.new_group([0, 1])


def leaf(*shape):
    """Return numbers of this rank's own that want a gradient."""
    generator = torch.Generator().manual_seed(rank)
    return torch.rand(*shape, generator=generator).requires_grad_()


def leaves(count, *shape):
    """Return several."""
    return [leaf(*shape).detach().mul(1 + k).requires_grad_() for k in range(count)]


def told(inputs, outputs, twice=False):
    """Return outputs, and the gradients of a sum in which every number has another weight."""
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    total = sum((o * o * torch.arange(1.0, o.numel() + 1).view(o.shape) * (rank + 1)).sum() for o in outputs)
    grads = torch.autograd.grad(total, inputs, create_graph=twice)
    found = [[v.tolist() for v in outputs], [g.tolist() for g in grads]]
    if twice and any(g.requires_grad for g in grads):
        found.append([g.tolist() for g in torch.autograd.grad(sum((g * g).sum() for g in grads), inputs)])
    return found


def of_one(function, *shape, twice=True):
    """Call a function of one tensor."""
    given = leaf(*(shape or (2, 3)))
    return told([given], function(given), twice)


def of_list(function, count=size, twice=True):
    """Call a function of a tensor for each rank."""
    given = leaves(count, 2)
    return told(given, function(given), twice)


def uneven():
    """Send rank 0 less than the others."""
    sent = [1, *[2] * (size - 1)]
    given = leaf(sum(sent), 2)
    received = [sent[rank]] * size
    output = torch.empty(sum(received), 2)
    return told([given], functional.all_to_all_single(output, given, received, sent))


def in_half(function):
    """Call a function in a group that some ranks are not in."""
    return of_one(function, twice=False) if rank < 2 else []


def refused():
    """Return what the gradient of a gather into one tensor says."""
    given = leaf(2)
    output = functional._all_gather_base(torch.empty(2 * size), given)
    try:
        output.sum().backward()
    except RuntimeError as error:
        return str(error)
    return ""


results = {
    "all_reduce": of_one(functional.all_reduce),
    "all_reduce of a strided tensor": of_one(lambda x: functional.all_reduce(x.t())),
    "average": of_one(lambda x: functional.all_reduce(x, op=dist.ReduceOp.AVG)),
    "broadcast": of_one(lambda x: functional.broadcast(x, size - 1)),
    "reduce": of_one(lambda x: functional.reduce(x, 0) * (rank == 0)),
    "all_gather": of_one(lambda x: functional.all_gather(x)),
    "gather": of_one(lambda x: functional.gather(x, 1)),
    "scatter": of_list(lambda xs: functional.scatter(xs, 1)),
    "reduce_scatter": of_list(lambda xs: functional.reduce_scatter(torch.empty(2), xs)),
    "all_to_all": of_list(lambda xs: functional.all_to_all([torch.empty(2) for _ in xs], xs)),
    "all_to_all_single": of_one(lambda x: functional.all_to_all_single(torch.empty_like(x), x), size, 2),
    "uneven": uneven(),
    "all_reduce in a group": in_half(lambda x: functional.all_reduce(x, group=half)),
    "all_gather in a group": in_half(lambda x: functional.all_gather(x, group=half)),
    "all_gather_tensor_autograd": of_one(lambda x: traced.all_gather_tensor_autograd(x, 0, dist.group.WORLD)),
    "reduce_scatter_tensor_autograd": of_one(
        lambda x: traced.reduce_scatter_tensor_autograd(x, "sum", 0, dist.group.WORLD), 2 * size, 2
    ),
    "all_to_all_single_autograd": of_one(
        lambda x: traced.all_to_all_single_autograd(x, None, None, dist.group.WORLD), size, 2
    ),
    "refused": refused(),
}
everybody = [None] * size
dist.all_gather_object(everybody, results)
if rank == 0:
    with open(target, "w") as stream:
        json.dump(everybody, stream)
dist.destroy_process_group()
