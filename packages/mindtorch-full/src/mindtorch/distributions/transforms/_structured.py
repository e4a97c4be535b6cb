"""Maps of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch.distributions import constraints
from mindtorch.distributions.utils import _sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix
from mindtorch.nn.functional import pad, softplus

from ._base import Transform, equal_by_type
from ._pointwise import _clipped_sigmoid


class ReshapeTransform(Transform):
    """The same numbers in another event shape.

    >>> torch.distributions.ReshapeTransform((4,), (2, 2))(torch.zeros(4)).shape
    torch.Size([2, 2])
    """

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape = torch.Size(in_shape)
        self.out_shape = torch.Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """The reals in the first shape."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """The reals in the second shape."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with or without memory."""
        if self._cache_size == cache_size:
            return self
        return ReshapeTransform(self.in_shape, self.out_shape, cache_size=cache_size)

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """Zero: no volume changes."""
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _replaced(shape: Any, before: Any, after: Any) -> Any:
        if len(shape) < len(before):
            raise ValueError("Too few dimensions on input")
        cut = len(shape) - len(before)
        if shape[cut:] != before:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {before}")
        return shape[:cut] + after

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result for a shape of the argument."""
        return self._replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of the argument for a shape of the result."""
        return self._replaced(shape, self.out_shape, self.in_shape)


@equal_by_type
class SoftmaxTransform(Transform):
    """Weights as probabilities; not invertible, but stable.

    >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        """The same shape."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape

    inverse_shape = forward_shape


@equal_by_type
class StickBreakingTransform(Transform):
    """``K - 1`` reals as ``K`` probabilities, each a share of what the ones before left.

    >>> torch.distributions.StickBreakingTransform()(torch.zeros(1))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _call(self, x: Any) -> Any:
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        z = _clipped_sigmoid(x - offset.log())
        left = (1 - z).cumprod(-1)
        shares: Any = pad(z, [0, 1], value=1)
        return shares * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cropped = y[..., :-1]
        offset = y.shape[-1] - y.new_ones(cropped.shape[-1]).cumsum(-1)
        rest = torch.clamp(1 - cropped.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return cropped.log() - rest.log() + offset.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the change of volume."""
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + torch.nn.functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One entry more."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return torch.Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        """One entry less."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return torch.Size((*shape[:-1], shape[-1] - 1))


@equal_by_type
class LowerCholeskyTransform(Transform):
    """Matrices as lower-triangular ones with a positive diagonal.

    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


@equal_by_type
class PositiveDefiniteTransform(Transform):
    """Matrices as positive definite ones.

    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """A vector as the Cholesky factor of a correlation matrix, by partial correlations.

    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(x.clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)
        return r * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = pad((1 - torch.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """The logarithm of the change of volume."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        stick = 0.5 * left.log().sum(-1)
        tanh = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(dim=-1)
        return stick + tanh

    def forward_shape(self, shape: Any) -> Any:
        """A square matrix per vector."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        entries = shape[-1]
        size = round((0.25 + 2 * entries) ** 0.5 + 0.5)
        if size * (size - 1) // 2 != entries:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return torch.Size((*shape[:-1], size, size))

    def inverse_shape(self, shape: Any) -> Any:
        """A vector per square matrix."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return torch.Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


def _transforms(tseq: Any, cache_size: int) -> list[Transform]:
    if not all(isinstance(t, Transform) for t in tseq):
        raise AssertionError("All elements of tseq must be Transform instances")
    return [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)


class CatTransform(Transform):
    """Maps side by side along a dimension, each over as many entries as given.

    >>> from torch.distributions import AbsTransform, CatTransform, ExpTransform
    >>> CatTransform([ExpTransform(), AbsTransform()])(torch.tensor([0.0, -1.0]))
    tensor([1., 1.])
    """

    transforms: list[Transform]

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        transforms = _transforms(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.transforms = transforms
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must have same length as transforms ({len(self.transforms)})"
            )
        self.dim = dim

    @property
    def event_dim(self) -> int:
        """That of the widest part."""
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """All entries."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with or without memory."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _pieces(self, value: Any) -> list[Any]:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")
        if value.size(self.dim) != self.length:
            raise AssertionError(f"size {value.size(self.dim)} at dim {self.dim} must equal length {self.length}")
        pieces = []
        start = 0
        for length in self.lengths:
            pieces.append(value.narrow(self.dim, start, length))
            start = start + length
        return pieces

    def _call(self, x: Any) -> Any:
        return torch.cat([t(piece) for t, piece in zip(self.transforms, self._pieces(x), strict=True)], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        pieces = zip(self.transforms, self._pieces(y), strict=True)
        return torch.cat([t.inv(piece) for t, piece in pieces], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The parts' side by side, or their sum if the dimension lies inside a value."""
        terms = []
        for t, before, after in zip(self.transforms, self._pieces(x), self._pieces(y), strict=True):
            term = t.log_abs_det_jacobian(before, after)
            if t.event_dim < self.event_dim:
                term = _sum_rightmost(term, self.event_dim - t.event_dim)
            terms.append(term)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim = dim + self.event_dim
        if dim < 0:
            return torch.cat(terms, dim=dim)
        return sum(terms)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Maps of the slices of a dimension.

    >>> from torch.distributions import AbsTransform, ExpTransform, StackTransform
    >>> StackTransform([ExpTransform(), AbsTransform()])(torch.tensor([0.0, -1.0]))
    tensor([1., 1.])
    """

    transforms: list[Transform]

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        transforms = _transforms(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.transforms = transforms
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same with or without memory."""
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _slice(self, z: Any) -> list[Any]:
        if not -z.dim() <= self.dim < z.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {z.dim()} dimensions")
        if z.size(self.dim) != len(self.transforms):
            raise AssertionError(f"size {z.size(self.dim)} at dim {self.dim} must equal {len(self.transforms)}")
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _call(self, x: Any) -> Any:
        return torch.stack([t(piece) for piece, t in zip(self._slice(x), self.transforms, strict=True)], self.dim)

    def _inverse(self, y: Any) -> Any:
        return torch.stack([t.inv(piece) for piece, t in zip(self._slice(y), self.transforms, strict=True)], self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The parts', stacked."""
        triples = zip(self._slice(x), self._slice(y), self.transforms, strict=True)
        return torch.stack([t.log_abs_det_jacobian(before, after) for before, after, t in triples], dim=self.dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts', stacked."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts', stacked."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
