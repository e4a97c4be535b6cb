"""AdamW: Adam with the weight decay taken out of the gradient."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

from .adam import Adam, adam

__all__ = ["AdamW", "adamw"]


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameters directly instead of entering the averages.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.AdamW([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.4950, -1.4900])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            # Checkpoints of AdamW from before it was a kind of Adam do not say so.
            group["decoupled_weight_decay"] = True


def adamw(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    max_exp_avg_sqs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_complex: bool = False,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One AdamW step of each parameter, with the state given as lists.

    >>> from torch.optim.adamw import adamw
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> adamw(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [],
    ...     [torch.tensor(0.0)],
    ...     amsgrad=False,
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     lr=0.1,
    ...     weight_decay=0.1,
    ...     eps=1e-8,
    ...     maximize=False,
    ... )
    >>> weight
    tensor([0.8900, 2.0800])
    """
    adam(
        params,
        grads,
        exp_avgs,
        exp_avg_sqs,
        max_exp_avg_sqs,
        state_steps,
        foreach=foreach,
        capturable=capturable,
        differentiable=differentiable,
        fused=fused,
        grad_scale=grad_scale,
        found_inf=found_inf,
        has_complex=has_complex,
        decoupled_weight_decay=True,
        amsgrad=amsgrad,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=weight_decay,
        eps=eps,
        maximize=maximize,
    )


adopt(globals())
