"""Which dtype `out=` may have: most ops convert their result, some refuse another dtype than the result's."""

from __future__ import annotations

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..meta.checks import c_type
from ..table import OpRow

EXACT = frozenset(
    """
    alias_copy as_strided_copy linalg_cross cross diag diagonal_copy expand_copy index_add index_copy index_reduce inverse
    isin.Tensor_Tensor isin.Tensor_Scalar isin.Scalar_Tensor linalg_cholesky linalg_cholesky_ex linalg_det linalg_eigvalsh
    linalg_inv linalg_inv_ex linalg_ldl_solve linalg_lu_solve linalg_solve linalg_solve_ex linalg_svdvals lu_solve msort
    avg_pool2d avg_pool3d linear permute_copy slice_scatter squeeze_copy squeeze_copy.dim squeeze_copy.dims t_copy
    take_along_dim transpose_copy.int tril triu unfold_copy unsqueeze_copy view_copy view_copy.dtype
    count_nonzero count_nonzero.dim_IntList
    """.split()
)
"""Ops that refuse as those of linear algebra do."""

SAME = frozenset(
    """
    abs ceil conj_physical trunc floor frac neg gelu hardshrink softplus softshrink round round.decimals sgn sign bitwise_not
    clamp clamp_min clamp_max hardtanh elu hardswish
    """.split()
)
"""Elementwise ops whose result has their operand's dtype."""


def _required_dtype(spec: Spec, target: Dtype) -> str:
    return (
        f"the output given to float_power has dtype {target.scalar_name} but the operation's result requires dtype "
        f"{spec.dtype.scalar_name}"
    )


WORDED = dict.fromkeys(
    ("float_power.Tensor_Tensor", "float_power.Tensor_Scalar", "float_power.Scalar"), _required_dtype
)
"""Ops that refuse in words of their own."""


def expected_dtype(spec: Spec, target: Dtype) -> str:
    """Return the text of a refusal."""
    return f"Expected out tensor to have dtype {c_type(spec.dtype)}, but got {c_type(target)} instead"


def check_out_dtype(row: OpRow, spec: Spec, target: Dtype) -> None:
    """Raise torch's error where the op does not convert its result."""
    if spec.dtype is target:
        return
    if row.name in SAME:
        raise RuntimeError(f"Found dtype {target.scalar_name} but expected {spec.dtype.scalar_name}")
    exact = row.meta.exact if row.meta is not None else WORDED.get(row.name, False)
    if exact or row.name in EXACT:
        raise RuntimeError((exact if callable(exact) else expected_dtype)(spec, target))
