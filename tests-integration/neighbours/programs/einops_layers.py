"""einops' functions and layers, with gradients."""

import json

import torch
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce


def main():
    torch.manual_seed(1)
    images = torch.randn(2, 3, 8, 8, requires_grad=True)
    patches = rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
    pooled = reduce(images, "b c (h 2) (w 2) -> b c h w", "max")
    doubled = repeat(pooled, "b c h w -> b c (h r) (w s)", r=2, s=2)
    scores = einsum(patches, patches, "b i d, b j d -> b i j")
    packed, shapes = pack([patches, scores], "b i *")
    first, second = unpack(packed, shapes, "b i *")
    layers = torch.nn.Sequential(
        Rearrange("b c h w -> b (h w) c"),
        EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=3, d=5),
        Reduce("b t d -> b d", "mean"),
    )
    total = layers(images).square().sum() + first.sum() + second.square().sum() + (doubled * images).sum()
    total.backward()
    print(
        json.dumps({"total": total.item(), "gradient": images.grad.flatten()[:20].tolist(), "shapes": [*packed.shape]})
    )


main()
