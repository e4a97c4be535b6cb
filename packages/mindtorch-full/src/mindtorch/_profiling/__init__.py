"""What `torch.autograd.profiler` and `torch.profiler` share. It imports neither of them."""
