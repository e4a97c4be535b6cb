"""piq and pytorch-msssim: measures of how alike images are, and their gradients."""

import json

import piq
import pytorch_msssim
import torch

MEASURES = ("ssim", "vif_p", "fsim", "gmsd", "haarpsi", "mdsi", "psnr", "vsi", "srsim", "dss")


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)  # gradients of roots near zero, which rounding in single precision moves
    seen, wanted = torch.rand(2, 3, 64, 64, requires_grad=True), torch.rand(2, 3, 64, 64)
    found = {}
    for name in MEASURES:
        value = getattr(piq, name)(seen, wanted, data_range=1.0)
        (slope,) = torch.autograd.grad(value, seen)
        found[name] = [value.item(), slope.abs().sum().item()]
    found["total variation"] = piq.total_variation(seen).item()
    large = [torch.rand(1, 3, 176, 176) for _ in range(2)]
    found["several scales"] = [
        pytorch_msssim.ssim(seen, wanted, data_range=1.0).item(),
        pytorch_msssim.ms_ssim(*large, data_range=1.0).item(),
        piq.multi_scale_ssim(*large, data_range=1.0).item(),
    ]
    print(json.dumps(found))


main()
