"""Which dtype `out=` may have: most ops convert their result, some refuse another dtype than the result's."""

from __future__ import annotations

from collections.abc import Callable

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32
from mindtorch_storage.promotion import can_cast
from mindtorch_storage.spec import Spec

from ..meta.checks import c_type
from ..table import OpRow
from ..table.out_forms import out_schema
from ..table.tags import Tag, built_in_tags

EXACT = frozenset(
    """
    linalg_cross cross diag index_add index_copy index_reduce inverse isin.Tensor_Tensor isin.Tensor_Scalar
    isin.Scalar_Tensor linalg_cholesky linalg_cholesky_ex linalg_det linalg_eigvalsh linalg_inv linalg_inv_ex
    linalg_ldl_solve linalg_lu_solve linalg_solve linalg_solve_ex linalg_svdvals lu_solve msort avg_pool2d avg_pool3d linear
    take_along_dim tril triu _linalg_det _linalg_slogdet _linalg_solve_ex linalg_lu linalg_lu_factor linalg_lu_factor_ex
    linalg_ldl_factor linalg_ldl_factor_ex linalg_qr qr _linalg_eigh svd argsort.stable max_pool2d_with_indices
    max_pool2d_with_indices_backward avg_pool2d_backward avg_pool3d_backward adaptive_max_pool2d adaptive_max_pool3d
    adaptive_max_pool2d_backward adaptive_max_pool3d_backward fractional_max_pool2d fractional_max_pool3d reflection_pad1d
    reflection_pad3d replication_pad1d replication_pad2d replication_pad3d log_softmax.int softmax.int _softmax _log_softmax
    _softmax_backward_data _log_softmax_backward_data mean.dim mean triangular_solve nll_loss_forward bmm baddbmm
    linalg_matrix_power _linalg_svd linalg_svd linalg_eigh linalg_slogdet norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype
    frobenius_norm.dim nll_loss upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d
    upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d _upsample_nearest_exact1d _upsample_nearest_exact2d
    _upsample_nearest_exact3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa
    """.split()
)
"""Ops that refuse as those of linear algebra do. So do those whose `out=` form torch's generator makes."""

FREE = frozenset(("bernoulli",))
"""Ops that write their result into any dtype."""

SAME = frozenset(
    """
    abs ceil conj_physical trunc floor frac neg gelu hardshrink softplus softshrink round round.decimals sgn sign
    bitwise_not clamp clamp_min clamp_max hardtanh elu hardswish silu mish leaky_relu threshold log_sigmoid_backward
    hardsigmoid softshrink_backward leaky_relu_backward soft_margin_loss binary_cross_entropy
    """.split()
)
"""Elementwise ops and losses whose result has their operand's dtype."""


_TEMPLATES = {
    "expected scalar_type {} but found {}": "cummin cummax logcumsumexp",
    "expected scalar type {} but found {}": "linalg_solve_triangular log_sigmoid col2im im2col multi_margin_loss "
    "multilabel_margin_loss",
    "linalg.norm expected out tensor dtype {} but got: {}": "linalg_norm linalg_norm.ord_str",
    "linalg.matrix_norm expected out tensor dtype {} but got: {}": "linalg_matrix_norm linalg_matrix_norm.str_ord "
    "nuclear_norm nuclear_norm.dim",
    "linalg.vecdot: Expected out of dtype{} but found {}": "linalg_vecdot",
    "multi_dot(): expected out tensor to have dtype {2} but got {3}": "linalg_multi_dot chain_matmul",
    "torch.ormqr: Expected input and result to have the same dtype, but input has dtype{} and result has dtype {}": "ormqr",
    "tensordot: Expected the output tensor to have dtype {}, but got an output tensor with dtype {}": "inner tensordot",
    "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be improved?  If so, "
    "please report an enhancement request to PyTorch.)": "narrow_copy",
    "heaviside is not yet implemented for tensors with different dtypes.": "heaviside",
    "nan_to_num: dtype of out: {1} should be same as input: {0}": "nan_to_num",
    "Expected result to be of dtype uint64, but got {1}": "hash_tensor",
    "Expected out type to be {} but got {}": "where.self",
    "result dtype {1} does not match input dtype {0}": "dot vdot",
}
"""Texts of refusals and the ops that have them: of the result's dtype and the target's, then of these in C++."""


