"""`torch._refs.fft`: Fourier transforms."""

import mindtorch as torch
from mindtorch._refs._bind import bind
from mindtorch._refs._names import FFT

__all__ = bind(globals(), FFT, torch.fft, torch)
