"""Distances and similarities of vectors."""

from ..decomp import distance as composed
from ..table import op

op(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor",
    composite=composed.pairwise_distance,
    variants="function",
)
op(
    "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
    composite=composed.cosine_similarity,
    variants="function",
)
op("pdist(Tensor self, float p=2) -> Tensor", composite=composed.pdist, variants="function")
op(
    "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
    composite=composed.cdist,
    variants="function",
)
op("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", composite=composed.euclidean_dist, variants="function", out=True)
