"""Attention with scores and masks given as functions, computed by materializing the scores."""

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, TypedDict

import mindtorch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn.attention._block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE,
)
from mindtorch.nn.attention._block_mask import (
    BlockMask,
    create_block_mask,
    create_mask,
    index_grid,
    noop_mask,
)
from mindtorch.nn.attention._block_mask import (
    _dense_to_ordered as _dense_to_ordered,
)
from mindtorch.nn.attention._block_mask import (
    _ordered_to_dense as _ordered_to_dense,
)
from mindtorch.nn.attention._block_mask import (
    _sliced_mask_mod_error as _sliced_mask_mod_error,
)
from mindtorch.nn.attention._block_mask import (
    _transpose_ordered as _transpose_ordered,
)

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


class AuxRequest(NamedTuple):
    """What :func:`flex_attention` returns besides the output.

    >>> from torch.nn.attention.flex_attention import AuxRequest, flex_attention
    >>> q = torch.ones(1, 1, 2, 4)
    >>> _, more = flex_attention(q, q, q, return_aux=AuxRequest(lse=True))
    >>> more.lse.shape
    torch.Size([1, 1, 2])
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for with :class:`AuxRequest`, each (B, H, Q).

    >>> torch.nn.attention.flex_attention.AuxOutput(lse=torch.zeros(1))
    AuxOutput(lse=tensor([0.]), max_scores=None)
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


class FlexKernelOptions(TypedDict, total=False):
    """Tuning of compiled CUDA kernels; accepted, without meaning for the computation here.

    >>> torch.nn.attention.flex_attention.FlexKernelOptions(BLOCK_M=64, num_warps=4)
    {'BLOCK_M': 64, 'num_warps': 4}
    """

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    BACKEND: str


def or_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a mask function that is True where any of the given ones is.

    >>> from torch.nn.attention.flex_attention import or_masks
    >>> mask = or_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: k == 6)
    >>> zero = torch.tensor(0)
    >>> mask(zero, zero, torch.tensor(2), torch.arange(7))
    tensor([ True,  True,  True, False, False, False,  True])
    """
    _check_callable(mask_mods)

    def or_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_zeros((), dtype=mindtorch.bool)
        for mask in mask_mods:
            result = result | mask(b, h, q_idx, kv_idx)
        return result

    return or_mask


