"""Operators on quantized tensors, `torch.ops.quantized`: products, arithmetic, activations and normalization.

`packed` has what a layer keeps of its weight, `rounding` goes to integers as torch's kernels do, `operators` defines them all.
"""
