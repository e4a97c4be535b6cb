"""Meta rules of gathering and scattering along one dimension."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from ..apart import PARTLY, WHOLLY, Apart
from ..typing import Scalar
from .checks import check, shape_text, wrap_dim
from .rule import MetaRule, Outputs, meta_rule


def _check_index_dtype(name: str, index: Spec) -> None:
    check(
        index.numel == 0 or index.dtype.name in ("int64", "int32"),
        lambda: f"{name}(): Expected dtype int32/int64 for index",
    )


@meta_rule(out=True, exact=True, apart=Apart(PARTLY, {0: WHOLLY}, resized=True))
def gather(self: Spec, dim: int, index: Spec, sparse_grad: bool = False) -> Outputs:
    """`gather`."""
    dim = wrap_dim(dim, self.ndim)
    answer = Outputs(Spec.of(self.dtype, self.device, index.shape), values=(self, dim, index))
    _check_index_dtype("gather", index)
    if index.numel == 0:
        return answer
    check(
        max(self.ndim, 1) == max(index.ndim, 1),
        lambda: "Index tensor must have the same number of dimensions as input tensor",
    )
    for place in range(index.ndim):
        check(
            place == dim or not self.ndim or index.shape[place] <= self.shape[place],
            lambda place=place: (
                f"Size does not match at dimension {place} expected index "
                f"{shape_text(index.shape)} to be no larger than self {shape_text(self.shape)} apart from dimension {dim}"
            ),
        )
    return answer


def check_scatter(self: Spec, dim: int, index: Spec, src: Spec | None) -> None:
    """Raise torch's errors for an index and a source that do not fit a scatter."""
    _check_index_dtype("scatter", index)
    check(src is None or src.dtype is self.dtype, lambda: "scatter(): Expected self.dtype to be equal to src.dtype")
    if index.numel == 0:
        return
    ndim = max(self.ndim, 1)
    check(ndim == max(index.ndim, 1), lambda: "Index tensor must have the same number of dimensions as self tensor")
    shape, places = tuple(self.shape) or (1,), tuple(index.shape) or (1,)
    fits = all(extent <= shape[place] for place, extent in enumerate(places) if place != dim)
    if src is None:
        check(
            fits,
            lambda: (
                f"Expected index {shape_text(index.shape)} to be no larger than self {shape_text(self.shape)} apart "
                f"from dimension {dim}"
            ),
        )
        return
    given = tuple(src.shape) or (1,)
    for place in range(min(ndim, len(given) + 1)):
        wrap_dim(place, len(given))
        fits = fits and places[place] <= given[place]
    check(len(given) == ndim, lambda: "Index tensor must have the same number of dimensions as src tensor")
    check(
        fits,
        lambda: (
            f"Expected index {shape_text(index.shape)} to be no larger than self {shape_text(self.shape)} apart from "
            f"dimension {dim} and to be no larger size than src {shape_text(src.shape)}"
        ),
    )


def _scatter(allowed: tuple[str, ...] | None, wrong: str) -> MetaRule:
    def rule(
        self: Spec, dim: int, index: Spec, src: Scalar | Spec, reduce: str | None = None, include_self: bool = True
    ) -> Outputs:
        dim = wrap_dim(dim, self.ndim)
        check_scatter(self, dim, index, src if isinstance(src, Spec) else None)
        if allowed is not None:
            check(reduce is None or reduce in allowed, lambda: wrong.format(reduce))
        return Outputs(self.contiguous(), values=(self, dim, index, src, reduce, include_self))

    return MetaRule(
        rule, inplace=True, out=True, aliases_ok=True, exact=True, apart=Apart(WHOLLY, {0: PARTLY}, resized=True)
    )


scatter = _scatter(("add", "multiply"), "reduce argument must be either add or multiply.")
"""`scatter`: the source's elements, or a number, written or combined at positions."""

scatter_add = _scatter(None, "")
"""`scatter_add`."""

scatter_reduce = _scatter(
    ("sum", "prod", "mean", "amax", "amin"), "reduce argument must be either sum, prod, mean, amax or amin, got {}"
)
"""`scatter_reduce`."""
