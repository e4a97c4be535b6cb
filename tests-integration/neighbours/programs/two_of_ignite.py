"""ignite on two ranks: `idist.Parallel`, an engine, a sampler of its own, metrics reduced over the ranks."""

import json

import ignite.distributed as idist
import torch
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from launching.two_ranks import run


def training(rank):
    torch.manual_seed(2)
    inputs = torch.randn(64, 5)
    data = torch.utils.data.TensorDataset(inputs, inputs[:, :3].argmax(1))
    loader = idist.auto_dataloader(data, batch_size=16, shuffle=True)
    model = idist.auto_model(torch.nn.Sequential(torch.nn.Linear(5, 12), torch.nn.ReLU(), torch.nn.Linear(12, 3)))
    optimizer = idist.auto_optim(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9))
    criterion = torch.nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(model, optimizer, criterion)
    evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(criterion)})
    losses, checked = [], []

    @trainer.on(Events.ITERATION_COMPLETED)
    def remember(engine):
        losses.extend(idist.all_gather(engine.state.output))

    @trainer.on(Events.EPOCH_COMPLETED)
    def evaluate(engine):
        checked.append([evaluator.run(loader).metrics[name] for name in ("accuracy", "loss")])

    trainer.run(loader, max_epochs=3)
    if rank == 0:
        print(json.dumps({"losses": losses, "checked": checked, "ranks": idist.get_world_size()}), flush=True)


def main():
    with idist.Parallel(backend="gloo") as parallel:
        parallel.run(training)


if __name__ == "__main__":
    run(__file__, main)
