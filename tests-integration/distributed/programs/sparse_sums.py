"""Sparse tensors and gradients summed over ranks. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
nn = torch.nn
dist.init_process_group("gloo")
rank = dist.get_rank()


def total(indices, values, size):
    """Return the sum of every rank's tensor, its number of entries, and whether it is in place."""
    tensor = torch.sparse_coo_tensor(indices, values, size)
    returned = dist.all_reduce(tensor)
    return [tensor.to_dense().tolist(), tensor.coalesce()._nnz(), returned]


def refused(action):
    """Return type and text of what an action raises."""
    try:
        action()
    except RuntimeError as error:
        return type(error).__name__, str(error)
    return None


def trained(**arguments):
    """Return the weights after some steps of an embedding with sparse gradients."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.EmbeddingBag(10, 4, mode="sum", sparse=True), nn.Linear(4, 1))
    wrapped = nn.parallel.DistributedDataParallel(model, **arguments)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.1)
    for step in range(3):
        optimizer.zero_grad()
        wrapped(torch.tensor([[rank, rank + step, 5]])).sum().backward()
        gradient = model[0].weight.grad
        optimizer.step()
    return [gradient.is_sparse, gradient.to_dense().tolist(), [p.tolist() for p in model.parameters()]]


told = {
    "rows": total([[rank, 2]], [1.0, 2.0 + rank], (4,)),
    "twice": total([[1, 1]], [1.0, 2.0], (3,)),
    "uneven": total([list(range(rank + 1))], [float(rank + 1)] * (rank + 1), (5,)),
    "none": total([[]] if rank else [[0]], [] if rank else [3.0], (2,)),
    "hybrid": total([[rank]], [[1.0, 2.0]], (3, 2)),
    "maximum": refused(lambda: dist.all_reduce(torch.ones(2).to_sparse(), op=dist.ReduceOp.MAX)),
    "trained": trained(),
    "unused found": trained(find_unused_parameters=True),
}
if rank == 0:
    with open(target, "w") as file:
        json.dump(told, file)
dist.barrier()
dist.destroy_process_group()