def _of_template(template: str) -> Callable[[Spec, Dtype, int], str]:
    return lambda spec, target, place: template.format(
        spec.dtype.scalar_name, target.scalar_name, c_type(spec.dtype), c_type(target)
    )


def _required_dtype(spec: Spec, target: Dtype, place: int) -> str:
    return (
        f"the output given to float_power has dtype {target.scalar_name} but the operation's result requires dtype "
        f"{spec.dtype.scalar_name}"
    )


def _of_median(spec: Spec, target: Dtype, place: int) -> str:
    where = "(while checking arguments for median)"
    if place:
        return f"Expected tensor for argument #1 'indices' to have scalar type Long; but got {target.type_name} instead {where}"
    return (
        f"Expected tensor for 'values' to have the same type as tensor for argument #2 'self'; but type {target.type_name} "
        f"does not equal {spec.dtype.type_name} {where}"
    )


def _of_kthvalue(spec: Spec, target: Dtype, place: int) -> str:
    return "output indices must be of scalar type Long" if place else "output values must be of same type as input"


def _of_mode(spec: Spec, target: Dtype, place: int) -> str:
    name = ("values", "indices")[place]
    return f"expected scalar type '{spec.dtype.scalar_name}' but got '{target.scalar_name}' for {name} output"


def _of_searchsorted(spec: Spec, target: Dtype, place: int) -> str:
    return (
        "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending on whether "
        f"out_int32 flag is True, but we got output tensor's dtype {target.scalar_name} and out_int32 flag is "
        f"{spec.dtype is int32}"
    )


def _of_nonzero_static(spec: Spec, target: Dtype, place: int) -> str:
    return f"nonzero_static: Expected out tensor to have scalar type Long but got scalar type{target.scalar_name}"


def _of_histogram(spec: Spec, target: Dtype, place: int) -> str:
    name, tail = (("hist", ""), ("bin_edges", " for dimension 0"))[place]
    return (
        f"torch.histogram: input tensor and {name} tensor should have the same dtype, but got input "
        f"{c_type(spec.dtype)} and {name} {c_type(target)}{tail}"
    )


def _of_product(spec: Spec, target: Dtype, place: int) -> str:
    if not spec.ndim:
        return f"result dtype {target.scalar_name} does not match input dtype {spec.dtype.scalar_name}"
    return expected_dtype(spec, target)


def _of_power(spec: Spec, target: Dtype, place: int) -> str:
    if can_cast(spec.dtype, target):
        return expected_dtype(spec, target)
    return (
        f"matrix_power: Expected result to be safely castable from {spec.dtype.scalar_name} dtype, but got result with "
        f"dtype {target.scalar_name}"
    )


def _of_quantile(spec: Spec, target: Dtype, place: int) -> str:
    return "quantile() out tensor must be same dtype as the input tensor"


WORDED: dict[str, Callable[[Spec, Dtype, int], str]] = {
    **dict.fromkeys(("float_power.Tensor_Tensor", "float_power.Tensor_Scalar", "float_power.Scalar"), _required_dtype),
    **dict.fromkeys(("median.dim", "nanmedian.dim"), _of_median),
    **{name: _of_template(text) for text, names in _TEMPLATES.items() for name in names.split()},
    **dict.fromkeys(
        ("searchsorted.Tensor", "searchsorted.Scalar", "bucketize.Tensor", "bucketize.Scalar"), _of_searchsorted
    ),
    **dict.fromkeys(("histogram.bins_tensor", "histogram.bin_ct"), _of_histogram),
    **dict.fromkeys(("quantile", "quantile.scalar", "nanquantile", "nanquantile.scalar"), _of_quantile),
    **dict.fromkeys(("matmul", "linalg_matmul", "linear"), _of_product),
    **dict.fromkeys(("matrix_power", "linalg_matrix_power"), _of_power),
    "kthvalue": _of_kthvalue,
    "mode": _of_mode,
    "nonzero_static": _of_nonzero_static,
}
"""Ops that refuse in words of their own: of the result, the target's dtype, and which of the results it is."""


