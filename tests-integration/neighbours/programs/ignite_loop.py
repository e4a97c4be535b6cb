"""PyTorch-Ignite: a trainer and an evaluator with metrics over three epochs."""

import json

import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import EarlyStopping
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, RunningAverage

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
loss_of = torch.nn.CrossEntropyLoss()
data = torch.utils.data.TensorDataset(torch.randn(30, 5), torch.randint(0, 3, (30,)))
loader = torch.utils.data.DataLoader(data, batch_size=6, shuffle=True)
trainer = create_supervised_trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), loss_of)
RunningAverage(output_transform=lambda x: x).attach(trainer, "running")
evaluator = create_supervised_evaluator(
    model, {"accuracy": Accuracy(), "loss": Loss(loss_of), "matrix": ConfusionMatrix(3)}
)
evaluator.add_event_handler(Events.COMPLETED, EarlyStopping(5, lambda engine: -engine.state.metrics["loss"], trainer))
losses, scores = [], []


@trainer.on(Events.ITERATION_COMPLETED)
def keep(engine):
    """Keep the loss of each iteration."""
    losses.append([engine.state.output, engine.state.metrics["running"]])


@trainer.on(Events.EPOCH_COMPLETED)
def evaluate(engine):
    """Keep the metrics of each epoch."""
    found = evaluator.run(loader).metrics
    scores.append([found["accuracy"], found["loss"], found["matrix"].tolist()])


trainer.run(loader, max_epochs=4)
print(json.dumps({"losses": losses, "scores": scores}))
