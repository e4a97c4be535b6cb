"""Submodules of `torch.utils` that this library does not have, with the reason each gives."""

ABSENT = {
    "mobile_optimizer": "TorchScript for mobile is not supported",
    "bundled_inputs": "TorchScript modules are not supported",
    "mkldnn": "modules that hold oneDNN tensors are not supported",
    "throughput_benchmark": "TorchScript modules are not supported",
    "jit": "TorchScript is not supported",
}
