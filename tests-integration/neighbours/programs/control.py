"""PPO and DQN of stable-baselines3 on the pole of gymnasium: parameters and actions after short training."""

import json

import gymnasium
import torch
from stable_baselines3 import DQN, PPO

torch.set_num_threads(1)
ppo = PPO("MlpPolicy", "CartPole-v1", n_steps=32, batch_size=16, n_epochs=2, seed=0, device="cpu")
dqn = DQN("MlpPolicy", "CartPole-v1", learning_starts=20, train_freq=4, batch_size=8, seed=0, device="cpu")
found = {}
for name, agent, steps in (("ppo", ppo, 64), ("dqn", dqn, 60)):
    agent.learn(steps)
    state, _ = gymnasium.make("CartPole-v1").reset(seed=1)
    action, _ = agent.predict(state, deterministic=True)
    weights = [float(one.detach().double().abs().sum()) for one in agent.policy.parameters()]
    found[name] = [int(action), weights]
print(json.dumps(found))
