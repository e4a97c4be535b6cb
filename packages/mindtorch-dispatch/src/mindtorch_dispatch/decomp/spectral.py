"""Short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import shape_text
from ..typing import Tensor, TensorOrScalar
from ..warn_once import warn_once

_ADVICE = (
    "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


def _value(value: Any) -> str:
    return "None" if value is None else str(int(value))


def _window_text(window: Any) -> str:
    return "None" if window is None else f"{window.dtype.type_name}{{{shape_text(window.shape)}}}"


def stft_centered(
    self: Any,
    n_fft: int,
    hop_length: Any,
    win_length: Any,
    window: TensorOrScalar | None,
    center: bool,
    pad_mode: str,
    *rest: Any,
) -> Any:
    """`stft` of the signal padded so that frames are centred at their times."""
    if center:
        if rest[-1] is not None:
            raise RuntimeError("stft align_to_window should only be set when center = false.")
        lead = [1] * (3 - self.ndim)
        shape = [*lead, *self.shape]
        padded = aten.pad(aten.view(self, shape), [n_fft // 2, n_fft // 2], pad_mode)
        self = aten.view(padded, list(padded.shape)[len(shape) - self.ndim :])
    return stft(self, n_fft, hop_length, win_length, window, *rest)


def _check_stft(self: Any, n_fft: int, hop: int, win: int, window: Any, call: str) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(f"{call} : {text}")

    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        fail("expected a tensor of floating point or complex values")
    if self.ndim not in (1, 2):
        fail("expected a 1D or 2D tensor")
    extent = self.size(-1)
    if not 0 < n_fft <= extent:
        fail(f"expected 0 < n_fft < {extent}, but got n_fft={win}")
    if hop <= 0:
        fail(f"expected hop_length > 0, but got hop_length={hop}")
    if not 0 < win <= n_fft:
        fail(f"expected 0 < win_length <= n_fft, but got win_length={win}")
    if window is not None and (window.ndim != 1 or window.size(0) != win):
        fail(
            f"expected a 1D window tensor of size equal to win_length={win}, but got window with size "
            f"{shape_text(window.shape)}"
        )


def stft(
    self: Any,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: TensorOrScalar | None,
    normalized: bool,
    onesided: bool | None,
    return_complex: bool | None,
    align_to_window: bool | None,
) -> Any:
    """Transforms of overlapping, windowed frames."""
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied,which is known to cause spectral leakage. "
            "Other windows such as torch.hann_window or torch.hamming_window are recommended to reduce spectral "
            "leakage." + _ADVICE
        )
    hop = n_fft >> 2 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    call = (
        f"stft({self.dtype.type_name}{shape_text(self.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={win}, "
        f"window={_window_text(window)}, normalized={int(normalized)}, onesided={_value(onesided)}, "
        f"return_complex={_value(return_complex)}, align_to_window={_value(align_to_window)})"
    )
    as_complex = _complex_result(self, window, return_complex)
    _check_stft(self, n_fft, hop, win, window, call)
    signal = aten.unsqueeze(self, 0) if self.ndim == 1 else self
    if align_to_window and win < n_fft:
        left = (n_fft - win) // 2
        signal = aten.constant_pad_nd(signal, [left, n_fft - win - left])
    frames = aten.unfold(signal, 1, n_fft, hop)
    weights = _padded_window(signal, window, n_fft, win)
    if weights is not None:
        frames = aten.mul(frames, weights)
    scaling = 1 if normalized else 0
    if frames.dtype.is_complex:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        result = aten._fft_c2c(frames, [frames.ndim - 1], scaling, True)
    else:
        result = aten._fft_r2c(frames, [frames.ndim - 1], scaling, True if onesided is None else onesided)
    result = aten.transpose_(result, 1, 2)
    if self.ndim == 1:
        result = aten.squeeze_(result, 0)
    return result if as_complex else aten.view_as_real(result)


def _complex_result(self: Any, window: Any, return_complex: bool | None) -> bool:
    default = self.dtype.is_complex or (window is not None and window.dtype.is_complex)
    chosen = default if return_complex is None else return_complex
    if not chosen:
        if return_complex is None:
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will further require that "
                "return_complex=True in a future PyTorch release."
            )
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors "
            "for all inputs, and return_complex=False will raise an error.\nNote: you can still call "
            "torch.view_as_real "
            "on the complex output to recover the old return format."
        )
    return chosen


def _padded_window(signal: Any, window: Any, n_fft: int, win: int) -> Any:
    if win == n_fft:
        return window
    left = (n_fft - win) // 2
    given = aten.ones([win], dtype=signal.dtype, device=signal.device) if window is None else window
    return aten.constant_pad_nd(given, [left, n_fft - win - left])


def _check_istft(self: Tensor, n_fft: int, hop: int, win: int, window: Any, onesided: bool, call: str) -> None:
    def fail(text: str) -> None:
        raise RuntimeError(f"{call} : {text}")

    if self.numel() == 0:
        fail("input tensor cannot be empty.")
    if self.ndim not in (2, 3):
        fail(f"expected a tensor with 3 or 4 dimensions, but got {self.ndim + 1}")
    size = self.size(-2)
    wanted, name = (n_fft // 2 + 1, "n_fft / 2 + 1") if onesided else (n_fft, "n_fft")
    if size != wanted:
        fail(
            "expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{name} when onesided={onesided}, but got {size}"
        )
    if not 0 < hop <= win:
        fail("expected 0 < hop_length <= win_length")
    if not 0 < win <= n_fft:
        fail("expected 0 < win_length <= n_fft")
    if window is not None and (window.ndim != 1 or window.size(0) != win):
        fail("Invalid window shape. window has to be 1D and length of `win_length`")


def _inverse(self: Tensor, n_fft: int, window: Any, normalized: bool, onesided: bool, return_complex: bool) -> Any:
    frames = aten.transpose(aten.unsqueeze(self, 0) if self.ndim == 2 else self, 1, 2)
    scaling = 1 if normalized else 2
    if return_complex:
        if onesided:
            raise RuntimeError("Cannot have onesided output if window or input is complex")
        return aten._fft_c2c(frames, [frames.ndim - 1], scaling, False)
    if window is not None and window.dtype.is_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    if not onesided:
        frames = aten.slice(frames, -1, 0, n_fft // 2 + 1)
    return aten._fft_c2r(frames, [frames.ndim - 1], scaling, n_fft)


def istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
    center: bool,
    normalized: bool,
    onesided: bool | None,
    length: int | None,
    return_complex: bool,
) -> Any:
    """The signal whose `stft` is nearest to `self`: overlapping frames added, weighted by the window."""
    if window is None:
        warn_once(
            "A window was not provided. A rectangular window will be applied.Please provide the same window used by "
            "stft "
            "to make the inversion lossless." + _ADVICE
        )
    hop = n_fft >> 2 if hop_length is None else hop_length
    win = n_fft if win_length is None else win_length
    call = (
        f"istft({_kind(self)}{shape_text(self.shape)}, n_fft={n_fft}, hop_length={hop}, win_length={win}, "
        f"window={_window_text(window)}, center={int(center)}, normalized={int(normalized)}, "
        f"onesided={_value(onesided)}, "
        f"length={_value(length)}, return_complex={int(return_complex)})"
    )
    if not self.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    half = self.ndim >= 2 and self.size(-2) != n_fft if onesided is None else onesided
    _check_istft(self, n_fft, hop, win, window, half, call)
    frames = _inverse(self, n_fft, window, normalized, half, return_complex)
    weights = _padded_window(frames, window, n_fft, win)
    if weights is None:
        weights = aten.ones([n_fft], dtype=frames.dtype.to_real(), device=self.device)
    total = n_fft + hop * (frames.size(1) - 1)
    added = aten.mul(frames, aten.view(weights, [1, 1, n_fft]))
    signal = aten.unfold_backward(added, [frames.size(0), total], 1, n_fft, hop)
    squared = aten.expand(aten.pow(weights, 2), [1, frames.size(1), n_fft])
    envelope = aten.unfold_backward(aten.contiguous(squared), [1, total], 1, n_fft, hop)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    signal, envelope = aten.slice(signal, 1, start, end), aten.slice(envelope, 1, start, end)
    if bool(aten.lt(aten.min(aten.abs(envelope)), 1e-11).item()):
        raise RuntimeError(f"{call} window overlap add min: 1\n[ CPUBoolType{{}} ]")
    signal = aten.div(signal, envelope)
    if self.ndim == 2:
        signal = aten.squeeze(signal, 0)
    if end > total:
        warn_once(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings."
        )
        signal = aten.constant_pad_nd(signal, [0, end - total])
    return signal


def _kind(self: Tensor) -> str:
    return f"CPU{self.dtype.scalar_name}Type"
