"""What torch says, once in a process, of operators that will go or change."""

from __future__ import annotations

from .warn_once import warn_once

_GOES = "torch.{old} is deprecated in favor of torch.linalg.{new} and will be removed in a future PyTorch release.\n"
_TEXTS = {
    "cholesky": _GOES.format(old="cholesky", new="cholesky")
    + "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\n"
    "U = torch.cholesky(A, upper=True)\nshould be replaced with\nU = torch.linalg.cholesky(A).mH\n"
    "This transform will produce equivalent results for all valid (symmetric positive definite) inputs.",
    "index_reduce": "index_reduce() is in beta and the API may change at any time.",
    "lu": _GOES.format(old="lu", new="lu_factor / torch.linalg.lu_factor_ex")
    + "LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\n"
    "LU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)",
    "lu_solve": _GOES.format(old="lu_solve", new="lu_solve").replace(" and will", "and will")
    + "Note that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\n"
    "should be replaced with\nX = torch.linalg.lu_solve(LU, pivots, B)",
    "adjoint of 0-D": "adjoint() is deprecated on 0-D tensors. Consider using x.conj().",
    "T of 0-D": "Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.",
    "mT of 0-D": "Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.",
    "H of 0-D": "Tensor.H is deprecated on 0-D tensors. Consider using x.conj().",
    "mH of 0-D": "Tensor.mH is deprecated on 0-D tensors. Consider using x.conj().",
    "numpy_T": "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw "
    "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
    "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
    "qr": _GOES.format(old="qr", new="qr")
    + "The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\n"
    "should be replaced with\nQ, R = torch.linalg.qr(A, 'reduced' if some else 'complete')",
    "triangular_solve": _GOES.format(old="triangular_solve", new="solve_triangular").replace(" and will", "and will")
    + "torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
    "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).",
}


def warn_of_lost_part() -> None:
    """Give torch's warning of a conversion from complex to real numbers; of one with a plan, when it is planned."""
    warn_once("Casting complex values to real discards the imaginary part")


def warn_of(name: str) -> None:
    """Give torch's warning of the operator `name`; of one with a plan, when it is planned."""
    warn_once(_TEXTS[name])
