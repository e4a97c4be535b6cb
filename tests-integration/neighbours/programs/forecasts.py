"""pytorch-forecasting: a temporal fusion transformer and DeepAR on seeded series, trained by lightning."""

import json
import logging
import tempfile
import warnings

import lightning
import numpy as np
import pandas
import torch

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

from pytorch_forecasting import DeepAR, NHiTS, TemporalFusionTransformer, TimeSeriesDataSet  # noqa: E402
from pytorch_forecasting.data import NaNLabelEncoder  # noqa: E402
from pytorch_forecasting.metrics import MAE, NormalDistributionLoss, QuantileLoss  # noqa: E402

chance = np.random.default_rng(0)
time = np.arange(40)
table = pandas.concat(
    pandas.DataFrame(
        {
            "time": time,
            "series": str(at),
            "value": np.sin(time / 3 + at) + 0.1 * chance.normal(size=40),
            "price": chance.normal(size=40),
        }
    )
    for at in range(4)
).reset_index(drop=True)


class Recorded(lightning.Callback):
    """The losses of every step."""

    def __init__(self):
        self.losses = []

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        self.losses.append(float(outputs["loss"]))


def fitted(kind, loss, known, **options):
    """The losses of a short fit, and the prediction afterwards."""
    lightning.seed_everything(7, verbose=False)
    data = TimeSeriesDataSet(
        table,
        time_idx="time",
        target="value",
        group_ids=["series"],
        max_encoder_length=12,
        max_prediction_length=4,
        static_categoricals=["series"] if known else [],
        time_varying_known_reals=["time", "price"] if known else [],
        time_varying_unknown_reals=["value"],
        categorical_encoders={"series": NaNLabelEncoder().fit(table["series"])},
    )
    loader = data.to_dataloader(train=True, batch_size=16, num_workers=0)
    model = kind.from_dataset(data, learning_rate=0.01, loss=loss, log_interval=-1, **options)
    seen = Recorded()
    with tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(
            max_steps=12,
            accelerator="cpu",
            devices=1,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=folder,
            gradient_clip_val=0.1,
            callbacks=[seen],
        )
        trainer.fit(model, loader)
    model.eval()
    x, y = next(iter(data.to_dataloader(train=False, batch_size=8, num_workers=0)))
    torch.manual_seed(0)
    with torch.no_grad():
        predicted = model(x)["prediction"]
    return {"losses": seen.losses, "predicted": predicted.tolist(), "target": y[0].tolist()}


found = {
    "tft": fitted(TemporalFusionTransformer, QuantileLoss(), True, hidden_size=8, attention_head_size=2, dropout=0.1),
    "deepar": fitted(DeepAR, NormalDistributionLoss(), True, hidden_size=8, rnn_layers=1, dropout=0.0),
    "nhits": fitted(NHiTS, MAE(), False, hidden_size=16, dropout=0.0),
}
print(json.dumps(found))
