"""torchattacks: eighteen ways to disturb images that a small network classifies."""

import json

import torch
import torchattacks

ATTACKS = {
    "FGSM": {}, "BIM": {}, "PGD": {}, "MIFGSM": {}, "DIFGSM": {}, "TIFGSM": {}, "CW": {"steps": 3}, "DeepFool": {"steps": 5},
    "RFGSM": {}, "EOTPGD": {}, "FFGSM": {}, "TPGD": {}, "APGD": {"steps": 3}, "PGDL2": {}, "NIFGSM": {}, "SINIFGSM": {},
    "VMIFGSM": {}, "UPGD": {},
}  # fmt: skip


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.Softplus(),
        torch.nn.AdaptiveAvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(16, 4),
    ).eval()
    images, labels = torch.rand(3, 3, 12, 12), torch.tensor([0, 1, 2])
    found = {}
    for name, options in ATTACKS.items():
        torch.manual_seed(1)
        found[name] = getattr(torchattacks, name)(model, **options)(images, labels).sum((1, 2, 3)).tolist()
    print(json.dumps(found))


main()
