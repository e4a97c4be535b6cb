"""shap: DeepLIFT rules by hooks, expected gradients of inputs and of a layer, and a kernel of samples."""

import json

import numpy as np
import shap
import torch

torch.manual_seed(0)
np.random.seed(0)
model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3),
    torch.nn.ReLU(),
    torch.nn.MaxPool2d(2),
    torch.nn.Flatten(),
    torch.nn.Linear(36, 5),
    torch.nn.Tanh(),
    torch.nn.Dropout(),
    torch.nn.Linear(5, 3),
    torch.nn.Softmax(1),
).eval()
x = torch.randn(12, 1, 8, 8)
known, asked = x[:10], x[10:]


def predict(rows):
    return model(torch.tensor(rows.reshape(-1, 1, 8, 8), dtype=torch.float32)).detach().numpy()


found = {
    "deep": shap.DeepExplainer(model, known).shap_values(asked),
    "gradients": shap.GradientExplainer(model, known).shap_values(asked, nsamples=20, rseed=1),
    "layer": shap.GradientExplainer((model, model[4]), known).shap_values(asked, nsamples=10, rseed=1),
    "kernel": shap.KernelExplainer(predict, known[:5].reshape(5, -1).numpy()).shap_values(
        asked[:1].reshape(1, -1).numpy(), nsamples=100, silent=True
    ),
}
print(json.dumps({name: np.asarray(values).astype(float).ravel().tolist() for name, values in found.items()}))
