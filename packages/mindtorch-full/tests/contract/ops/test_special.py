"""Special functions, complex numbers, Fourier transforms and windows where op_db does not look."""

import pytest

from .expressions import agrees

SPECIAL = [
    *(
        f"t.special.{name}(f)"
        for name in (
            "entr erfcx i0e i1 i1e log_ndtr ndtr ndtri airy_ai bessel_j0 bessel_y0 modified_bessel_i0 "
            ""
            "modified_bessel_k1 scaled_modified_bessel_k0 spherical_bessel_j0 digamma erfinv gammaln logit sinc"
        ).split()
    ),
    *(
        f"t.special.{name}({operand})"
        for name in ("entr", "erfcx", "i1", "ndtri", "zeta", "xlog1py")
        for operand in ("c", "h", "i", "b")
        if name not in ("zeta", "xlog1py")
    ),
    "t.special.zeta(v, 2)",
    "t.special.zeta(2, v)",
    "t.special.zeta(h, h)",
    "t.special.zeta(c, 2)",
    "t.special.xlog1py(v, i[:, :1])",
    "t.special.xlog1py(0, f)",
    "t.polygamma(2, v)",
    "t.polygamma(-1, v)",
    "v.polygamma(1)",
    "t.polygamma(1, c)",
    "t.mvlgamma(v + 3, 2)",
    "t.mvlgamma(v, 0)",
    "t.mvlgamma(b, 1)",
    "t.igamma(v, v)",
    "t.igammac(v, v)",
    "t.igamma(i, i)",
    "t.frexp(f)",
    "t.frexp(h)",
    "t.frexp(i)",
    "t.special.multigammaln(v + 3, 2)",
    *(
        f"t.special.{name}(v, 5)"
        for name in (
            "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
            "hermite_polynomial_h "
            "hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p shifted_chebyshev_polynomial_t "
            "shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v shifted_chebyshev_polynomial_w"
        ).split()
    ),
    "t.special.chebyshev_polynomial_t(t.tensor([1.0, -1.0, 0.3]), t.tensor([-1, 7, 40]))",
    "t.special.hermite_polynomial_h(v, 600)",
    "t.special.laguerre_polynomial_l(h, 2)",
]

COMPLEX = [
    "t.complex(v, v)",
    "t.complex(v, v.double())",
    "t.complex(i, i)",
    "t.polar(v, v)",
    "t.view_as_real(c)",
    "t.view_as_real(v)",
    "t.view_as_complex(t.ones(3, 2))",
    "t.view_as_complex(t.ones(3, 3))",
    "t.view_as_complex(v)",
    "t.view_as_complex(t.ones(2, 3).t())",
    "t.view_as_complex(t.ones(5)[1:].view(2, 2))",
    "t.real(c)",
    "t.imag(c)",
    "t.imag(v)",
    "c[1:].imag",
    "t.view_as_real(c[1:])",
    "t.view_as_complex(z)",
    "t.complex(v, v, out=t.empty(4))",
]

FOURIER = [
    "t.fft.fft(n)",
    "t.fft.fft(n, dim=0)",
    "t.fft.rfft(n, dim=1)",
    "t.fft.irfft(t.fft.rfft(n, dim=0), dim=0)",
    "t.fft.fftn(n, dim=(0, 2))",
    "t.fft.irfftn(t.fft.rfftn(n, dim=(1, 0)), dim=(1, 0))",
    "t.fft.hfft(c)",
    "t.fft.ihfft(v)",
    "t.fft.fft(v, 2)",
    "t.fft.fft(v, 7)",
    "t.fft.fft(v, 0)",
    "t.fft.fft(v, norm='a')",
    "t.fft.rfft(c)",
    "t.fft.rfftn(c)",
    "t.fft.fft(h)",
    "t.fft.fft(b)",
    "t.fft.fft(z)",
    "t.fft.fftn(z)",
    "t.fft.fftn(v, (2, 2))",
    "t.fft.fftn(n, dim=(0, 0))",
    "t.fft.irfftn(c, dim=())",
    "t.fft.fftfreq(5, 0.5)",
    "t.fft.rfftfreq(4)",
    "t.fft.fftfreq(3, dtype=t.int64)",
    "t.fft.fftshift(n)",
    "t.fft.ifftshift(v)",
    "t.fft.fftshift(v, 1)",
    "t.fft.fft(v, norm='ortho')",
    "t.stft(t.arange(32.0), 8, window=t.hann_window(8), return_complex=True)",
    "t.stft(t.arange(32.0), 8)",
    "t.stft(t.arange(32.0), 8, return_complex=True, center=False, win_length=4, align_to_window=True)",
    "t.stft(t.arange(4.0), 8, return_complex=True, center=False)",
    "t.stft(t.arange(32.0), 8, 0, return_complex=True)",
    "t.arange(32.0).stft(8, window=t.ones(3), return_complex=True)",
    "t.istft(t.stft(t.arange(32.0), 8, window=t.hann_window(8), return_complex=True), 8, window=t.hann_window(8))",
    "t.istft(t.ones(5, 17, dtype=t.complex64), 8, onesided=False)",
    "t.istft(v, 8)",
    "t.istft(t.ones(5, 3).cfloat(), 8, 9)",
    "t.ops.aten.unfold_backward(t.arange(24.0).reshape(4, 6), [9], 0, 6, 1)",
    "t.ops.aten.unfold_backward(t.arange(30.0).reshape(2, 3, 5), [2, 9], 1, 5, 2)",
    "t.ops.aten.unfold_backward(t.arange(24.0).reshape(3, 2, 4), [13, 2], 0, 4, 4)",
    "t.ops.aten.unfold_backward(t.arange(12.0).reshape(3, 4), [15], 0, 4, 5)",
]

WINDOWS = [
    *(
        f"t.{name}_window({arguments})"
        for name in ("hann", "hamming", "blackman", "bartlett", "kaiser")
        for arguments in ("0", "1", "6", "7, False", "5, dtype=t.float64", "-1", "3, dtype=t.int64")
    ),
    "t.hann_window(5, dtype=t.float16)",
    "t.hamming_window(5, True, 0.6)",
    "t.hamming_window(5, True, 0.6, 0.3)",
    "t.kaiser_window(5, True, 3.0)",
    *(
        f"t.signal.windows.{name}({arguments})"
        for name in ("hann", "bartlett", "cosine", "exponential", "gaussian", "kaiser")
        for arguments in ("0", "1", "6", "6, sym=False", "-1", "3, dtype=t.int64")
    ),
]


@pytest.mark.parametrize("expression", SPECIAL + COMPLEX + FOURIER + WINDOWS)
def test_as_in_torch(expression):
    agrees(expression)
