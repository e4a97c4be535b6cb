"""fastai: a tabular learner, an image learner with one-cycle training, and what its callbacks record."""

import json
import warnings

import numpy as np
import pandas
import torch

warnings.simplefilter("ignore")

from fastai.data.all import DataBlock, DataLoaders, RandomSplitter, RegressionBlock  # noqa: E402
from fastai.layers import ConvLayer, ResBlock  # noqa: E402
from fastai.learner import Learner  # noqa: E402
from fastai.losses import CrossEntropyLossFlat, MSELossFlat  # noqa: E402
from fastai.metrics import accuracy  # noqa: E402
from fastai.tabular.all import Categorify, FillMissing, Normalize, TabularDataLoaders, tabular_learner  # noqa: E402
from fastai.torch_core import set_seed  # noqa: E402
from fastai.vision.all import ImageBlock, PILImageBW  # noqa: E402
from fastai.vision.augment import Flip  # noqa: E402

chance = np.random.default_rng(0)
found = {}


def recorded(learner):
    """The losses of every batch, and the rows of every epoch without the time."""
    recorder = learner.recorder
    return {
        "batches": [float(loss) for loss in recorder.losses],
        "epochs": [[float(value) for value in row] for row in recorder.values],
        "rates": [float(rate) for rate in recorder.lrs],
    }


set_seed(1, reproducible=True)
rows = 96
table = pandas.DataFrame(
    {
        "colour": chance.choice(["red", "green", "blue"], rows),
        "size": chance.normal(size=rows),
        "weight": np.where(chance.random(rows) < 0.1, np.nan, chance.normal(size=rows)),
    }
)
table["label"] = np.where(table["size"] + (table["colour"] == "red") > 0.3, "big", "small")
loaders = TabularDataLoaders.from_df(
    table,
    procs=[Categorify, FillMissing, Normalize],
    cat_names=["colour"],
    cont_names=["size", "weight"],
    y_names="label",
    valid_idx=list(range(72, rows)),
    bs=24,
    num_workers=0,
)
learner = tabular_learner(loaders, layers=[16, 8], metrics=accuracy)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(4, 1e-2)
    predicted, targets = learner.get_preds()
found["tabular"] = recorded(learner)
found["predicted"], found["targets"] = predicted.tolist(), targets.tolist()

set_seed(2, reproducible=True)
pictures = [(chance.random((24, 24)) * 255).astype("uint8") for _ in range(40)]
block = DataBlock(
    blocks=(ImageBlock(PILImageBW), RegressionBlock()),
    splitter=RandomSplitter(0.2, seed=3),
    get_x=lambda at: pictures[at],
    get_y=lambda at: float(pictures[at].mean() / 255),
    batch_tfms=[Flip()],
)
loaders = block.dataloaders(list(range(40)), bs=8, num_workers=0)
network = torch.nn.Sequential(
    ConvLayer(1, 8, stride=2),
    ResBlock(1, 8, 8),
    torch.nn.AdaptiveAvgPool2d(1),
    torch.nn.Flatten(),
    torch.nn.Linear(8, 1),
)
learner = Learner(loaders, network, loss_func=MSELossFlat())
with learner.no_bar(), learner.no_logging():
    learner.fit_flat_cos(3, 1e-3)
found["images"] = recorded(learner)

set_seed(3, reproducible=True)
inputs, labels = torch.randn(40, 6), torch.arange(40) % 3
data = list(zip(inputs, labels, strict=True))
learner = Learner(
    DataLoaders.from_dsets(data[:32], data[32:], bs=8, num_workers=0),
    torch.nn.Linear(6, 3),
    loss_func=CrossEntropyLossFlat(),
    metrics=accuracy,
)
with learner.no_bar(), learner.no_logging():
    found["suggested"] = float(learner.lr_find(num_it=20, show_plot=False).valley)
    learner.fit(2, 1e-2, wd=0.1)
found["plain"] = recorded(learner)
print(json.dumps(found))
