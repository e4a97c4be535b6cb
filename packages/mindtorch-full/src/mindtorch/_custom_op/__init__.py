"""`torch._custom_op`: the interface for operators of programs before `torch.library.custom_op`, which takes its place."""
