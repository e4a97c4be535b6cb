"""denoising-diffusion-pytorch: losses of five steps of a small U-Net, and a sample."""

import json

import torch
from denoising_diffusion_pytorch import GaussianDiffusion, Unet

torch.manual_seed(0)
model = Unet(dim=8, dim_mults=(1, 2), flash_attn=False, attn_heads=2, attn_dim_head=8)
diffusion = GaussianDiffusion(model, image_size=8, timesteps=10, sampling_timesteps=3)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
image = torch.rand(2, 3, 8, 8)
losses = []
for _ in range(5):
    loss = diffusion(image)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(json.dumps({"losses": losses, "sample": diffusion.sample(batch_size=1).flatten().tolist()}))