def expected_dtype(spec: Spec, target: Dtype) -> str:
    """Return the text of a refusal."""
    return f"Expected out tensor to have dtype {c_type(spec.dtype)}, but got {c_type(target)} instead"


_CAST_SAFELY = {
    "cholesky_inverse": ("cholesky_inverse", "result"),
    "cholesky_solve": ("cholesky_solve", "result"),
    "geqrf": ("torch.geqrf", "a tau"),
    "linalg_cond": ("linalg.cond", "result"),
    "linalg_eig": ("torch.linalg.eig", "eigenvalues eigenvectors"),
    "linalg_eigvals": ("torch.linalg.eigvals", "eigenvalues"),
    "linalg_householder_product": ("torch.linalg.householder_product", "result"),
    "linalg_lstsq": ("torch.linalg.lstsq", "solution residuals rank singular_values"),
    "linalg_matrix_rank": ("torch.linalg.matrix_rank", "result"),
    "linalg_pinv": ("linalg.pinv", "result"),
    "linalg_tensorinv": ("tensorinv", "result"),
    "linalg_tensorsolve": ("tensorsolve", "result"),
    "orgqr": ("torch.linalg.householder_product", "result"),
}
"""Packets that name what cannot be converted, as torch calls them and their results."""


def _check_cast(row: OpRow, spec: Spec, target: Dtype, place: int) -> None:
    if row.packet not in _CAST_SAFELY or can_cast(spec.dtype, target):
        return
    function, names = _CAST_SAFELY[row.packet]
    name = names.split()[place]
    raise RuntimeError(
        f"{function}: Expected {name} to be safely castable from {spec.dtype.scalar_name} dtype, but got {name} with dtype "
        f"{target.scalar_name}"
    )


_TRANSFORMS = {
    f"fft_{name}{dims}": (("fft" if name == "ifft" else name) + "n" if dims else name, name in ("hfft", "irfft"))
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for dims in ("", "2", "n")
}
"""How the refusal of a Fourier transform calls it, and whether its result is real."""


def _check_transform(row: OpRow, target: Dtype) -> None:
    name, real = _TRANSFORMS[row.name]
    if target.is_floating_point if real else target.is_complex:
        return
    wanted = "floating point" if real else "complex"
    raise RuntimeError(f"{name} expects a {wanted} output tensor, but got {target.scalar_name}")


def is_exact(row: OpRow) -> bool:
    """Whether `out=` of another dtype or device is refused as by linear algebra and by what torch's generator makes."""
    return row.name in EXACT or Tag.generated in built_in_tags(out_schema(row))


def check_out_dtype(row: OpRow, spec: Spec, target: Dtype, place: int = 0) -> None:
    """Raise torch's error where the op does not convert its result, the one at `place`."""
    if spec.dtype is target:
        return
    _check_cast(row, spec, target, place)
    if row.name in _TRANSFORMS:
        _check_transform(row, target)
    if row.name in SAME:
        raise RuntimeError(f"Found dtype {target.scalar_name} but expected {spec.dtype.scalar_name}")
    if row.name in WORDED:
        raise RuntimeError(WORDED[row.name](spec, target, place))
    exact = row.meta.exact if row.meta is not None else False
    if exact or is_exact(row):
        raise RuntimeError((exact if callable(exact) else expected_dtype)(spec, target))
