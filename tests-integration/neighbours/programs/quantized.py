"""torchao: weights in int8 and int4, activations in int8, quantisation while training, optimizers of 8 and 4 bits."""

import copy
import json
import logging
import warnings

import torch

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from torchao.optim import AdamW4bit, AdamW8bit  # noqa: E402
from torchao.quantization import (  # noqa: E402
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    quantize_,
)
from torchao.quantization.qat import FakeQuantizeConfigBase, IntxFakeQuantizeConfig, QATConfig  # noqa: E402

assert issubclass(IntxFakeQuantizeConfig, FakeQuantizeConfigBase)
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 32)).eval()
inputs = torch.randn(16, 64)
found = {"plain": model(inputs).detach().tolist()}

configs = {
    "int8 weights": Int8WeightOnlyConfig(),
    "int8 weights and activations": Int8DynamicActivationInt8WeightConfig(),
    "int4 weights": IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32)),
}
for name, config in configs.items():
    quantized = copy.deepcopy(model)
    quantize_(quantized, config)
    found[name] = quantized(inputs).detach().tolist()
    again = copy.deepcopy(model)
    quantize_(again, config)
    again.load_state_dict(quantized.state_dict())
    assert torch.equal(again(inputs), quantized(inputs)), name


def steps(trained, optimizer, count=20):
    """The losses of some steps."""
    target, losses = inputs[:, :32].sin(), []
    for _ in range(count):
        loss = torch.nn.functional.mse_loss(trained(inputs), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


trained = copy.deepcopy(model).train()
weight = IntxFakeQuantizeConfig(torch.int4, group_size=32)
activation = IntxFakeQuantizeConfig(torch.int8, "per_token", is_symmetric=False)
quantize_(trained, QATConfig(activation_config=activation, weight_config=weight, step="prepare"))
# A value that lies between two levels is rounded up or down by its last bit, from the fourth step on.
found["qat"] = steps(trained, torch.optim.SGD(trained.parameters(), 0.05), 3)
quantize_(trained, QATConfig(step="convert"))
found["converted"] = trained(inputs).detach().tolist()

for kind in (AdamW8bit, AdamW4bit):
    trained = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 32))
    trained.load_state_dict(model.state_dict())
    found[kind.__name__] = steps(trained, kind(trained.parameters(), 1e-3))
print(json.dumps(found))
