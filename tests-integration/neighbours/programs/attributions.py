"""Attributions of captum for a small network."""

import json

import numpy as np
import torch
from captum.attr import DeepLift, GradientShap, IntegratedGradients, LayerFeatureAblation, Saliency

torch.manual_seed(0)
np.random.seed(0)
model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
x = torch.randn(4, 6)
found = {
    "integrated": IntegratedGradients(model).attribute(x, target=1, n_steps=20),
    "saliency": Saliency(model).attribute(x.clone(), target=0),
    "deep lift": DeepLift(model).attribute(x, target=2),
    "layer": LayerFeatureAblation(model, model[0]).attribute(x, target=1),
    "shap": GradientShap(model).attribute(x, torch.zeros(2, 6), n_samples=3, stdevs=0.1, target=1),
}
print(json.dumps({name: value.tolist() for name, value in found.items()}))
