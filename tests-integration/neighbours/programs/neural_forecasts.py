"""neuralforecast: NHITS, NBEATS, LSTM and PatchTST fitted on seeded series, and their forecasts."""

import json
import logging
import os
import tempfile
import warnings

import numpy as np
import pandas

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
os.environ["NIXTLA_ID_AS_COL"] = "1"

from neuralforecast import NeuralForecast  # noqa: E402
from neuralforecast.losses.pytorch import MQLoss  # noqa: E402
from neuralforecast.models import LSTM, NBEATS, NHITS, DLinear, PatchTST  # noqa: E402

chance = np.random.default_rng(0)
days = pandas.date_range("2026-01-01", periods=60, freq="D")
table = pandas.concat(
    pandas.DataFrame(
        {"unique_id": str(at), "ds": days, "y": np.cos(np.arange(60) / 4 + at) + 0.1 * chance.normal(size=60)}
    )
    for at in range(3)
)
common = {
    "h": 6,
    "input_size": 18,
    "max_steps": 15,
    "batch_size": 3,
    "random_seed": 5,
    "accelerator": "cpu",
    "logger": False,
    "enable_checkpointing": False,
    "enable_progress_bar": False,
    "enable_model_summary": False,
    "windows_batch_size": 16,
}
models = [
    NHITS(mlp_units=3 * [[16, 16]], loss=MQLoss(level=[80]), **common),
    NBEATS(mlp_units=3 * [[16, 16]], **common),
    LSTM(encoder_hidden_size=8, decoder_hidden_size=8, **common),
    DLinear(**common),
    PatchTST(hidden_size=16, linear_hidden_size=16, n_heads=2, patch_len=4, stride=4, encoder_layers=1, **common),
]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    forecast = NeuralForecast(models=models, freq="D")
    forecast.fit(table)
    predicted = forecast.predict()
    forecast.save(f"{folder}/kept", overwrite=True)
    again = NeuralForecast.load(f"{folder}/kept").predict()
    os.chdir("/")
numbers = [name for name in predicted.columns if name not in ("unique_id", "ds")]
assert np.allclose(predicted[numbers], again[numbers])
found = {name: predicted[name].tolist() for name in numbers}
for model in models:
    found[f"losses of {type(model).__name__}"] = [float(loss) for _, loss in model.train_trajectories]
print(json.dumps(found))
