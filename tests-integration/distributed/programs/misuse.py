"""Wrong uses of groups, one after another. Arguments: library, file. Each rank tells what it was refused with.

Only what is refused before anything is sent, as another rank does the same with other numbers at the same time.
"""

import importlib
import json
import os
import re
import sys
from datetime import timedelta

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")


def said(action):
    """Return type and text of what an action raises, or what it returns."""
    try:
        value = action()
    except Exception as error:  # noqa: BLE001 - whatever is raised is told
        return [type(error).__name__, plain(str(error))]
    return ["", repr(value) if isinstance(value, (int, str, bool, tuple)) or value is None else type(value).__name__]


def plain(text):
    """Return a text without what differs from run to run, or names the machine that torch was built on."""
    text = re.sub(r"Exception raised from.*", "", text, flags=re.S).replace(
        "/__w/pytorch/pytorch/third_party/gloo/", ""
    )
    text = re.sub(r"0x[0-9a-f]+", "0x", text.replace("mindtorch.", "torch."))
    return re.sub(r"(?<=:)\d{4,5}\b", "PORT", text).strip()


before = {
    "rank without group": lambda: dist.get_rank(),
    "size without group": lambda: dist.get_world_size(),
    "reduce without group": lambda: dist.all_reduce(torch.ones(1)),
    "barrier without group": lambda: dist.barrier(),
    "backend without group": lambda: dist.get_backend(),
    "destroy without group": lambda: dist.destroy_process_group(),
    "group without world": lambda: dist.new_group([0]),
    "unknown backend": lambda: dist.init_process_group("nosuch"),
    "backend no text": lambda: dist.init_process_group(3),
    "method and store": lambda: dist.init_process_group(
        "gloo", init_method="env://", store=dist.HashStore(), rank=0, world_size=1
    ),
    "store without rank": lambda: dist.init_process_group("gloo", store=dist.HashStore()),
    "store without size": lambda: dist.init_process_group("gloo", store=dist.HashStore(), rank=0),
    "unknown scheme": lambda: dist.init_process_group("gloo", init_method="foo://x", rank=0, world_size=1),
    "tcp without rank": lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1", world_size=2),
    "tcp without size": lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1", rank=0),
    "tcp without port": lambda: dist.init_process_group("gloo", init_method="tcp://127.0.0.1", rank=0, world_size=1),
    "file without path": lambda: dist.init_process_group("gloo", init_method="file://", rank=0, world_size=1),
    "method no text": lambda: dist.init_process_group("gloo", init_method=3),
    "timeout no delta": lambda: dist.init_process_group("gloo", timeout=3),
    "rank beyond world": lambda: dist.init_process_group("gloo", store=dist.HashStore(), rank=5, world_size=2),
    "negative rank": lambda: dist.init_process_group("gloo", store=dist.HashStore(), rank=-3, world_size=2),
}


def without(name, action):
    """Run with a variable of the environment missing."""
    kept = os.environ.pop(name)
    try:
        return action()
    finally:
        os.environ[name] = kept


def with_value(name, value, action):
    kept = os.environ[name]
    os.environ[name] = value
    try:
        return action()
    finally:
        os.environ[name] = kept


for variable in ("MASTER_ADDR", "MASTER_PORT", "RANK", "WORLD_SIZE"):
    before[f"no {variable}"] = lambda variable=variable: without(variable, lambda: dist.init_process_group("gloo"))
before["RANK no number"] = lambda: with_value("RANK", "x", lambda: dist.init_process_group("gloo"))
before["MASTER_PORT no number"] = lambda: with_value("MASTER_PORT", "x", lambda: dist.init_process_group("gloo"))

told = {"before": {name: said(action) for name, action in before.items()}}
dist.init_process_group("gloo", timeout=timedelta(seconds=60))
rank, size = dist.get_rank(), dist.get_world_size()
other = 1 - rank
one = torch.ones(2)
mine = [dist.new_group([r]) for r in range(size)]
foreign, own = mine[other], mine[rank]
pair = dist.new_group([1, 0])

