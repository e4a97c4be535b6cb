"""Vision transformers of vit-pytorch: twenty training steps of one, outputs and gradients of others."""

import json

import torch
from vit_pytorch import SimpleViT, ViT
from vit_pytorch.cait import CaiT
from vit_pytorch.cct import CCT

torch.manual_seed(0)
shape = {"image_size": 16, "patch_size": 4, "num_classes": 5, "dim": 24, "heads": 2, "mlp_dim": 32}
image, label = torch.randn(3, 3, 16, 16), torch.tensor([0, 3, 4])
model = ViT(**shape, depth=2, dropout=0.1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
losses = []
for _ in range(20):
    loss = torch.nn.functional.cross_entropy(model(image), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
found = {"losses": losses}
for name, other in {
    "simple": SimpleViT(**shape, depth=1),
    "class attention": CaiT(**shape, depth=1, cls_depth=1, dropout=0.0, emb_dropout=0.0, layer_dropout=0.0),
    "convolutions": CCT(
        img_size=16, embedding_dim=24, num_layers=1, num_heads=2, mlp_ratio=1, num_classes=5, n_conv_layers=1
    ),
}.items():
    out = other.eval()(image)
    out.square().sum().backward()
    found[name] = [out.tolist(), [float(one.grad.abs().sum()) for one in other.parameters() if one.grad is not None]]
print(json.dumps(found))
