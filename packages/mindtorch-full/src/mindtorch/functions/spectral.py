"""`stft` as upstream writes it in Python: the signal is padded here, the rest is the op's."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.override import overrides

from .._naming import adopt


def stft(
    input: Any,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Any = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    """Short-time Fourier transform: transforms of overlapping, windowed frames of a signal or a batch of them.

    >>> torch.stft(torch.ones(8), 4, window=torch.ones(4), return_complex=True).shape
    torch.Size([3, 9])
    """
    options = {
        "hop_length": hop_length,
        "win_length": win_length,
        "window": window,
        "center": center,
        "pad_mode": pad_mode,
        "normalized": normalized,
        "onesided": onesided,
        "return_complex": return_complex,
        "align_to_window": align_to_window,
    }
    handled, result = overrides.handle(stft, (input, n_fft), options)
    if handled:
        return result
    if center:
        if align_to_window is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false")
        ndim = input.dim()
        padded = aten.pad(input.view([1] * (3 - ndim) + list(input.shape)), [n_fft // 2, n_fft // 2], pad_mode)
        input = padded.view(list(padded.shape)[-ndim:])
    return aten.stft.default(
        input, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window
    )


adopt(globals(), "torch.functional")
