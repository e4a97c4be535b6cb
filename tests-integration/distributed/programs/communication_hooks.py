"""Train with hooks and optimizers within the reduction; rank 0 writes losses and sums. Arguments: library, file."""

import importlib
import json
import sys
from collections import OrderedDict

library, target = sys.argv[1:3]
torch = importlib.import_module(library)
dist = importlib.import_module(f"{library}.distributed")
hooks = importlib.import_module(f"{library}.distributed.algorithms.ddp_comm_hooks")
overlap = importlib.import_module(f"{library}.distributed.algorithms._optimizer_overlap")
averaging = importlib.import_module(
    f"{library}.distributed.algorithms.model_averaging.hierarchical_model_averager"
).HierarchicalModelAverager
in_backward = importlib.import_module(f"{library}.distributed.optim")._apply_optimizer_in_backward
nn = torch.nn
Parallel = nn.parallel.DistributedDataParallel


def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(7, 30), nn.ReLU(), nn.Linear(30, 3))


def data(step):
    return torch.randn(5, 7, generator=torch.Generator().manual_seed(10 * step + dist.get_rank()))


def train(prepare, optimizer=True, **arguments):
    """Return losses of four steps and the sum of all parameters."""
    parallel = Parallel(model(), **arguments)
    prepare(parallel)
    steps = torch.optim.SGD(parallel.parameters(), lr=0.1, momentum=0.9) if optimizer else None
    losses = []
    for step in range(4):
        loss = parallel(data(step)).pow(2).mean()
        loss.backward()
        losses.append(loss.item())
        if steps:
            steps.step()
            steps.zero_grad()
    return [*losses, sum(p.double().abs().sum().item() for p in parallel.parameters())]


def named(kind):
    return lambda parallel: hooks.register_ddp_comm_hook(hooks.DDPCommHookType[kind], parallel, dist.group.WORLD)


def fused(*optimizer, first=False, **arguments):
    def prepare(parallel):
        chosen = [next(parallel.parameters())] if first else None
        parallel._register_fused_optim(*optimizer, optim_params=chosen, **arguments)

    return prepare


def waits_within(state, bucket):
    """Begin collectives in a callback and wait for them there."""

    def scale(done):
        count = torch.ones(3)
        dist.all_reduce(count)
        second = torch.ones(2)
        dist.all_reduce(second, async_op=True).wait()
        third = torch.ones(2)
        dist.all_reduce(third, async_op=True).get_future().then(lambda future: future.value()).wait()
        return done.value()[0] * 2 / (count.sum() + second.sum() + third.sum())

    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(scale)


def in_backwards(view):
    """Return the sum of parameters whose optimizers step in backward, and how many gradients are left."""
    own = model()
    in_backward(torch.optim.SGD, own.parameters(), {"lr": 0.1, "momentum": 0.9})
    parallel = Parallel(own, gradient_as_bucket_view=view)
    for step in range(4):
        parallel(data(step)).pow(2).mean().backward()
    return [
        sum(p.double().abs().sum().item() for p in own.parameters()),
        sum(p.grad is not None for p in own.parameters()),
    ]


def averages():
    """Return sums of parameters that one process averages every second step, two every fourth."""
    own = model()
    averager = averaging(OrderedDict([(2, 1), (4, 2)]), warmup_steps=2)
    optimizer, sums = torch.optim.SGD(own.parameters(), lr=0.1), []
    for step in range(8):
        optimizer.zero_grad()
        own(data(step)).pow(2).mean().backward()
        optimizer.step()
        averager.average_parameters(own.parameters())
        sums.append(own[0].weight.sum().item())
    return [*sums, averager.step, *averager.period_process_group_dict]


def told(action):
    try:
        return str(action())
    except (AttributeError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        return [type(error).__name__, str(error)]


def twice(first, second):
    parallel = Parallel(model())
    first(parallel)
    second(parallel)


def texts():
    kinds = dist.BuiltinCommHookType

    def builtin(parallel):
        parallel._register_builtin_comm_hook(kinds.FP16_COMPRESS)

    overlapped = overlap._as_overlapped_optim(torch.optim.SGD, None, 0.1)
    return {
        "kinds": [repr(kinds.ALLREDUCE), str(kinds.FP16_COMPRESS), int(kinds.FP16_COMPRESS), kinds.ALLREDUCE == 1],
        "builtin twice": told(lambda: twice(builtin, builtin)),
        "builtin, then own": told(lambda: twice(builtin, named("NOOP"))),
        "own, then builtin": told(lambda: twice(named("NOOP"), builtin)),
        "no functional form": told(lambda: fused(torch.optim.LBFGS)(Parallel(model()))),
        "fsdp": told(lambda: overlapped.register_fsdp(None)),
        "no sizes": told(lambda: averaging({})),
        "no period": told(lambda: averaging(OrderedDict([(0, 2)]))),
        "another size": told(lambda: averaging(OrderedDict([(2, 3)]))),
        "no warmup": told(lambda: averaging(OrderedDict([(2, 2)]), warmup_steps=-1)),
    }


dist.init_process_group("gloo")
builtin = dist.BuiltinCommHookType
results = {
    "runs": {
        "plain": train(lambda parallel: None),
        "noop": train(named("NOOP")),
        "builtin": train(lambda parallel: parallel._register_builtin_comm_hook(builtin.ALLREDUCE)),
        "builtin, half": train(lambda parallel: parallel._register_builtin_comm_hook(builtin.FP16_COMPRESS)),
        "fused": train(fused(torch.optim.SGD, 0.1, momentum=0.9), optimizer=False),
        "fused, one": train(fused(torch.optim.Adam, 0.1, first=True), optimizer=False),
        "fused, views": train(fused(torch.optim.Adam, 0.1), optimizer=False, gradient_as_bucket_view=True),
        "within": train(lambda parallel: parallel.register_comm_hook(None, waits_within)),
        "averages": averages(),
    },
    "texts": texts(),
}
if library == "mindtorch":  # torch's need an accelerator
    results["in backward"] = [in_backwards(view) for view in (False, True)]
    results["bytes"] = [train(named(kind)) for kind in ("QUANTIZE_PER_TENSOR", "QUANTIZE_PER_CHANNEL")]
if dist.get_rank() == 0:
    with open(target, "w") as stream:
        json.dump(results, stream)
dist.destroy_process_group()
