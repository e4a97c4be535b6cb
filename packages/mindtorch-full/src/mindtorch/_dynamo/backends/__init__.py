"""`torch._dynamo.backends`: what backends of `torch.compile` are made of."""
