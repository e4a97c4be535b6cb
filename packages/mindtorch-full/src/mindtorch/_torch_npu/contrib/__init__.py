"""`torch_npu.contrib`."""
