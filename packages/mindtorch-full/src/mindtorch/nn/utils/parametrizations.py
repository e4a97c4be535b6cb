"""Ready parametrizations: orthogonal, weight-normalized and spectrally normalized weights."""

from enum import Enum, auto
from typing import Any

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.functional import normalize
from mindtorch.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from mindtorch.nn.modules.module import Module
from mindtorch.nn.utils import parametrize
from mindtorch.ops_table import aten

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _is_orthogonal(q: Tensor, eps: float | None = None) -> bool:
    size = q.size(-1)
    identity = mindtorch.eye(size, dtype=q.dtype, device=q.device)
    tolerance = 10.0 * size * mindtorch.finfo(q.dtype).eps if eps is None else eps
    return mindtorch.allclose(q.mH @ q, identity, atol=tolerance)


def _make_orthogonal(a: Tensor) -> Tensor:
    """Return the orthogonal factor of ``a`` whose triangular factor has a positive diagonal."""
    reflectors, tau = mindtorch.geqrf(a)
    q = mindtorch.linalg.householder_product(reflectors, tau)
    q *= reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)
    return q


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """Maps any matrix to an orthogonal one; with a base the identity maps to the weight before."""

    base: Tensor

    def __init__(self, weight: Tensor, orthogonal_map: _OrthMaps, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, x: Tensor) -> Tensor:
        """Return the orthogonal matrix, of the shape of ``x``."""
        transposed = x.size(-2) < x.size(-1)
        if transposed:
            x = x.mT
        q = self._householder(x) if self.orthogonal_map == _OrthMaps.householder else self._of_skew(x)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if transposed else q

    def _of_skew(self, x: Tensor) -> Tensor:
        n, k = x.size(-2), x.size(-1)
        x = x.tril()
        if n != k:
            x = mindtorch.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        skew = x - x.mH
        if self.orthogonal_map == _OrthMaps.matrix_exp:
            q = mindtorch.matrix_exp(skew)
        else:
            identity = mindtorch.eye(n, dtype=skew.dtype, device=skew.device)
            q = mindtorch.linalg.solve(
                mindtorch.add(identity, skew, alpha=-0.5), mindtorch.add(identity, skew, alpha=0.5)
            )
        return q[..., :k] if n != k else q

    def _householder(self, x: Tensor) -> Tensor:
        a = x.tril(diagonal=-1)
        tau = 2.0 / (1.0 + (a * a).sum(dim=-2))
        q = mindtorch.linalg.householder_product(a, tau)
        # The diagonal holds the signs.
        return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)

    def right_inverse(self, q: Tensor) -> Tensor:
        """Return a matrix that maps to ``q``, made orthogonal."""
        if q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {q.shape}."
            )
        with mindtorch.no_grad():
            given = q
            transpose = q.size(-2) < q.size(-1)
            if transpose:
                q = q.mT
            if not hasattr(self, "base"):
                reflectors = self._reflectors(q)
                return reflectors.mT if transpose else reflectors
            self.base = self._completed(q)
            negated = mindtorch.zeros_like(given)
            negated.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return negated

    def _reflectors(self, q: Tensor) -> Tensor:
        if self.orthogonal_map in (_OrthMaps.cayley, _OrthMaps.matrix_exp):
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        reflectors, tau = mindtorch.geqrf(q)
        diagonal = reflectors.diagonal(dim1=-2, dim2=-1)
        diagonal.sign_()
        # A reflector that is the identity leaves the sign to us.
        diagonal[tau == 0.0] *= -1
        return reflectors

    def _completed(self, q: Tensor) -> Tensor:
        """Return ``q`` as a square orthogonal matrix, extended by random columns where it is not square."""
        n, k = q.size(-2), q.size(-1)
        if n == k:
            return q.clone() if _is_orthogonal(q) else _make_orthogonal(q)
        rest = mindtorch.randn((*q.size()[:-2], n, n - k), dtype=q.dtype, device=q.device)
        return _make_orthogonal(mindtorch.cat([q, rest], dim=-1))


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep the matrix ``name`` orthogonal (its smaller side); return the module.

    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(2, 2))
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(2), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module


class _WeightNorm(Module):
    """Weight as length (``original0``) times direction (``original1``)."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        """Return the weight."""
        return aten._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return length and direction."""
        return aten.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Split the parameter ``name`` into length and direction over all dimensions but ``dim``; return the module.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, 3))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([3, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def read_old_names(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_g", f"{prefix}{name}_v"]
        if all(key in state_dict for key in old):
            for index, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{index}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(read_old_names)
    return module


class _SpectralNorm(Module):
    """Weight divided by its largest singular value, estimated by power iteration."""

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            # A vector's norm needs no iteration.
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            height, width = matrix.size()
            u = matrix.new_empty(height).normal_(0, 1)
            v = matrix.new_empty(width).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, matrix: Tensor, n_power_iterations: int) -> None:
        with mindtorch.no_grad():
            for _ in range(n_power_iterations):
                self._u = normalize(mindtorch.mv(matrix, self._v), dim=0, eps=self.eps, out=self._u)
                self._v = normalize(mindtorch.mv(matrix.H, self._u), dim=0, eps=self.eps, out=self._v)

    def forward(self, weight: Tensor) -> Tensor:
        """Return the normalized weight."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Clones, as the buffers change in place at the next call.
        u = self._u.clone(memory_format=mindtorch.contiguous_format)
        v = self._v.clone(memory_format=mindtorch.contiguous_format)
        return weight / mindtorch.vdot(u, mindtorch.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """Return ``value``: assigning sets the weight before normalization."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divide the parameter ``name`` by its largest singular value; return the module.

    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(2, 3))
    >>> layer.weight.shape
    torch.Size([3, 2])
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module


adopt(globals())