def and_masks(*mask_mods: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a mask function that is True where all of the given ones are.

    >>> from torch.nn.attention.flex_attention import and_masks
    >>> mask = and_masks(lambda b, h, q, k: q >= k, lambda b, h, q, k: q - k < 2)
    >>> zero = torch.tensor(0)
    >>> mask(zero, zero, torch.tensor(5), torch.arange(7))
    tensor([False, False, False, False,  True,  True, False])
    """
    _check_callable(mask_mods)

    def and_mask(b: Tensor, h: Tensor, q_idx: Tensor, kv_idx: Tensor) -> Tensor:
        result = b.new_ones((), dtype=mindtorch.bool)
        for mask in mask_mods:
            result = result & mask(b, h, q_idx, kv_idx)
        return result

    return and_mask


def _check_callable(mask_mods: tuple[Any, ...]) -> None:
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Return attention (B, Hq, L, Ev) of (B, Hq, L, E) over (B, Hkv, S, E) and (B, Hkv, S, Ev).

    ``score_mod(score, b, h, q_idx, kv_idx)`` and the mask's ``mask_mod`` get tensors of indices that broadcast against
    the scores. Rows that see no key give zeros. With ``return_aux`` (or the deprecated ``return_lse``) the
    log-sum-exp of the scores comes second.

    >>> from torch.nn.attention.flex_attention import flex_attention
    >>> flex_attention(*[torch.ones(1, 1, 2, 4)] * 3).shape
    torch.Size([1, 1, 2, 4])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is deprecated, please use "
            "return_aux=AuxRequest(lse=True) instead."
        )
    if return_lse:
        warnings.warn(
            "return_lse is deprecated and will be removed in v2.10. Please use return_aux=AuxRequest(lse=True) "
            "instead.",
            FutureWarning,
            stacklevel=2,
        )
    if scale is None:
        scale = 1.0 / math.sqrt(query.size(-1))
    scores = _scores(query, key, scale)
    indices = index_grid(*scores.shape, device=query.device)
    if score_mod is not None:
        scores = score_mod(scores, *indices)
    if block_mask is not None:
        scores = mindtorch.where(block_mask.mask_mod(*indices), scores, -float("inf"))
    value = _for_heads(value, query)
    unseen = (scores == -float("inf")).all(dim=-1, keepdim=True)
    weights = mindtorch.where(unseen, 0.0, mindtorch.softmax(scores, dim=-1))
    output = (weights.to(query.dtype) @ value.to(query.dtype)).to(query.dtype)
    if return_lse:
        return output, mindtorch.logsumexp(scores, dim=-1)
    if return_aux is None:
        return output
    lse = mindtorch.logsumexp(scores, dim=-1) if return_aux.lse else None
    return output, AuxOutput(lse, scores.amax(dim=-1) if return_aux.max_scores else None)


def _for_heads(x: Tensor, query: Tensor) -> Tensor:
    """Return key or value with one entry per batch and query head."""
    if x.size(1) != query.size(1) and query.size(1) % x.size(1) == 0:
        x = x.repeat_interleave(query.size(1) // x.size(1), dim=1)
    return x


def _scores(query: Tensor, key: Tensor, scale: float) -> Tensor:
    """Return the scaled scores in at least single precision."""
    working = mindtorch.float64 if query.dtype == mindtorch.float64 else mindtorch.float32
    return (query @ _for_heads(key, query).to(query.dtype).transpose(-2, -1)).to(working) * scale


def _check(query: Tensor, key: Tensor, value: Tensor, block_mask: BlockMask | None, enable_gqa: bool) -> None:
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension but got "
            f"E={query.size(-1)} and E={key.size(-1)}."
        )
    q_heads, kv_heads = query.size(1), key.size(1)
    if not enable_gqa and q_heads != kv_heads:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but got "
            f"Hq={q_heads} and Hkv={kv_heads}. Try setting enable_gqa=True for GQA."
        )
    if enable_gqa and q_heads % kv_heads != 0:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={q_heads} and Hkv={kv_heads}."
        )
    if query.size(0) != key.size(0):
        _check_batches(query.size(0), key.size(0), block_mask)
    if block_mask is not None:
        _check_lengths(query.size(-2), key.size(-2), block_mask)


def _check_batches(q_batch: int, kv_batch: int, block_mask: BlockMask | None) -> None:
    if block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, but got "
            f"block_mask=None, Bq={q_batch}, and Bkv={kv_batch}."
        )
    mask_batch = block_mask.kv_num_blocks.size(0)
    if mask_batch != q_batch:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to have the same batch "
            f"size, but got Bq={q_batch}, Bkv={kv_batch}, B_block_mask={mask_batch}."
        )


def _check_lengths(q_len: int, kv_len: int, block_mask: BlockMask) -> None:
    mask_q, mask_kv = block_mask.shape[-2:]
    made_for = f"block_mask was created for block_mask.shape={block_mask.shape} but got q_len={q_len} and"
    if mask_q < q_len or mask_kv < kv_len:
        raise ValueError(
            f"{made_for} kv_len={kv_len}. As the block mask was created for a smaller length than you're using it "
            "for, you likely need to create a new block mask."
        )
    if mask_q > q_len or mask_kv > kv_len:
        raise ValueError(
            f"{made_for} kv_len={kv_len}. As the block mask was created for a larger length than you're using it for, "
            "you can either 1. create a new block mask with the correct length, or 2. 'adjust' the existing block "
            "mask to the correct length by calling block_mask._adjust(q_len, kv_len). This essentially 'crops' the "
            "block mask to the upper left corner, which does not work for all mask_mods!"
        )


adopt(globals())
