"""diffusers: a tiny UNet is trained to denoise, then makes pictures; saved and loaded."""

import json
import tempfile

import torch
from diffusers import AutoencoderKL, DDIMScheduler, DDPMPipeline, DDPMScheduler, UNet2DConditionModel, UNet2DModel


def main():
    torch.manual_seed(3)
    blocks = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")}
    sizes = {"block_out_channels": (16, 32), "layers_per_block": 1, "norm_num_groups": 8}
    net = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, attention_head_dim=8, **sizes, **blocks)
    schedule = DDPMScheduler(num_train_timesteps=50)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    pictures, losses = torch.rand(4, 3, 16, 16) * 2 - 1, []
    for _ in range(4):
        noise, times = torch.randn_like(pictures), torch.randint(0, 50, (4,))
        loss = torch.nn.functional.mse_loss(net(schedule.add_noise(pictures, noise, times), times).sample, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with tempfile.TemporaryDirectory() as folder:
        DDPMPipeline(net.eval(), schedule).save_pretrained(folder)
        pipeline = DDPMPipeline.from_pretrained(folder)
    pipeline.set_progress_bar_config(disable=True)
    made = pipeline(batch_size=1, num_inference_steps=3, generator=torch.Generator().manual_seed(1), output_type="np")
    quick = DDIMScheduler(num_train_timesteps=50)
    quick.set_timesteps(4)
    sample = torch.randn(1, 3, 16, 16)
    with torch.no_grad():
        for time in quick.timesteps:
            sample = quick.step(net(sample, time).sample, time, sample).prev_sample
    cross = {
        "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"),
        "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
    }
    guided = UNet2DConditionModel(sample_size=8, cross_attention_dim=16, attention_head_dim=8, **sizes, **cross)
    told = guided(torch.randn(2, 4, 8, 8), 7, encoder_hidden_states=torch.randn(2, 5, 16)).sample
    coder = AutoencoderKL(block_out_channels=(16,), norm_num_groups=8, sample_size=16)
    latent = coder.encode(pictures).latent_dist
    decoded = coder.decode(latent.sample()).sample
    (told.square().mean() + decoded.square().mean() + latent.kl().mean()).backward()
    norms = [one.grad.norm().item() for one in [*guided.parameters(), *coder.parameters()] if one.grad is not None]
    found = {"losses": losses, "picture": made.images.flatten()[:30].tolist(), "sample": sample.flatten()[:30].tolist()}
    print(json.dumps({**found, "told": told.flatten()[:10].tolist(), "norms": norms}))


main()
