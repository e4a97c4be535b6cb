"""TorchRL: losses of two methods on given steps, their gradients, estimates of advantages, a replay buffer."""

import json

import torch
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import NormalParamExtractor, ProbabilisticActor, QValueActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss, DQNLoss
from torchrl.objectives.value import GAE

torch.manual_seed(0)
nn = torch.nn
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4), NormalParamExtractor())
actor = ProbabilisticActor(
    TensorDictModule(net, in_keys=["observation"], out_keys=["loc", "scale"]),
    in_keys=["loc", "scale"], distribution_class=TanhNormal, return_log_prob=True,
)  # fmt: skip
value = ValueOperator(nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)), in_keys=["observation"])


def steps(action):
    """Return given steps with these actions."""
    done = torch.zeros(8, 1, dtype=torch.bool)
    after = {"observation": torch.randn(8, 4), "reward": torch.randn(8, 1), "done": done, "terminated": done.clone()}
    return TensorDict({"observation": torch.randn(8, 4), "action": action, "next": after}, [8])


data = steps(torch.rand(8, 2) - 0.5)
with torch.no_grad():
    data["action_log_prob"] = actor.get_dist(data).log_prob(data["action"]) - 0.1
GAE(gamma=0.9, lmbda=0.8, value_network=value, average_gae=True)(data)
ppo = ClipPPOLoss(actor, value)
optimizer = torch.optim.Adam(ppo.parameters(), lr=1e-2)
found = {"advantage": data["advantage"].tolist(), "ppo": []}
for _ in range(10):
    losses = ppo(data)
    sum(losses[key] for key in ("loss_objective", "loss_critic")).backward()
    optimizer.step()
    optimizer.zero_grad()
    found["ppo"].append([losses["loss_objective"].item(), losses["loss_critic"].item()])
choices = nn.functional.one_hot(torch.randint(0, 3, (8,)), 3)
buffer = TensorDictReplayBuffer(storage=LazyTensorStorage(16), batch_size=8)
buffer.extend(steps(choices))
dqn = DQNLoss(
    QValueActor(nn.Linear(4, 3), in_keys=["observation"], spec=None, action_space="one-hot"), action_space="one-hot"
)
loss = dqn(buffer[:])["loss"]
loss.backward()
found["dqn"] = [loss.item(), [one.grad.tolist() for one in dqn.parameters() if one.grad is not None]]
print(json.dumps(found))
