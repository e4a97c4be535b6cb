"""Discrete Fourier transforms."""

from ..decomp import fft as composed
from ..decomp import spectral
from ..meta import fft as rules
from ..table import CORE, op

op(
    "_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
    rules.c2c,
    variants="function",
    tags={CORE},
)
op(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    rules.r2c,
    variants="function",
    tags={CORE},
)
op(
    "_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
    rules.c2r,
    variants="function",
    tags={CORE},
)
for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    op(
        f"fft_{_name}(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor",
        composite=composed.one_dim(_name),
        variants="function",
        out=True,
    )
    op(
        f"fft_{_name}2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
        composite=composed.many_dims(f"{_name}n"),
        variants="function",
        out=True,
    )
    op(
        f"fft_{_name}n(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        composite=composed.many_dims(f"{_name}n"),
        variants="function",
        out=True,
    )
_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
for _name in ("fftfreq", "rfftfreq"):
    op(
        f"fft_{_name}(int n, float d=1., *, {_OPTIONS}) -> Tensor",
        composite=composed.frequencies(_name),
        variants="function",
        out=True,
    )
op("fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", composite=composed.fftshift, variants="function")
op("fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", composite=composed.ifftshift, variants="function")
_REST = "bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None"
_LENGTHS = "int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None"
op(f"stft(Tensor self, {_LENGTHS}, {_REST}) -> Tensor", composite=spectral.stft, variants="function")
op(
    f'stft.center(Tensor self, {_LENGTHS}, bool center=True, str pad_mode="reflect", {_REST}) -> Tensor',
    composite=spectral.stft_centered,
    variants="function",
)
op(
    f"istft(Tensor self, {_LENGTHS}, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, "
    "bool return_complex=False) -> Tensor",
    composite=spectral.istft,
)
