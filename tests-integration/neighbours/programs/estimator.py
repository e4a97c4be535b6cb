"""skorch: a network as an estimator of scikit-learn, searched over a grid and scored by parts."""

import json

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring, LRScheduler


class Net(torch.nn.Module):
    """A small classifier."""

    def __init__(self, width=8, outputs=3):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(5, width), torch.nn.ReLU(), torch.nn.Linear(width, outputs))

    def forward(self, x):
        return self.net(x)


def main():
    torch.manual_seed(1)
    draw = np.random.default_rng(1)
    x = draw.normal(size=(90, 5)).astype(np.float32)
    y = x[:, :3].argmax(1)
    common = {"max_epochs": 6, "lr": 0.1, "verbose": 0, "criterion": torch.nn.CrossEntropyLoss}
    net = NeuralNetClassifier(
        Net,
        **common,
        optimizer=torch.optim.Adam,
        callbacks=[
            EpochScoring("f1_macro", lower_is_better=False),
            LRScheduler("StepLR", step_size=2),
            EarlyStopping(patience=5),
        ],
    )
    pipeline = make_pipeline(StandardScaler(), net).fit(x, y)
    history = [[row["train_loss"], row["valid_loss"], row["f1_macro"]] for row in net.history]
    probabilities = pipeline.predict_proba(x[:4]).tolist()
    search = GridSearchCV(NeuralNetClassifier(Net, **common), {"module__width": [4, 16]}, cv=2, scoring="accuracy")
    search.fit(x, y)
    regressor = NeuralNetRegressor(Net, module__outputs=1, max_epochs=4, lr=0.05, verbose=0)
    scores = cross_val_score(regressor, x, x.sum(1, keepdims=True), cv=2)
    found = {"history": history, "probabilities": probabilities, "best": search.best_params_["module__width"]}
    print(json.dumps({**found, "scores": scores.tolist(), "searched": search.cv_results_["mean_test_score"].tolist()}))


main()
