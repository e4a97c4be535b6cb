"""A fit loop of lightning: training, validation, a scheduler, a checkpoint and its loading."""

import json
import logging
import tempfile
import warnings

import lightning
import torch

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Fit(lightning.LightningModule):
    """A small regression."""

    def __init__(self, width=8):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(4, width), torch.nn.GELU(), torch.nn.Linear(width, 1))
        self.losses = []
        self.checked = []

    def _loss(self, batch):
        inputs, target = batch
        return torch.nn.functional.mse_loss(self.net(inputs)[:, 0], target)

    def training_step(self, batch, index):
        loss = self._loss(batch)
        self.losses.append(loss.item())
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        loss = self._loss(batch)
        self.checked.append(loss.item())
        self.log("checked", loss)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.02)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)]


def main():
    lightning.seed_everything(9, verbose=False)
    inputs = torch.randn(64, 4)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1))
    training = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
    checking = torch.utils.data.DataLoader(data, batch_size=32)
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_epochs=4,
            accelerator="cpu",
            devices=1,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
            gradient_clip_val=1.0,
        )
        model = Fit()
        trainer.fit(model, training, checking)
        path = f"{folder}/last.ckpt"
        trainer.save_checkpoint(path)
        loaded = Fit.load_from_checkpoint(path)
    assert torch.equal(loaded.net[0].weight, model.net[0].weight)
    print(json.dumps({"losses": model.losses, "checked": model.checked, "steps": trainer.global_step}))


if __name__ == "__main__":
    main()
