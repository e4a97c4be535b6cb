"""Functions that torch took out: they raise and name their successors, in torch's words."""

from __future__ import annotations

from typing import Any

from .._naming import adopt

__all__ = ["eig", "lstsq", "matrix_rank", "solve", "symeig"]

_GONE = "This function was deprecated since version 1.9 and is now removed."

_SOLVE = (
    f"{_GONE} `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments "
    "reversed and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be used "
    "with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
    "X = torch.linalg.solve(A, B)"
)
_EIG = (
    f"{_GONE} `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors "
    "mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n\n"
    "and\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced with:\nL_complex, V_complex = torch.linalg.eig(A)"
)
_SYMEIG = (
    f"{_GONE} The default behavior has changed from using the upper triangular portion of the matrix by default to using "
    "the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
    "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) should "
    "be replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"
)
_LSTSQ = (
    f"{_GONE} `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed arguments "
    "and does not return the QR decomposition in the returned tuple (although it returns other information about the "
    "problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nThe returned solution in `torch.lstsq` "
    "stored the residuals of the solution in the last m - n columns of the returned value whenever m > n. In "
    "torch.linalg.lstsq, the residuals are in the field 'residuals' of the returned named tuple.\n\nThe unpacking of the "
    "solution, as in\nX, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
    "X = torch.linalg.lstsq(A, B).solution"
)
_MATRIX_RANK = (
    f"{_GONE}\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was renamed in "
    "`torch.linalg.matrix_rank()` to 'hermitian'."
)
_REINFORCE = (
    "reinforce() was removed.\nUse torch.distributions instead.\nSee https://pytorch.org/docs/main/distributions.html\n\n"
    "Instead of:\n\nprobs = policy_network(state)\naction = probs.multinomial()\nnext_state, reward = env.step(action)\n"
    "action.reinforce(reward)\naction.backward()\n\nUse:\n\nprobs = policy_network(state)\n"
    "# NOTE: categorical is equivalent to what used to be called multinomial\nm = torch.distributions.Categorical(probs)\n"
    "action = m.sample()\nnext_state, reward = env.step(action)\nloss = -m.log_prob(action) * reward\nloss.backward()\n"
)


def solve(input: Any, A: Any, *, out: Any = None) -> Any:
    """Raise RuntimeError: use `torch.linalg.solve`."""
    raise RuntimeError(_SOLVE)


def eig(self: Any, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> Any:
    """Raise RuntimeError: use `torch.linalg.eig`."""
    raise RuntimeError(_EIG)


def symeig(input: Any, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> Any:
    """Raise RuntimeError: use `torch.linalg.eigh`."""
    raise RuntimeError(_SYMEIG)


def lstsq(input: Any, A: Any, *, out: Any = None) -> Any:
    """Raise RuntimeError: use `torch.linalg.lstsq`."""
    raise RuntimeError(_LSTSQ)


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> Any:
    """Raise RuntimeError: use `torch.linalg.matrix_rank`."""
    raise RuntimeError(_MATRIX_RANK)


def reinforce(self: Any, reward: Any) -> Any:
    """Raise RuntimeError: use `torch.distributions`."""
    raise RuntimeError(_REINFORCE)


adopt(globals(), "torch")
