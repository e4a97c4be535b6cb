"""`torch_npu._inductor`: importing it lets `torch.compile` generate kernels for the devices, which it does here anyway."""
