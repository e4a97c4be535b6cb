"""Steps of optimizers and other updates in place, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_apply_adam",
    "npu_apply_adam_w",
    "npu_attention_update",
    "npu_bert_apply_adam",
    "npu_ring_attention_update",
]


@operator(
    "npu_apply_adam_w.out(Scalar beta1_power, Scalar beta2_power, Scalar lr, Scalar weight_decay, Scalar beta1, "
    "Scalar beta2, Scalar epsilon, Tensor grad, Tensor? max_grad_norm, bool? amsgrad, bool? maximize, *, Tensor(a!) var, "
    "Tensor(b!) m, Tensor(c!) v) -> (Tensor(a!), Tensor(b!), Tensor(c!))"
)
def npu_apply_adam_w(
    beta1_power: float, beta2_power: float, lr: float, weight_decay: float, beta1: float, beta2: float, epsilon: float,
    grad: Tensor, max_grad_norm: Tensor | None, amsgrad: bool | None, maximize: bool | None, *, var: Tensor, m: Tensor,
    v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Make one step of AdamW on parameter, mean and square; the powers are those of the betas so far."""
    grad = -grad if maximize else grad
    with torch.no_grad():
        var.mul_(1 - lr * weight_decay)
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        second = v
        if amsgrad:
            if max_grad_norm is None:
                raise RuntimeError("max_grad_norm is needed with amsgrad")
            second = torch.maximum(max_grad_norm, v, out=max_grad_norm)
        correction1, correction2 = 1 - beta1_power * beta1, 1 - beta2_power * beta2
        var.addcdiv_(m, (second / correction2).sqrt().add_(epsilon), value=-lr / correction1)
    return var, m, v


@operator(
    "npu_apply_adam.out(Scalar beta1_power, Scalar beta2_power, Scalar lr, Scalar beta1, Scalar beta2, Scalar epsilon, "
    "Tensor grad, bool? use_locking, bool? use_nesterov, *, Tensor(a!) var, Tensor(b!) m, Tensor(c!) v) "
    "-> (Tensor(a!), Tensor(b!), Tensor(c!))"
)
def npu_apply_adam(
    beta1_power: float, beta2_power: float, lr: float, beta1: float, beta2: float, epsilon: float, grad: Tensor,
    use_locking: bool | None, use_nesterov: bool | None, *, var: Tensor, m: Tensor, v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Make one step of Adam on parameter, mean and square; the powers are those of the betas with this step."""
    with torch.no_grad():
        rate = lr * (1 - beta2_power) ** 0.5 / (1 - beta1_power)
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        step = m * beta1 + grad * (1 - beta1) if use_nesterov else m
        var.addcdiv_(step, v.sqrt().add_(epsilon), value=-rate)
    return var, m, v


@operator(
    "npu_bert_apply_adam.out(Scalar lr, Scalar beta1, Scalar beta2, Scalar epsilon, Tensor grad, Scalar max_grad_norm, "
    "Scalar global_grad_norm, Scalar weight_decay, Scalar? step_size=None, int adam_mode=0, *, Tensor(a!) var, "
    "Tensor(b!) m, Tensor(c!) v) -> (Tensor(a!), Tensor(b!), Tensor(c!))"
)
def npu_bert_apply_adam(
    lr: float, beta1: float, beta2: float, epsilon: float, grad: Tensor, max_grad_norm: float, global_grad_norm: float,
    weight_decay: float, step_size: float | None = None, adam_mode: int = 0, *, var: Tensor, m: Tensor, v: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Make one step of BERT's Adam, without correction of its means; in `adam_mode` 1 the gradient is not clipped."""
    with torch.no_grad():
        if adam_mode == 0 and max_grad_norm > 0 and global_grad_norm > max_grad_norm:
            grad = torch.mul(grad, max_grad_norm / global_grad_norm)
        m.lerp_(grad, 1 - beta1)
        v.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        update = m / (v.sqrt() + epsilon)
        update = update + weight_decay * var if weight_decay > 0 else update
        var.sub_(update, alpha=lr)
    return var, m, v


@operator(
    "npu_ring_attention_update(Tensor prev_attn_out, Tensor prev_softmax_max, Tensor prev_softmax_sum, "
    "Tensor cur_attn_out, Tensor cur_softmax_max, Tensor cur_softmax_sum, *, Tensor? actual_seq_qlen=None, "
    "str input_layout='SBH', str input_softmax_layout='') -> (Tensor, Tensor, Tensor)"
)
def npu_ring_attention_update(
    prev_attn_out: Tensor, prev_softmax_max: Tensor, prev_softmax_sum: Tensor, cur_attn_out: Tensor,
    cur_softmax_max: Tensor, cur_softmax_sum: Tensor, *, actual_seq_qlen: Tensor | None = None, input_layout: str = "SBH",
    input_softmax_layout: str = "",
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention over two parts of the keys, of attention over each and each one's largest scores and sums."""
    if input_layout not in ("SBH", "TND") or (input_layout == "TND" and input_softmax_layout not in ("", "TND")):
        raise RuntimeError(f"input_layout {input_layout!r} with {input_softmax_layout!r} is not supported")
    largest = torch.maximum(prev_softmax_max, cur_softmax_max)
    before = prev_softmax_sum * (prev_softmax_max - largest).exp()
    now = cur_softmax_sum * (cur_softmax_max - largest).exp()
    total = before + now

    def weighed(part: Tensor, share: Tensor) -> Tensor:
        factor = (share / total)[..., :1]
        if input_layout == "TND":
            return part.float() * factor
        heads = part.float().unflatten(-1, (factor.shape[1], -1))
        return (heads * factor.permute(2, 0, 1, 3)).flatten(2)

    made = weighed(prev_attn_out, before) + weighed(cur_attn_out, now)
    return made.to(prev_attn_out.dtype), largest, total


@operator("npu_attention_update(Tensor[] lse, Tensor[] local_out, int update_type) -> (Tensor, Tensor)")
def npu_attention_update(lse: list[Tensor], local_out: list[Tensor], update_type: int) -> tuple[Tensor, Tensor]:
    """Return attention over several parts of the keys, of each part's logarithms of sums, and with 1 their logarithm."""
    if update_type not in (0, 1):
        raise RuntimeError(f"update_type must be 0 or 1, but got {update_type}")
    logs = torch.stack(list(lse))
    total = torch.logsumexp(logs, 0)
    parts = torch.stack([one.float() for one in local_out])
    made = (parts * (logs - total).exp().unsqueeze(-1)).sum(0)
    return made.to(local_out[0].dtype), total if update_type == 1 else total.new_empty(0)


def with_out(step: Callable[..., tuple[Tensor, ...]]) -> Callable[..., tuple[Tensor, ...]]:
    """Return an optimizer's step that takes parameter, mean and square as `out`, too, as torch_npu's functions do."""

    def made(*args: object, out: Sequence[Tensor] | None = None, **kwargs: object) -> tuple[Tensor, ...]:
        given = {} if out is None else dict(zip(("var", "m", "v"), out, strict=True))
        return step(*args, **kwargs, **given)

    return made
