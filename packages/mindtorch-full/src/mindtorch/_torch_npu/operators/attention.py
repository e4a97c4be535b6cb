"""`torch_npu.npu_fusion_attention` and its kin: attention in the vendor's layouts, and its gradients."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse_given
from mindtorch._torch_npu.operators._scores import EVERY, Call, attend
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_fusion_attention", "npu_fusion_attention_grad", "npu_fusion_attention_grad_v2", "npu_fusion_attention_grad_v3",
    "npu_fusion_attention_v2", "npu_fusion_attention_v3",
]  # fmt: skip

_INPUTS = "Tensor query, Tensor key, Tensor value, int head_num, str input_layout"
_BACK = "Tensor query, Tensor key, Tensor value, Tensor dy, int head_num, str input_layout, *"
_MASKS = "Tensor? pse=None, Tensor? padding_mask=None, Tensor? atten_mask=None"
_SAVED = "Tensor? softmax_max=None, Tensor? softmax_sum=None, Tensor? softmax_in=None, Tensor? attention_in=None"
_BAND = "float keep_prob=1., int pre_tockens=2147483647, int next_tockens=2147483647, int inner_precise=0"
_BAND_2 = _BAND.replace("tockens", "tokens")
_DRAWN = "int seed=0, int offset=0, int numels=0"
_ENDS = "int[]? prefix=None, int[]? actual_seq_qlen=None, int[]? actual_seq_kvlen=None"
_ENDS_3 = "int[]? prefix=None, Tensor? actual_seq_qlen=None, Tensor? actual_seq_kvlen=None"
_MODE = "int sparse_mode=0, bool gen_mask_parallel=True, bool sync=False"
_STARTS = "int pse_type=1, int[]? q_start_idx=None, int[]? kv_start_idx=None"
_SINK = 'str softmax_layout="", Tensor? sink=None'
_GIVEN = "Tensor? dropout_mask=None, int seed=0, int offset=0"

Outputs = tuple[Tensor, Tensor, Tensor, Tensor, int, int, int]
Numbers = Sequence[int] | None


def _run(
    call: Call, query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Tensor | None, kept: Tensor | None
) -> Outputs:
    out, largest, sums, drawn = attend(call, query, key, value, pse, mask, kept)
    return out, largest, sums, query.new_empty(0), call.seed or 0, call.offset, drawn


def _ends(rows: Numbers, columns: Numbers) -> tuple[Sequence[int], Sequence[int]] | None:
    return None if rows is None or columns is None else (rows, columns)


@operator(
    f"npu_fusion_attention({_INPUTS}, {_MASKS}, float scale=1., {_BAND}, {_ENDS}, {_MODE}, {_SINK}, {_GIVEN}) "
    "-> (Tensor, Tensor, Tensor, Tensor, int, int, int)"
)
def npu_fusion_attention(
    query: Tensor, key: Tensor, value: Tensor, head_num: int, input_layout: str, pse: Tensor | None = None,
    padding_mask: Tensor | None = None, atten_mask: Tensor | None = None, scale: float = 1.0, keep_prob: float = 1.0,
    pre_tockens: int = EVERY, next_tockens: int = EVERY, inner_precise: int = 0, prefix: Numbers = None,
    actual_seq_qlen: Numbers = None, actual_seq_kvlen: Numbers = None, sparse_mode: int = 0,
    gen_mask_parallel: bool = True, sync: bool = False, softmax_layout: str = "", sink: Tensor | None = None,
    dropout_mask: Tensor | None = None, seed: int = 0, offset: int = 0,
) -> Outputs:  # fmt: skip
    """Return attention, each row's largest score and sum eight times each, an empty tensor, and dropout's numbers.

    `atten_mask` is true where nothing is to be seen. The layout TND holds sequences one after the other, ending where
    `actual_seq_qlen` and `actual_seq_kvlen` say. Seed, offset and count of dropout are for `npu_fusion_attention_grad`.
    Raises NotImplementedError for what is not supported.
    """
    name = "npu_fusion_attention"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    call = Call(
        name, head_num, input_layout, scale, keep_prob, pre_tockens, next_tockens, sparse_mode,
        _ends(actual_seq_qlen, actual_seq_kvlen), seed=seed or None, offset=offset, prefix=prefix,
    )  # fmt: skip
    return _run(call, query, key, value, pse, atten_mask, dropout_mask)


@operator(
    f"npu_fusion_attention_v2({_INPUTS}, *, {_MASKS}, Tensor? query_rope=None, Tensor? key_rope=None, float scale=1., "
    f"{_BAND_2}, {_ENDS}, {_MODE}, {_STARTS}, {_SINK}, {_GIVEN}) "
    "-> (Tensor, Tensor, Tensor, Tensor, int, int, int)"
)
def npu_fusion_attention_v2(
    query: Tensor, key: Tensor, value: Tensor, head_num: int, input_layout: str, *, pse: Tensor | None = None,
    padding_mask: Tensor | None = None, atten_mask: Tensor | None = None, query_rope: Tensor | None = None,
    key_rope: Tensor | None = None, scale: float = 1.0, keep_prob: float = 1.0, pre_tokens: int = EVERY,
    next_tokens: int = EVERY, inner_precise: int = 0, prefix: Numbers = None, actual_seq_qlen: Numbers = None,
    actual_seq_kvlen: Numbers = None, sparse_mode: int = 0, gen_mask_parallel: bool = True, sync: bool = False,
    pse_type: int = 1, q_start_idx: Numbers = None, kv_start_idx: Numbers = None, softmax_layout: str = "",
    sink: Tensor | None = None, dropout_mask: Tensor | None = None, seed: int = 0, offset: int = 0,
) -> Outputs:  # fmt: skip
    """Return `npu_fusion_attention`; `pse` is added before the scale with `pse_type` 1, behind it with 0."""
    name = "npu_fusion_attention_v2"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    refuse_given(name, query_rope=query_rope, key_rope=key_rope, q_start_idx=q_start_idx, kv_start_idx=kv_start_idx)
    if pse_type not in (0, 1):
        raise NotImplementedError(f"torch_npu.{name}: pse_type {pse_type} is not supported")
    call = Call(
        name, head_num, input_layout, scale, keep_prob, pre_tokens, next_tokens, sparse_mode,
        _ends(actual_seq_qlen, actual_seq_kvlen), bool(pse_type), seed or None, offset, prefix,
    )  # fmt: skip
    return _run(call, query, key, value, pse, atten_mask, dropout_mask)


def _numbers(ends: Tensor | None) -> list[int] | None:
    return None if ends is None else ends.tolist()


@operator(
    f"npu_fusion_attention_v3({_INPUTS}, {_MASKS}, float scale=1., {_BAND}, {_ENDS_3}, {_MODE}, {_SINK}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fusion_attention_v3(
    query: Tensor, key: Tensor, value: Tensor, head_num: int, input_layout: str, pse: Tensor | None = None,
    padding_mask: Tensor | None = None, atten_mask: Tensor | None = None, scale: float = 1.0, keep_prob: float = 1.0,
    pre_tockens: int = EVERY, next_tockens: int = EVERY, inner_precise: int = 0, prefix: Numbers = None,
    actual_seq_qlen: Tensor | None = None, actual_seq_kvlen: Tensor | None = None, sparse_mode: int = 0,
    gen_mask_parallel: bool = True, sync: bool = False, softmax_layout: str = "", sink: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return `npu_fusion_attention`, the seed and the offset of dropout in tensors; so are the ends of sequences."""
    name = "npu_fusion_attention_v3"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    call = Call(
        name, head_num, input_layout, scale, keep_prob, pre_tockens, next_tockens, sparse_mode,
        _ends(_numbers(actual_seq_qlen), _numbers(actual_seq_kvlen)), prefix=prefix,
    )  # fmt: skip
    out, largest, sums, empty, seed, offset, _ = _run(call, query, key, value, pse, atten_mask, None)
    return out, largest, sums, empty, torch.tensor([seed]), torch.tensor([offset])


