"""Networks of segmentation-models-pytorch: outputs, a Dice loss and gradients of each."""

import json

import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
image = torch.randn(2, 3, 128, 128, dtype=torch.float64)
target = (torch.rand(2, 1, 128, 128) > 0.5).double()
found = {}
for architecture in (smp.Unet, smp.FPN, smp.PAN):
    model = architecture("resnet18", encoder_weights=None, classes=1).double()
    out = model(image)
    loss = smp.losses.DiceLoss("binary")(out, target)
    loss.backward()
    grads = [float(one.grad.abs().sum()) for one in model.parameters() if one.grad is not None]
    found[architecture.__name__] = [loss.item(), out.flatten()[::397].tolist(), grads]
print(json.dumps(found))
