"""Linear attention by the gated delta rule, and convolutions along a sequence, under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators.gradients import pulled
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_chunk_gated_delta_rule", "npu_masked_causal_conv1d", "npu_masked_causal_conv1d_backward",
    "npu_recurrent_gated_delta_rule", "npu_recurrent_gated_delta_rule_functional",
]  # fmt: skip

_STEPS = (
    "*, Tensor? beta=None, float? scale=None, Tensor? actual_seq_lengths=None, Tensor? ssm_state_indices=None, "
    "Tensor? num_accepted_tokens=None, Tensor? g=None, Tensor? gk=None"
)


def _step(
    state: Tensor, q: Tensor, k: Tensor, v: Tensor, decay: Tensor | None, beta: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Return the state after a token and what the token reads of it: heads first, states of value by key."""
    kept = state if decay is None else state * decay
    change = v - (kept * k.unsqueeze(-2)).sum(-1)
    change = change if beta is None else change * beta.unsqueeze(-1)
    made = kept + change.unsqueeze(-1) * k.unsqueeze(-2)
    return made, (made * q.unsqueeze(-2)).sum(-1)


class _Tokens:
    """Tokens of every sequence one after the other, in float32, keys repeated for the heads of values."""

    def __init__(
        self, query: Tensor, key: Tensor, value: Tensor, scale: float | None, g: Tensor | None, gk: Tensor | None,
        beta: Tensor | None,
    ) -> None:  # fmt: skip
        share = value.shape[-2] // key.shape[-2]
        factor = key.shape[-1] ** -0.5 if scale is None else scale
        self.q = (query.float() * factor).repeat_interleave(share, -2)
        self.k, self.v = key.float().repeat_interleave(share, -2), value.float()
        self.beta = None if beta is None else beta.float()
        parts = ([] if g is None else [g.float().exp()[..., None, None]]) + (
            [] if gk is None else [gk.float().exp().unsqueeze(-2)]
        )
        self.decay = None if not parts else parts[0] if len(parts) == 1 else parts[0] * parts[1]

    def step(self, state: Tensor, at: int) -> tuple[Tensor, Tensor]:
        """Return the state after a token, and what it reads."""
        decay = None if self.decay is None else self.decay[at]
        return _step(state, self.q[at], self.k[at], self.v[at], decay, None if self.beta is None else self.beta[at])


