"""A fit of lightning on two ranks, `strategy="ddp"`: batches shared, metrics averaged, a checkpoint by rank 0."""

import json
import logging
import tempfile
import warnings

import lightning
import torch
from launching.two_ranks import run
from lightning.fabric.plugins.environments import TorchElasticEnvironment
from lightning_fit import Fit

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def main():
    lightning.seed_everything(9, verbose=False)
    inputs = torch.randn(48, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1).sin())
    loaders = [torch.utils.data.DataLoader(data, batch_size=8, shuffle=shuffle) for shuffle in (True, False)]
    model = Fit()
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_epochs=2, accelerator="cpu", devices=2, strategy="ddp", logger=False, enable_progress_bar=False,
            enable_model_summary=False, default_root_dir=folder, enable_checkpointing=False,
            plugins=[TorchElasticEnvironment()],
        )  # fmt: skip
        trainer.fit(model, *loaders)
        results = trainer.validate(model, loaders[1], verbose=False)
        trainer.save_checkpoint(f"{folder}/last.ckpt")
    if trainer.is_global_zero:
        shown = {"losses": model.losses, "checked": model.checked, "validated": results[0]["checked"]}
        print(json.dumps(shown | {"ranks": trainer.world_size}), flush=True)


if __name__ == "__main__":
    run(__file__, main)
