"""brevitas: layers that train with weights and activations of few bits, handed on as tensors with their scales."""

import json

import brevitas.nn as qnn
import torch

torch.manual_seed(0)


def plain(result):
    return getattr(result, "value", result)


found = {}
model = torch.nn.Sequential(
    qnn.QuantIdentity(bit_width=8, return_quant_tensor=True),
    qnn.QuantConv2d(3, 4, 3, weight_bit_width=4),
    qnn.QuantReLU(bit_width=4, return_quant_tensor=True),
    torch.nn.Flatten(),
    qnn.QuantLinear(4 * 36, 5, bias=True, weight_bit_width=4),
)
x = torch.randn(4, 3, 8, 8)
optimizer = torch.optim.SGD(model.parameters(), 0.05)
found["losses"] = []
for _ in range(4):
    optimizer.zero_grad()
    loss = plain(model(x)).pow(2).mean()
    loss.backward()
    optimizer.step()
    found["losses"].append(loss.item())
model.eval()
found["outputs"] = plain(model(x)).tolist()
found["weights"] = plain(model[1].quant_weight()).flatten()[:12].tolist()
found["scale"] = model[4].quant_weight().scale.tolist()
found["lstm"] = qnn.QuantLSTM(5, 6)(torch.randn(2, 3, 5))[0].flatten().tolist()
print(json.dumps(found))
