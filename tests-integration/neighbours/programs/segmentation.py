"""A segmentation network of MONAI: losses of three steps."""

import json

import torch
from monai.losses import DiceLoss
from monai.networks.nets import UNet

torch.manual_seed(0)
model = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
image = torch.randn(2, 1, 32, 32)
target = (image > 0).long()
loss_of = DiceLoss(to_onehot_y=True, softmax=True)
losses = []
for _ in range(3):
    loss = loss_of(model(image), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(json.dumps({"losses": losses, "out": model(image).flatten()[::211].tolist()}))
