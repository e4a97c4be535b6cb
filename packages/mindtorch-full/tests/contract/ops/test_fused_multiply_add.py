"""Products with a sum have torch's bits: rounded once where its vectors round once, numbers as halves where it rounds them."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode

import mindtorch
from mindtorch_cpu import native
from mindtorch_cpu.random.capability import capability

FUSED = native.module is not None and native.module.INSTRUCTIONS in ("v3", "v4") and capability.fused
pytestmark = pytest.mark.skipif(not FUSED, reason="the processor, or numpy's kernels, round products before the sum")

CALLS = {
    "add": lambda lib, a, b, c: lib.add(a, b, alpha=0.3),
    "add_": lambda lib, a, b, c: a.clone().add_(b, alpha=-0.1),
    "sub": lambda lib, a, b, c: lib.sub(a, b, alpha=0.3),
    "rsub": lambda lib, a, b, c: lib.rsub(a, b, alpha=0.3),
    "addcmul": lambda lib, a, b, c: lib.addcmul(a, b, c, value=0.7),
    "lerp": lambda lib, a, b, c: lib.lerp(a, b, 0.3),
    "lerp from its end": lambda lib, a, b, c: lib.lerp(a, b, 0.7),
    "lerp by weights": lambda lib, a, b, c: lib.lerp(a, b, c),
    "foreach": lambda lib, a, b, c: lib._foreach_add([a], [b], alpha=0.3)[0],
    "of a broadcast row": lambda lib, a, b, c: lib.addcmul(a, b[:1], c, value=0.3),
    "of transposed operands": lambda lib, a, b, c: lib.add(a.t(), b.t(), alpha=0.3),
}


def three(dtype, size, seed):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(size, generator=generator, dtype=dtype) for _ in range(3)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(1, 1), (1, 3), (1, 17), (1, 64), (40, 50), (3, 1001)])
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_bits(call, size, dtype):
    operands = three(dtype, size, 0)
    found = call(mindtorch, *(mindtorch.from_numpy(one.numpy().copy()) for one in operands))
    assert np.array_equal(found.numpy(), call(torch, *operands).numpy())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["add", "sub", "rsub"])
def test_alpha_is_rounded_to_halves(name, dtype):
    """torch's loops take 32 elements at a time, the last ones by another rounding: their number is even here."""
    operands = three(getattr(torch, dtype), 3200, 1)[:2]
    ours = [mindtorch.tensor(one.tolist(), dtype=getattr(mindtorch, dtype)) for one in operands]
    assert CALLS[name](mindtorch, *ours, None).tolist() == CALLS[name](torch, *operands, None).tolist()


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01},
    "AdamW": {"lr": 0.1},
    "Adam": {"lr": 0.1, "weight_decay": 0.1, "betas": (0.4, 0.99)},
    "Adagrad": {"lr": 0.1},
}


class RoundedRoots(TorchFunctionMode):
    """Roots that are rounded as IEEE 754 says: torch's are MKL's, which round one of five otherwise on some processors."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.sqrt:
            return args[0].double().sqrt().to(args[0].dtype)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_of_optimizers(name, fused):
    values, *grads = (one.numpy() for one in three(torch.float32, (50, 40), 2))
    found = []
    for lib in (torch, mindtorch):
        param = lib.nn.Parameter(lib.tensor(values))
        optimizer = getattr(lib.optim, name)([param], fused=fused, **OPTIMIZERS[name])
        with RoundedRoots() if lib is torch else nullcontext():
            for grad in grads:
                param.grad = lib.tensor(grad)
                optimizer.step()
        found.append(param.detach().numpy())
    np.testing.assert_array_equal(*found)
