"""Meta rules of embedding tables."""

from __future__ import annotations

from mindtorch_storage.dtype import float64, int64
from mindtorch_storage.spec import Spec

from .checks import check, expect
from .rule import MetaRule, Outputs, meta_rule

SUM, MEAN, MAX = 0, 1, 2


def check_index_dtype(indices: Spec, name: str, place: int, op: str) -> None:
    """Raise torch's error for indices that are not int64 or int32."""
    check(
        indices.dtype.name in ("int64", "int32"),
        lambda: (
            f"Expected tensor for argument #{place} '{name}' to have one of the following scalar types: Long, Int; but "
            f"got {indices.dtype.type_name} instead (while checking arguments for {op})"
        ),
    )


@meta_rule(out=True)
def embedding(weight: Spec, indices: Spec, padding_idx: int = -1, scale: bool = False, sparse: bool = False) -> Spec:
    """`embedding`: rows by number."""
    check(weight.ndim == 2, lambda: "'weight' must be 2-D")
    check_index_dtype(indices, "indices", 1, "embedding")
    return Spec.of(weight.dtype, weight.device, (*indices.shape, weight.shape[1]))


@meta_rule(out=True)
def dense_backward(grad_output: Spec, indices: Spec, num_weights: int, padding_idx: int, scale: bool) -> Spec:
    """`embedding_dense_backward`."""
    check_index_dtype(indices, "indices", 2, "embedding_backward")
    check(num_weights >= 0, lambda: "zeros: Dimension size must be non-negative.")
    return Spec.of(grad_output.dtype, grad_output.device, (num_weights, grad_output.shape[-1]))


def _renorm(self: Spec, indices: Spec, max_norm: float, norm_type: float) -> Spec:
    check(
        self.ndim == 2,
        lambda: (
            f"Expected 2-dimensional tensor, but got {self.ndim}-dimensional tensor for argument #1 'self' (while "
            "checking arguments for embedding_renorm_)"
        ),
    )
    check_index_dtype(indices, "indices", 2, "embedding_renorm_")
    check(
        self.dtype.is_floating_point or self.dtype.is_complex,
        lambda: (
            f"norm(): input dtype should be either floating point or complex. Got {self.dtype.scalar_name} instead."
        ),
    )
    return self


renorm = MetaRule(_renorm, aliases_ok=True)
"""`embedding_renorm_`: rows scaled down in place."""


def _check_bag(weight: Spec, indices: Spec, offsets: Spec, mode: int, samples: Spec | None, padding_idx: int) -> None:
    check(
        indices.ndim in (1, 2), lambda: f"input has to be a 1D or 2D Tensor, but got Tensor of dimension {indices.ndim}"
    )
    if indices.ndim == 1:
        check(offsets.ndim == 1, lambda: f"offsets has to be a 1D Tensor, but got Tensor of dimension {offsets.ndim}")
    check(weight.ndim == 2, lambda: f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    check(
        padding_idx == -1 or -weight.shape[0] <= padding_idx < weight.shape[0],
        lambda: (
            f"padding_idx must be within the number of embeddings, -{weight.shape[0]} through {weight.shape[0] - 1}, "
            f"but got {padding_idx}"
        ),
    )
    check_index_dtype(indices, "indices", 1, "embedding_bag")
    check_index_dtype(offsets, "offsets", 1, "embedding_bag")
    check(
        weight.dtype.is_floating_point,
        lambda: (
            "Expected tensor for argument #1 'weight' to have one of the following scalar types: Half, BFloat16, "
            f"Float, Double; but got {weight.dtype.type_name} instead (while checking arguments for embedding_bag)"
        ),
    )
    if samples is None:
        return
    check(mode == SUM, lambda: "embedding_bag: per_sample_weights only supported with mode='sum'")
    check(
        samples.dtype is weight.dtype,
        lambda: (
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {weight.dtype.type_name} does not equal {samples.dtype.type_name} (while "
            "checking arguments for embedding_bag)"
        ),
    )
    expect(samples.numel == indices.numel, "per_sample_weights.value().numel() == indices.numel()")


def _adds_in_one_pass(weight: Spec, samples: Spec | None) -> bool:
    """Whether torch adds rows of such a table in one pass, which needs no numbers of bags."""
    in_place = weight.stride[1] == 1 and (samples is None or samples.stride[0] == 1)
    return in_place and weight.dtype is not float64


@meta_rule()
def bag(
    weight: Spec,
    indices: Spec,
    offsets: Spec,
    scale: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Spec | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Spec, ...]:
    """`_embedding_bag`: the bags, the bag of every index, the sizes of the bags, the rows that won in `max`."""
    _check_bag(weight, indices, offsets, mode, per_sample_weights, padding_idx)
    bags = offsets.shape[0] - (1 if include_last_offset else 0)
    out = Spec.of(weight.dtype, weight.device, (bags, weight.shape[1]))
    fast = mode == SUM and padding_idx < 0 and _adds_in_one_pass(weight, per_sample_weights)
    of_bags = Spec.of(indices.dtype, weight.device, (bags,))
    positions = Spec.of(indices.dtype, weight.device, (0 if fast else indices.numel,))
    winners = Spec.of(indices.dtype, weight.device, tuple(out.shape)) if mode == MAX else of_bags
    return out, positions, of_bags, winners


@meta_rule()
def bag_dense_backward(
    grad: Spec,
    indices: Spec,
    offset2bag: Spec,
    bag_size: Spec,
    maximum_indices: Spec,
    num_weights: int,
    scale: bool,
    mode: int,
    per_sample_weights: Spec | None,
    padding_idx: int = -1,
) -> Spec:
    """`_embedding_bag_dense_backward`."""
    return Spec.of(grad.dtype, grad.device, (num_weights, grad.shape[1]))


@meta_rule()
def bag_weights_backward(
    grad: Spec, weight: Spec, indices: Spec, offsets: Spec, offset2bag: Spec, mode: int, padding_idx: int = -1
) -> Spec:
    """`_embedding_bag_per_sample_weights_backward`."""
    check(mode == SUM, lambda: "embedding_bag_backward: per_sample_weights only supported for mode='sum'")
    return Spec.of(grad.dtype, grad.device, (indices.shape[0],))


@meta_rule()
def one_hot(self: Spec, num_classes: int = -1) -> Outputs:
    """`one_hot`: the kernel finds the number of classes where none is given."""
    check(self.dtype is int64, lambda: "one_hot is only applicable to index tensor of type LongTensor.")
    if self.numel == 0:
        check(num_classes > 0, lambda: "Can not infer total number of classes from empty tensor.")
    return Outputs(Spec.of(int64, self.device, (*self.shape, max(num_classes, 1))))
