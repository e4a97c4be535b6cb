"""Train with communication of the program's own; rank 0 writes losses and calls. Arguments: library, file."""

import importlib
import json
import sys

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
fsdp = importlib.import_module(f"{library}.distributed.fsdp")
api = importlib.import_module(f"{library}.distributed.fsdp._fully_shard._fsdp_api")
nn = torch.nn
calls = []


class Gathering(api.AllGather):
    """Counts what it gathers."""

    def allocate(self, size, *, dtype, device):
        calls.append(["memory", list(size), str(dtype).rpartition(".")[2]])
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor, input_tensor, group, async_op=False):
        calls.append(["gather", list(output_tensor.shape), list(input_tensor.shape), async_op])
        return dist.all_gather_single(output_tensor, input_tensor, group=group, async_op=async_op)


class Reducing(api.ReduceScatter):
    """Counts what it reduces."""

    def allocate(self, size, *, dtype, device):
        calls.append(["memory", list(size), str(dtype).rpartition(".")[2]])
        return torch.empty(*size, dtype=dtype, device=device)

    def __call__(self, output_tensor, input_tensor, group, op, async_op=False):
        calls.append(["reduce", list(output_tensor.shape), list(input_tensor.shape), op == dist.ReduceOp.AVG, async_op])
        return dist.reduce_scatter_single(output_tensor, input_tensor, op=op, group=group, async_op=async_op)


class Model(nn.Module):
    """Three layers, of which an input takes two."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(5, 7), nn.Linear(5, 7), nn.Linear(7, 3)

    def forward(self, x, second=False, failing=False):
        hidden = (self.second if second else self.first)(x)
        if failing:
            raise ValueError("failed")
        return self.last(torch.relu(hidden))


def train(prepare, second=False, failing=False, **arguments):
    """Return losses of three steps, gradients' sums and calls."""
    calls.clear()
    torch.manual_seed(0)
    model = Model()
    fsdp.fully_shard(model.last, **arguments)
    fsdp.fully_shard(model, **arguments)
    prepare(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses, sums = [], []
    for step in range(3):
        if failing and step == 1:
            try:
                model(torch.ones(2, 5), failing=True)
            except ValueError:
                model.reset_iter_state()
        loss = (
            model(torch.full((2, 5), step + dist.get_rank() + 1.0), second=second and dist.get_rank() == 1)
            .pow(2)
            .mean()
        )
        loss.backward()
        sums.append([None if p.grad is None else p.grad.full_tensor().sum().item() for p in model.parameters()])
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return {"losses": losses, "sums": sums, "calls": list(calls)}


def own(model):
    """Take our communication for all."""
    for module in (model, model.last):
        module.set_custom_all_gather(Gathering())
        module.set_custom_reduce_scatter(Reducing())


def waiting(model):
    """Let gathering be asynchronous."""
    own(model)
    model._set_unshard_async_op(True)


def texts():
    """Return what is refused."""
    model = fsdp.fully_shard(nn.Linear(2, 2))
    found = []
    for action in (
        lambda: model.set_symm_mem_for_comm(),
        lambda: model.set_reduce_scatter_max_input_buffers(True),
        lambda: model.set_reduce_scatter_max_input_buffers(0),
        lambda: model.set_custom_all_gather(Gathering()),
        lambda: model.set_allocate_memory_from_process_group_for_comm(True),
        lambda: model.set_symm_mem_for_comm(),
        lambda: api.AllGather(),
        lambda: fsdp.DataParallelMeshDims(),
        lambda: fsdp.DataParallelMeshDims(shard="a", replicate=("b", "c")).replicate_names,
    ):
        try:
            found.append(action())
        except (RuntimeError, TypeError, ValueError, AssertionError) as error:
            found.append([type(error).__name__, str(error)])
    return found


dist.init_process_group("gloo")
half = fsdp.MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
results = {
    "own": train(own),
    "waiting": train(waiting),
    "half": train(own, mp_policy=half),
    "unused": train(lambda model: model.set_reduce_scatter_unused_params(True), second=True),
    "reset": train(lambda model: None, failing=True),
    "separate": train(lambda model: model.set_separate_reduce_scatter_group()),
    "texts": texts(),
}
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
