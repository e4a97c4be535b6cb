"""Every collective of `hccl` on two simulated NPUs; rank 0 writes what each rank got and what it should be."""

import json
import sys

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch_npu import simulator


def collectives(rank, size, device):
    """Return the result of each."""
    x = torch.arange(4.0, device=device) + rank
    found = {}
    y = x * 2
    work = dist.all_reduce(y, async_op=True)
    beside = x + 1  # the default stream goes on
    work.wait()
    found["all_reduce"] = (y + beside).tolist()
    dist.all_reduce(y, op=dist.ReduceOp.AVG)
    found["mean"] = y.tolist()
    column = torch.ones(2, 2, device=device)[:, rank]
    dist.all_reduce(column)
    found["column"] = column.tolist()
    flags = torch.tensor([rank == 0, False], device=device)
    dist.all_reduce(flags)
    found["bool"] = flags.tolist()
    half = torch.ones(2, device=device, dtype=torch.bfloat16)
    dist.all_reduce(half)
    found["bfloat16"] = half.float().tolist()
    whole, part = torch.empty(8, device=device), torch.empty(2, device=device)
    dist.all_gather_single(whole, x)
    dist.reduce_scatter_single(part, x)
    found["all_gather"], found["reduce_scatter"] = whole.tolist(), part.tolist()
    listed = [torch.empty(4, device=device) for _ in range(size)]
    dist.all_gather(listed, x)
    found["list"] = [one.tolist() for one in listed]
    turned = torch.empty(4, device=device)
    dist.all_to_all_single(turned, x)
    found["all_to_all"] = turned.tolist()
    mine = torch.empty(2, device=device)
    dist.scatter(mine, [torch.full((2,), float(r), device=device) for r in range(size)] if rank == 0 else None, src=0)
    dist.reduce(x, 1)
    found["scatter"], found["reduce"] = mine.tolist(), x.tolist() if rank == 1 else None
    dist.broadcast(x, 1)
    found["broadcast"] = x.tolist()
    other = torch.empty_like(x)
    operations = [dist.P2POp(dist.isend, x * (rank + 1), 1 - rank), dist.P2POp(dist.irecv, other, 1 - rank)]
    for one in dist.batch_isend_irecv(operations):
        one.wait()
    found["message"] = other.tolist()
    objects: list = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    found["objects"] = objects
    dist.barrier()
    return found


def expected(rank):
    """Return what each result should be."""
    total = [1.0, 3.0, 5.0, 7.0]
    x = [float(n + rank) for n in range(4)]
    return {
        "all_reduce": [2 * t + n + 1 for t, n in zip(total, x, strict=True)],
        "mean": [2 * t for t in total],
        "column": [2.0, 2.0],
        "bool": [True, False],
        "bfloat16": [2.0, 2.0],
        "all_gather": [0.0, 1.0, 2.0, 3.0, 1.0, 2.0, 3.0, 4.0],
        "reduce_scatter": total[2 * rank : 2 * rank + 2],
        "list": [[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]],
        "all_to_all": [0.0, 1.0, 1.0, 2.0] if rank == 0 else [2.0, 3.0, 3.0, 4.0],
        "scatter": [float(rank)] * 2,
        "reduce": total if rank == 1 else None,
        "broadcast": total,
        "message": [t * (2 - rank) for t in total],
        "objects": [{"rank": 0}, {"rank": 1}],
    }


def refusal(call):
    """Return the text of a RuntimeError."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


def main():
    """Try all, and let rank 0 write."""
    dist.init_process_group("hccl")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.npu.set_device(0)
    again = dist.new_group([0, 1])
    one = torch.ones(1, device="npu")
    same = refusal(lambda: dist.all_reduce(one, group=again))
    torch.npu.set_device(rank)
    device = torch.device("npu", rank)
    values = collectives(rank, size, device)
    refused = refusal(lambda: dist.all_reduce(torch.ones(1, device=device), op=dist.ReduceOp.BAND))
    mine = {"values": values, "races": simulator.machine().races.found, "refused": refused, "same device": same}
    found: list = [None] * size
    dist.all_gather_object(found, mine)
    if rank == 0:
        with open(sys.argv[2], "w") as file:
            json.dump({"0": found[0], "1": found[1], "expected": [expected(0), expected(1)]}, file)
    dist.destroy_process_group()


main()
