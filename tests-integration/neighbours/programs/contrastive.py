"""A small CLIP of open_clip: twenty steps of its contrastive loss, features of images and texts."""

import json

import torch
from open_clip.loss import ClipLoss
from open_clip.model import CLIP, CLIPTextCfg, CLIPVisionCfg

torch.manual_seed(0)
model = CLIP(
    embed_dim=16,
    vision_cfg=CLIPVisionCfg(layers=2, width=32, head_width=16, patch_size=4, image_size=16),
    text_cfg=CLIPTextCfg(context_length=8, vocab_size=50, width=32, heads=2, layers=2),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
images, texts = torch.randn(4, 3, 16, 16), torch.randint(1, 50, (4, 8))
loss_of = ClipLoss()
losses = []
for _ in range(20):
    loss = loss_of(*model(images, texts))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(
    json.dumps(
        {"losses": losses, "image": model.encode_image(images).tolist(), "text": model.encode_text(texts).tolist()}
    )
)
