"""Filters, warps and histograms of kornia, with a gradient."""

import json

import kornia
import torch

torch.manual_seed(0)
image = torch.rand(2, 3, 32, 32, requires_grad=True)
found = {
    "blur": kornia.filters.gaussian_blur2d(image, (5, 5), (1.5, 1.5)),
    "clahe": kornia.enhance.equalize_clahe(image.detach(), 20.0, (4, 4)),
    "rotate": kornia.geometry.transform.rotate(image, torch.tensor([30.0, -10.0])),
    "sobel": kornia.filters.sobel(image),
    "lab": kornia.color.rgb_to_lab(image),
}
(found["blur"].square().sum() + found["rotate"].sum() + found["lab"].mean()).backward()
found["grad"] = image.grad
print(json.dumps({name: value.flatten()[::97].tolist() for name, value in found.items()}))
