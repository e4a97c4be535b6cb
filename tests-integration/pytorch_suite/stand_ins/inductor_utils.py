"""In place of `torch.testing._internal.inductor_utils`, which imports generators of code: nothing compiles here."""

HAS_CPU = HAS_GPU = HAS_TRITON = HAS_CUDA_AND_TRITON = HAS_XPU_AND_TRITON = HAS_GPU_AND_TRITON = HAS_MULTIGPU = False
GPU_TYPE = "cuda"
