"""PennyLane: quantum circuits as layers, and their derivatives by shifts of parameters."""

import json

import pennylane as qml
import torch

torch.manual_seed(0)
device = qml.device("default.qubit", wires=2)
found = {}


@qml.qnode(device, interface="torch", diff_method="backprop")
def layer(inputs, weights):
    qml.AngleEmbedding(inputs, wires=[0, 1])
    qml.BasicEntanglerLayers(weights, wires=[0, 1])
    return [qml.expval(qml.PauliZ(wire)) for wire in range(2)]


@qml.qnode(device, interface="torch", diff_method="parameter-shift")
def shifted(weights):
    qml.RX(weights[0], wires=0)
    qml.CNOT([0, 1])
    qml.RY(weights[1], wires=1)
    return qml.probs(wires=[0, 1])


model = torch.nn.Sequential(
    torch.nn.Linear(4, 2), qml.qnn.TorchLayer(layer, {"weights": (3, 2)}), torch.nn.Linear(2, 1)
)
x = torch.randn(5, 4)
optimizer = torch.optim.Adam(model.parameters(), 0.1)
found["losses"] = []
for _ in range(3):
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    found["losses"].append(loss.item())
weights = torch.tensor([0.3, 0.5], requires_grad=True)
found["shifts"] = torch.autograd.functional.jacobian(shifted, weights).tolist()
found["state"] = qml.matrix(shifted)(weights).detach().real.tolist()
print(json.dumps(found))
