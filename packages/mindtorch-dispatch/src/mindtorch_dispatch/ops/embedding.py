"""Embedding tables."""

from ..decomp import embedding as composed
from ..meta import embedding as rules
from ..table import CORE, DYNAMIC, op

_BAG = "Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
_FOUR = "-> (Tensor, Tensor, Tensor, Tensor)"

op(
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) "
    "-> Tensor",
    rules.embedding,
    variants="function",
    tags={CORE},
)
op(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, "
    "bool scale_grad_by_freq) -> Tensor",
    rules.dense_backward,
    variants="",
    tags={CORE},
)
op(
    "embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq, "
    "bool sparse) -> Tensor",
    composite=composed.embedding_backward,
    variants="",
)
op(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)",
    rules.renorm,
    variants="function",
)
for _name in ("_embedding_bag", "_embedding_bag_forward_only"):
    op(
        f"{_name}({_BAG}Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) {_FOUR}",
        rules.bag,
        variants="function",
    )
op(
    f"embedding_bag({_BAG}Tensor? per_sample_weights=None, bool include_last_offset=False) {_FOUR}",
    composite=composed.embedding_bag,
    variants="function",
)
op(
    "embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, "
    f"bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) {_FOUR}",
    composite=composed.embedding_bag,
    variants="function",
)
op(
    "_embedding_bag_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
    "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, bool sparse, "
    "Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    composite=composed.embedding_bag_backward,
    variants="",
)
op(
    "_embedding_bag_sparse_backward(Tensor grad, Tensor indices, Tensor offsets, Tensor offset2bag, Tensor bag_size, "
    "SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, int padding_idx=-1) -> Tensor",
    composite=composed.embedding_bag_sparse_backward,
    variants="",
)
op(
    "_embedding_bag_dense_backward(Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size, "
    "Tensor maximum_indices, SymInt num_weights, bool scale_grad_by_freq, int mode, Tensor? per_sample_weights, "
    "int padding_idx=-1) -> Tensor",
    rules.bag_dense_backward,
    variants="",
)
op(
    "_embedding_bag_per_sample_weights_backward(Tensor grad, Tensor weight, Tensor indices, Tensor offsets, "
    "Tensor offset2bag, int mode, int padding_idx=-1) -> Tensor",
    rules.bag_weights_backward,
    variants="",
)
op("one_hot(Tensor self, int num_classes=-1) -> Tensor", rules.one_hot, variants="nn", tags={DYNAMIC})
