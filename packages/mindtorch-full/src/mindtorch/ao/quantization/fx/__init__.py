"""`torch.ao.quantization.fx`: of it only the operators that quantise plain tensors, in `_decomposed`."""
