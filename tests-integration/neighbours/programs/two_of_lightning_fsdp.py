"""A fit of lightning on two ranks, parameters spread by `fsdp`: losses, gradients that are clipped, a checkpoint that goes on."""

import json
import logging
import tempfile
import warnings

import lightning
import torch
from launching.two_ranks import run
from lightning.fabric.plugins.environments import TorchElasticEnvironment
from lightning.pytorch.strategies import FSDPStrategy
from torch import distributed, nn
from torch.distributed.fsdp import FullyShardedDataParallel

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class OnHosts(FSDPStrategy):
    """FSDP on hosts: lightning and torch ask for an accelerator where no device is named."""

    def _setup_model(self, model):
        if any(isinstance(part, FullyShardedDataParallel) for part in model.modules()):
            return model
        return FullyShardedDataParallel(
            model, sharding_strategy=self.sharding_strategy, device_id=torch.device("cpu"), **self.kwargs
        )


class Spread(lightning.LightningModule):
    """Layers that become units of their own."""

    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
        self.losses, self.checked = [], []

    def training_step(self, batch, index):
        inputs, expected = batch
        loss = nn.functional.mse_loss(self.model(inputs).squeeze(-1), expected)
        self.losses.append(loss.item())
        return loss

    def validation_step(self, batch, index):
        inputs, expected = batch
        found = nn.functional.mse_loss(self.model(inputs).squeeze(-1), expected)
        self.log("checked", found, sync_dist=True)
        self.checked.append(found.item())

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def trainer(folder, strategy, epochs):
    return lightning.Trainer(
        max_epochs=epochs, accelerator="cpu", devices=2, strategy=strategy, logger=False, enable_progress_bar=False,
        enable_model_summary=False, default_root_dir=folder, enable_checkpointing=False,
        plugins=[TorchElasticEnvironment()],
    )  # fmt: skip


def fit(loaders, state_dict_type):
    """Train one epoch, save, load into another model and train one more; return what was seen."""
    folder = [tempfile.mkdtemp() if not distributed.is_initialized() or distributed.get_rank() == 0 else None]
    lightning.seed_everything(9, verbose=False)
    first = trainer(folder[0], OnHosts(auto_wrap_policy={nn.Linear}, state_dict_type=state_dict_type), 1)
    model = Spread()
    first.fit(model, *loaders)
    distributed.broadcast_object_list(folder)
    path = f"{folder[0]}/last.ckpt"
    first.save_checkpoint(path)
    lightning.seed_everything(10, verbose=False)
    second = trainer(folder[0], OnHosts(auto_wrap_policy={nn.Linear}, state_dict_type=state_dict_type), 2)
    again = Spread()
    second.fit(again, *loaders, ckpt_path=path)
    results = second.validate(again, loaders[1], verbose=False)
    units = len(FullyShardedDataParallel.fsdp_modules(again))
    return [model.losses, model.checked, again.losses, again.checked, results[0]["checked"], units]


def main():
    lightning.seed_everything(9, verbose=False)
    inputs = torch.randn(48, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1).sin())
    loaders = [torch.utils.data.DataLoader(data, batch_size=8, shuffle=shuffle) for shuffle in (True, False)]
    try:
        trainer(None, "fsdp", 1)
        refused = ""
    except ValueError as error:
        refused = str(error)
    results = {"sharded": fit(loaders, "sharded")}  # with "full" torch itself crashes on hosts
    if distributed.get_rank() == 0:
        print(json.dumps(results | {"refused": refused}), flush=True)


if __name__ == "__main__":
    run(__file__, main)