def _gradients(
    call: Call, query: Tensor, key: Tensor, value: Tensor, dy: Tensor, pse: Tensor | None, mask: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients for the query, the key, the value and what is added, which may be none: then it is empty."""
    with torch.enable_grad():
        given = [one.detach().requires_grad_() for one in (query, key, value)]
        added = None if pse is None else pse.detach().requires_grad_()
        out = attend(call, given[0], given[1], given[2], added, mask)[0]
        wanted = given if added is None else [*given, added]
        made = torch.autograd.grad(out, wanted, dy)
    return made[0], made[1], made[2], made[3] if len(made) > 3 else query.new_empty(0)


@operator(
    f"npu_fusion_attention_grad({_BACK}, {_MASKS}, {_SAVED}, float scale_value=1., {_BAND}, {_DRAWN}, {_ENDS}, {_MODE}, "
    f"{_SINK}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fusion_attention_grad(
    query: Tensor, key: Tensor, value: Tensor, dy: Tensor, head_num: int, input_layout: str, *,
    pse: Tensor | None = None, padding_mask: Tensor | None = None, atten_mask: Tensor | None = None,
    softmax_max: Tensor | None = None, softmax_sum: Tensor | None = None, softmax_in: Tensor | None = None,
    attention_in: Tensor | None = None, scale_value: float = 1.0, keep_prob: float = 1.0, pre_tockens: int = EVERY,
    next_tockens: int = EVERY, inner_precise: int = 0, seed: int = 0, offset: int = 0, numels: int = 0,
    prefix: Numbers = None, actual_seq_qlen: Numbers = None, actual_seq_kvlen: Numbers = None, sparse_mode: int = 0,
    gen_mask_parallel: bool = True, sync: bool = False, softmax_layout: str = "", sink: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_fusion_attention` for query, key, value and `pse`, and an empty one for the sink.

    What was saved of it is computed again; dropout drops what `seed` and `offset` say.
    """
    name = "npu_fusion_attention_grad"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    call = Call(
        name, head_num, input_layout, scale_value, keep_prob, pre_tockens, next_tockens, sparse_mode,
        _ends(actual_seq_qlen, actual_seq_kvlen), seed=seed, offset=offset, prefix=prefix,
    )  # fmt: skip
    return *_gradients(call, query, key, value, dy, pse, atten_mask), query.new_empty(0)


@operator(
    f"npu_fusion_attention_grad_v2({_BACK}, {_MASKS}, {_SAVED}, Tensor? query_rope=None, Tensor? key_rope=None, "
    f"float scale_value=1., {_BAND_2}, {_DRAWN}, {_ENDS}, {_MODE}, {_STARTS}, {_SINK}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fusion_attention_grad_v2(
    query: Tensor, key: Tensor, value: Tensor, dy: Tensor, head_num: int, input_layout: str, *,
    pse: Tensor | None = None, padding_mask: Tensor | None = None, atten_mask: Tensor | None = None,
    softmax_max: Tensor | None = None, softmax_sum: Tensor | None = None, softmax_in: Tensor | None = None,
    attention_in: Tensor | None = None, query_rope: Tensor | None = None, key_rope: Tensor | None = None,
    scale_value: float = 1.0, keep_prob: float = 1.0, pre_tokens: int = EVERY, next_tokens: int = EVERY,
    inner_precise: int = 0, seed: int = 0, offset: int = 0, numels: int = 0, prefix: Numbers = None,
    actual_seq_qlen: Numbers = None, actual_seq_kvlen: Numbers = None, sparse_mode: int = 0,
    gen_mask_parallel: bool = True, sync: bool = False, pse_type: int = 1, q_start_idx: Numbers = None,
    kv_start_idx: Numbers = None, softmax_layout: str = "", sink: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_fusion_attention_v2`; those for rotary parts and the sink are empty."""
    name = "npu_fusion_attention_grad_v2"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    refuse_given(name, query_rope=query_rope, key_rope=key_rope, q_start_idx=q_start_idx, kv_start_idx=kv_start_idx)
    if pse_type not in (0, 1):
        raise NotImplementedError(f"torch_npu.{name}: pse_type {pse_type} is not supported")
    call = Call(
        name, head_num, input_layout, scale_value, keep_prob, pre_tokens, next_tokens, sparse_mode,
        _ends(actual_seq_qlen, actual_seq_kvlen), bool(pse_type), seed, offset, prefix,
    )  # fmt: skip
    empty = (query.new_empty(0), query.new_empty(0), query.new_empty(0))
    return *_gradients(call, query, key, value, dy, pse, atten_mask), *empty


@operator(
    f"npu_fusion_attention_grad_v3({_BACK}, {_MASKS}, {_SAVED}, float scale_value=1., {_BAND}, Tensor? seed=None, "
    f"Tensor? offset=None, {_ENDS_3}, {_MODE}, {_SINK}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fusion_attention_grad_v3(
    query: Tensor, key: Tensor, value: Tensor, dy: Tensor, head_num: int, input_layout: str, *,
    pse: Tensor | None = None, padding_mask: Tensor | None = None, atten_mask: Tensor | None = None,
    softmax_max: Tensor | None = None, softmax_sum: Tensor | None = None, softmax_in: Tensor | None = None,
    attention_in: Tensor | None = None, scale_value: float = 1.0, keep_prob: float = 1.0, pre_tockens: int = EVERY,
    next_tockens: int = EVERY, inner_precise: int = 0, seed: Tensor | None = None, offset: Tensor | None = None,
    prefix: Numbers = None, actual_seq_qlen: Tensor | None = None, actual_seq_kvlen: Tensor | None = None,
    sparse_mode: int = 0, gen_mask_parallel: bool = True, sync: bool = False, softmax_layout: str = "",
    sink: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_fusion_attention_v3`."""
    name = "npu_fusion_attention_grad_v3"
    refuse_given(name, padding_mask=padding_mask, softmax_layout=softmax_layout, sink=sink)
    drawn = [0 if one is None else int(one) for one in (seed, offset)]
    call = Call(
        name, head_num, input_layout, scale_value, keep_prob, pre_tockens, next_tockens, sparse_mode,
        _ends(_numbers(actual_seq_qlen), _numbers(actual_seq_kvlen)), seed=drawn[0], offset=drawn[1], prefix=prefix,
    )  # fmt: skip
    return *_gradients(call, query, key, value, dy, pse, atten_mask), query.new_empty(0)