alone = {
    "init twice": lambda: dist.init_process_group("gloo"),
    "tensor no tensor": lambda: dist.all_reduce([1.0]),
    "list no list": lambda: dist.all_gather(one, one),
    "list of numbers": lambda: dist.all_gather([1, 2], one),
    "short list": lambda: dist.all_gather([one], one),
    "other shapes in list": lambda: dist.all_gather([torch.ones(3), torch.ones(2)], one),
    "other dtypes in list": lambda: dist.all_gather([torch.ones(2).long(), torch.ones(2)], one),
    "source out of range": lambda: dist.broadcast(one, 7),
    "negative source": lambda: dist.broadcast(one, -1),
    "no source": lambda: dist.broadcast(one),
    "both sources": lambda: dist.broadcast(one, 0, group_src=0),
    "target out of range": lambda: dist.reduce(one, 5),
    "send to self": lambda: dist.send(one, rank),
    "send no tensor": lambda: dist.send(3, other),
    "no P2P ops": lambda: dist.batch_isend_irecv([]),
    "P2P of numbers": lambda: dist.batch_isend_irecv([1]),
    "P2P of another op": lambda: dist.P2POp(dist.broadcast, one, other),
    "P2P without peer": lambda: dist.P2POp(dist.isend, one),
    "foreign reduce": lambda: dist.all_reduce(one, group=foreign),
    "foreign gather": lambda: dist.all_gather([one], one, group=foreign),
    "foreign broadcast": lambda: dist.broadcast(one, other, group=foreign),
    "foreign barrier": lambda: dist.barrier(group=foreign),
    "foreign rank": lambda: dist.get_rank(foreign),
    "foreign size": lambda: dist.get_world_size(foreign),
    "foreign backend": lambda: dist.get_backend(foreign),
    "foreign objects": lambda: dist.all_gather_object([None], 3, group=foreign),
    "foreign object list": lambda: dist.broadcast_object_list([None], other, group=foreign),
    "foreign send": lambda: dist.send(one, other, group=foreign),
    "foreign destroy": lambda: dist.destroy_process_group(foreign),
    "source outside group": lambda: dist.broadcast(one, other, group=own),
    "global rank": lambda: dist.get_global_rank(own, 1),
    "group rank": lambda: dist.get_group_rank(own, other),
    "group rank of foreign": lambda: dist.get_group_rank(foreign, 0),
    "ranks of foreign": lambda: dist.get_process_group_ranks(foreign),
    "new group of a stranger": lambda: dist.new_group([0, 5]),
    "new group twice same rank": lambda: dist.new_group([0, 0]),
    "new group too large": lambda: dist.new_group([0, 1, 2]),
    "new group of text": lambda: dist.new_group("ab"),
    "subgroups of 3": lambda: dist.new_subgroups(3),
    "subgroups of 0": lambda: dist.new_subgroups(0),
    "subgroups overlap": lambda: dist.new_subgroups_by_enumeration([[0, 1], [1]]),
    "subgroups none": lambda: dist.new_subgroups_by_enumeration([]),
    "reduce int16": lambda: dist.all_reduce(torch.ones(2, dtype=torch.int16)),
    "reduce bool avg": lambda: dist.all_reduce(torch.ones(2), op=dist.ReduceOp.PREMUL_SUM),
    "reduce bits of floats": lambda: dist.all_reduce(one, op=dist.ReduceOp.BAND),
    "reduce complex max": lambda: dist.all_reduce(torch.ones(2, dtype=torch.complex64), op=dist.ReduceOp.MAX),
    "op no op": lambda: dist.all_reduce(one, op="sum"),
    "op number": lambda: dist.all_reduce(one, op=3),
    "sparse reduce max": lambda: dist.all_reduce(torch.ones(2).to_sparse(), op=dist.ReduceOp.MAX),
    "reduce meta": lambda: dist.all_reduce(torch.ones(2, device="meta")),
    "gather into few": lambda: dist.all_gather_into_tensor(torch.ones(3), one),
    "gather into dtype": lambda: dist.all_gather_into_tensor(torch.ones(4).double(), one),
    "reduce scatter list short": lambda: dist.reduce_scatter(torch.ones(2), [torch.ones(2)]),
    "all to all splits": lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2), [1, 2], [1, 1]),
    "all to all dtype": lambda: dist.all_to_all_single(torch.ones(2), torch.ones(2).double()),
    "all to all list": lambda: dist.all_to_all([one], [one]),
    "all to all no list": lambda: dist.all_to_all(one, one),
    "scatter list without source": lambda: dist.scatter(one, [one, one], src=other),
    "scatter no list": lambda: dist.scatter(one, None, src=rank),
    "scatter short list": lambda: dist.scatter(one, [one], src=rank),
    "scatter other shapes": lambda: dist.scatter(one, [torch.ones(3), one], src=rank),
    "gather list elsewhere": lambda: dist.gather(one, [one, one], dst=other),
    "gather no list": lambda: dist.gather(one, None, dst=rank),
    "gather short list": lambda: dist.gather(one, [one], dst=rank),
    "gather list shapes": lambda: dist.gather(one, [torch.ones(3), one], dst=rank),
    "objects no pickle": lambda: dist.broadcast_object_list([lambda: 0], src=rank),
    "scatter objects no list": lambda: dist.scatter_object_list(None, [1, 2], src=rank),
    "scatter objects empty": lambda: dist.scatter_object_list([], [1, 2], src=rank),
    "gather objects list elsewhere": lambda: dist.gather_object(1, [None, None], dst=other),
    "monitored wait number": lambda: dist.monitored_barrier(timeout=3),
    "split group": lambda: dist.split_group(),
    "backend of device": lambda: dist.get_default_backend_for_device("xla"),
    "coalesced dtypes": lambda: dist.all_reduce_coalesced([one, one.double()]),
    "coalesced no list": lambda: dist.all_reduce_coalesced(3),
    "group no group": lambda: dist.all_reduce(one, group="gloo"),
    "unknown argument": lambda: dist.all_reduce(one, ops=1),
    "world of no group": lambda: dist.get_world_size(dist.GroupMember.NON_GROUP_MEMBER),
}
told["alone"] = {}
for name, action in alone.items():
    told["alone"][name] = said(action)

