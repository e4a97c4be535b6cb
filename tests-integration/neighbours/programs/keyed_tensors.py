"""TensorDict: keyed tensors, a module over them, stacks, memory maps."""

import json
import tempfile

import torch
from tensordict import TensorDict, tensorclass
from tensordict.nn import TensorDictModule, TensorDictSequential


@tensorclass
class Sample:
    """A sample of two tensors."""

    image: torch.Tensor
    label: torch.Tensor


torch.manual_seed(0)
data = TensorDict({"x": torch.randn(6, 4), "in": {"y": torch.randn(6, 2)}}, batch_size=[6])
first = TensorDictModule(torch.nn.Linear(4, 3), in_keys=["x"], out_keys=["hidden"])
second = TensorDictModule(torch.nn.Bilinear(3, 2, 1), in_keys=["hidden", ("in", "y")], out_keys=["out"])
model = TensorDictSequential(first, second)
out = model(data.clone())
out["out"].sum().backward()
sample = Sample(image=torch.randn(3, 2), label=torch.arange(3), batch_size=[3])
stacked = torch.stack([sample, sample + 1])
with tempfile.TemporaryDirectory() as folder:
    data.memmap(folder)
    loaded = TensorDict.load_memmap(folder)["in", "y"].tolist()
print(
    json.dumps(
        {
            "out": out["out"].tolist(),
            "grads": [one.grad.tolist() for one in model.parameters()],
            "keys": [str(key) for key in out.keys(True)],
            "stacked": [list(stacked.batch_size), stacked.image.tolist(), stacked[0].label.tolist()],
            "loaded": loaded,
            "split": [part["x"].tolist() for part in data.split(4)],
        }
    )
)
