"""`functorch.einops`: `rearrange`, which is `torch.func.rearrange`."""

from mindtorch.func._rearrange import rearrange as rearrange

__all__ = ["rearrange"]