work = dist.all_reduce(torch.ones(2), async_op=True)
told["works"] = {
    "wait": said(lambda: work.wait()),
    "wait again": said(lambda: work.wait()),
    "completed": said(lambda: work.is_completed()),
    "success": said(lambda: work.is_success()),
    "exception": said(lambda: work.exception()),
    "source": said(lambda: work.source_rank()),
    "result": said(lambda: [one.tolist() for one in work.result()].__repr__()),
    "wait number": said(lambda: work.wait(3)),
    "future": said(lambda: repr([one.tolist() for one in work.get_future().wait()])),
    "future result": said(lambda: work.get_future_result()),
    "attribute": said(lambda: work.nothing),
}
dist.barrier()
if rank == 0:
    request = dist.irecv(torch.zeros(2), 1)
    dist.send(one, 1)
    request.wait()
    told["messages"] = {
        "source": said(lambda: request.source_rank()),
        "completed": said(lambda: request.is_completed()),
    }
else:
    dist.recv(torch.zeros(2), 0)
    request = dist.isend(one, 0)
    request.wait()
    told["messages"] = {
        "source": said(lambda: request.source_rank()),
        "completed": said(lambda: request.is_completed()),
    }
dist.barrier()
dist.destroy_process_group(pair)
told["destroyed"] = {
    "reduce": said(lambda: dist.all_reduce(one, group=pair)),
    "rank": said(lambda: dist.get_rank(pair)),
    "size": said(lambda: dist.get_world_size(pair)),
    "again": said(lambda: dist.destroy_process_group(pair)),
    "backend": said(lambda: dist.get_backend(pair)),
}
dist.barrier()
dist.destroy_process_group()
told["after"] = {
    "reduce": said(lambda: dist.all_reduce(one)),
    "group": said(lambda: dist.all_reduce(one, group=own)),
    "rank": said(lambda: dist.get_rank()),
    "initialized": said(lambda: dist.is_initialized()),
    "again": said(lambda: dist.destroy_process_group()),
}
with open(f"{target}.{rank}" if rank else target, "w") as file:
    json.dump(told, file)
