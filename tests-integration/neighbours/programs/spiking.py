"""snntorch, norse and spikingjelly: spiking neurons, whose gradients are those of smoother functions."""

import json

import norse.torch as norse
import snntorch
import torch
from snntorch import functional as spike_losses
from snntorch import surrogate, utils
from spikingjelly.activation_based import functional, layer, neuron
from spikingjelly.activation_based import surrogate as smooth

torch.manual_seed(0)
steps, batch = 8, 6
x, y = torch.rand(steps, batch, 10), torch.randint(0, 4, (batch,))
found = {"snntorch": [], "spikingjelly": []}

net = torch.nn.Sequential(
    torch.nn.Linear(10, 20),
    snntorch.Leaky(beta=0.9, spike_grad=surrogate.fast_sigmoid(), init_hidden=True, learn_beta=True),
    torch.nn.Linear(20, 4),
    snntorch.Synaptic(alpha=0.8, beta=0.9, init_hidden=True, output=True),
)
optimizer = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(4):
    utils.reset(net)
    spikes = torch.stack([net(x[t])[0] for t in range(steps)])
    loss = spike_losses.ce_rate_loss()(spikes, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    found["snntorch"].append(loss.item())

net = torch.nn.Sequential(
    layer.Linear(10, 20),
    neuron.ParametricLIFNode(surrogate_function=smooth.ATan()),
    layer.Linear(20, 4),
    neuron.LIFNode(),
)
functional.set_step_mode(net, "m")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(4):
    functional.reset_net(net)
    loss = torch.nn.functional.cross_entropy(net(x * 3).mean(0), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    found["spikingjelly"].append(loss.item())

model = norse.SequentialState(torch.nn.Linear(10, 12), norse.LIFCell(), torch.nn.Linear(12, 4), norse.LICell())
state = None
for t in range(steps):
    voltage, state = model(x[t] * 3, state)
voltage.sum().backward()
found["norse"] = [voltage.tolist(), model[0].weight.grad.tolist(), norse.LSNNRecurrent(10, 6)(x * 3)[0].sum().item()]
print(json.dumps(found))