def _recurrent(
    name: str, query: Tensor, key: Tensor, value: Tensor, state: Tensor, beta: Tensor | None, scale: float | None,
    actual_seq_lengths: Tensor | None, ssm_state_indices: Tensor | None, num_accepted_tokens: Tensor | None,
    g: Tensor | None, gk: Tensor | None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    if actual_seq_lengths is None or ssm_state_indices is None:
        raise RuntimeError(f"torch_npu.{name}: actual_seq_lengths and ssm_state_indices are needed")
    tokens = _Tokens(query, key, value, scale, g, gk, beta)
    places, states = ssm_state_indices.tolist(), state.float().clone()
    accepted = None if num_accepted_tokens is None else num_accepted_tokens.tolist()
    made, begin = [], 0
    for number, length in enumerate(actual_seq_lengths.tolist()):
        current = states[places[begin + (0 if accepted is None else accepted[number] - 1)]].clone()
        for at in range(begin, begin + length):
            current, out = tokens.step(current, at)
            states[places[at]] = current
            made.append(out)
        begin += length
    return torch.stack(made).to(value.dtype), states.to(state.dtype)


@operator(
    f"npu_recurrent_gated_delta_rule(Tensor query, Tensor key, Tensor value, Tensor(a!) state, {_STEPS}) -> Tensor"
)
def npu_recurrent_gated_delta_rule(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, *, beta: Tensor | None = None, scale: float | None = None,
    actual_seq_lengths: Tensor | None = None, ssm_state_indices: Tensor | None = None,
    num_accepted_tokens: Tensor | None = None, g: Tensor | None = None, gk: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Return what tokens read of states that forget by `g` and `gk` and learn by `beta`; each token's state is kept.

    A sequence goes on from the state of its first token, or of the last of `num_accepted_tokens`.
    """
    made, states = _recurrent(
        "npu_recurrent_gated_delta_rule", query, key, value, state, beta, scale, actual_seq_lengths, ssm_state_indices,
        num_accepted_tokens, g, gk,
    )  # fmt: skip
    state.copy_(states)
    return made


@operator(
    f"npu_recurrent_gated_delta_rule_functional(Tensor query, Tensor key, Tensor value, Tensor state, {_STEPS}) "
    "-> (Tensor, Tensor)"
)
def npu_recurrent_gated_delta_rule_functional(
    query: Tensor, key: Tensor, value: Tensor, state: Tensor, *, beta: Tensor | None = None, scale: float | None = None,
    actual_seq_lengths: Tensor | None = None, ssm_state_indices: Tensor | None = None,
    num_accepted_tokens: Tensor | None = None, g: Tensor | None = None, gk: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_recurrent_gated_delta_rule` and the states it makes."""
    return _recurrent(
        "npu_recurrent_gated_delta_rule_functional", query, key, value, state, beta, scale, actual_seq_lengths,
        ssm_state_indices, num_accepted_tokens, g, gk,
    )  # fmt: skip


@operator(
    "npu_chunk_gated_delta_rule(Tensor query, Tensor key, Tensor value, *, Tensor? beta=None, Tensor? initial_state=None, "
    "Tensor? actual_seq_lengths=None, float? scale=None, Tensor? g=None) -> (Tensor, Tensor)"
)
def npu_chunk_gated_delta_rule(
    query: Tensor, key: Tensor, value: Tensor, *, beta: Tensor | None = None, initial_state: Tensor | None = None,
    actual_seq_lengths: Tensor | None = None, scale: float | None = None, g: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return what the tokens of every sequence read of its state, and each sequence's last state."""
    if initial_state is None or actual_seq_lengths is None:
        raise RuntimeError("torch_npu.npu_chunk_gated_delta_rule: initial_state and actual_seq_lengths are needed")
    tokens = _Tokens(query, key, value, scale, g, None, beta)
    made, last, begin = [], [], 0
    for first, length in zip(initial_state.float(), actual_seq_lengths.tolist(), strict=True):
        current = first
        for at in range(begin, begin + length):
            current, out = tokens.step(current, at)
            made.append(out)
        last.append(current)
        begin += length
    return torch.stack(made).to(value.dtype), torch.stack(last).to(initial_state.dtype)


def _causal(x: Tensor, weight: Tensor, mask: Tensor | None) -> Tensor:
    width = weight.shape[0]
    sequence = F.pad(x.float().permute(1, 2, 0), [width - 1, 0])
    made = F.conv1d(sequence, weight.float().t().unsqueeze(1), groups=weight.shape[1]).permute(2, 0, 1)
    return (made if mask is None else made.masked_fill(~mask.t().unsqueeze(-1), 0.0)).to(x.dtype)


@operator("npu_masked_causal_conv1d(Tensor input, Tensor weight, *, Tensor? mask=None) -> Tensor")
def npu_masked_causal_conv1d(input: Tensor, weight: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """Return each channel's convolution with what came before it: sequence, batch, channel; 0 where the mask is False."""
    return _causal(input, weight, mask)


@operator(
    "npu_masked_causal_conv1d_backward(Tensor grad_output, Tensor input, Tensor weight, *, Tensor? mask=None) "
    "-> (Tensor, Tensor)"
)
def npu_masked_causal_conv1d_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, *, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the gradients of `npu_masked_causal_conv1d` for the input and the weight."""
    first, second = pulled(lambda x, w: _causal(x, w, mask), (input, weight), grad_output)
    return first, second
