"""Optimizers that torch has not: AdamP, BERT's Adam, LAMB and TensorFlow's RMSprop."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch._torch_npu.optim._base import NpuFusedOptimizerBase
from mindtorch.optim import Optimizer
from mindtorch.tensor.tensor import Tensor

__all__ = ["NpuFusedAdamP", "NpuFusedBertAdam", "NpuFusedLamb", "NpuFusedRMSpropTF"]

Params = Iterable[Tensor] | Iterable[dict[str, object]]
Closure = Callable[[], Tensor]


def _check(wrong: bool, text: str) -> None:
    if wrong:
        raise ValueError(text)


class _Stepwise(NpuFusedOptimizerBase, Optimizer):
    """An optimizer that says what a parameter's step is."""

    _kind = "fused optimizer"

    def _step_of(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        raise NotImplementedError

    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Tensor | None:  # type: ignore[override]
        """Make a step; `closure` computes the loss anew."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                if p.grad.is_sparse:
                    raise RuntimeError(f"{type(self).__name__} does not support sparse gradients.")
                self._step_of(p, p.grad, self.state[p], group)
        return loss


def _means(p: Tensor, grad: Tensor, state: dict[str, Any], betas: tuple[float, float]) -> tuple[Tensor, Tensor]:
    """Return the running means of gradients and of their squares."""
    if not state:
        state.update(step=0, exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
    mean, square = state["exp_avg"], state["exp_avg_sq"]
    mean.mul_(betas[0]).add_(grad, alpha=1 - betas[0])
    square.mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
    return mean, square


class NpuFusedAdamP(_Stepwise):
    """Adam that leaves out of a step what only lengthens weights that a norm follows."""

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, delta: float = 0.1, wd_ratio: float = 0.1, nesterov: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(
            params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "delta": delta,
                     "wd_ratio": wd_ratio, "nesterov": nesterov}
        )  # fmt: skip

    @staticmethod
    def _projected(
        p: Tensor, grad: Tensor, update: Tensor, delta: float, ratio: float, eps: float
    ) -> tuple[Tensor, float]:
        for rows in (p.shape[0], 1):
            flat, slope = p.reshape(rows, -1), grad.reshape(rows, -1)
            lengths = flat.norm(dim=1).add(eps)
            angle = (flat * slope).sum(1).abs() / lengths / slope.norm(dim=1).add(eps)
            if float(angle.max()) < delta / math.sqrt(flat.shape[1]):
                along = flat / lengths.unsqueeze(1)
                made = update.reshape(rows, -1)
                made = made - along * (along * made).sum(1, keepdim=True)
                return made.reshape(p.shape), ratio
        return update, 1.0

    def _step_of(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        betas = group["betas"]
        mean, square = _means(p, grad, state, betas)
        state["step"] += 1
        first, second = 1 - betas[0] ** state["step"], 1 - betas[1] ** state["step"]
        scale = (square.sqrt() / math.sqrt(second)).add_(group["eps"])
        ahead = mean * betas[0] + grad * (1 - betas[0]) if group["nesterov"] else mean
        update, ratio = ahead / scale, 1.0
        if p.dim() > 1:
            update, ratio = self._projected(p, grad, update, group["delta"], group["wd_ratio"], group["eps"])
        if group["weight_decay"] > 0:
            p.mul_(1 - group["lr"] * group["weight_decay"] * ratio)
        p.add_(update, alpha=-group["lr"] / first)


class NpuFusedLamb(_Stepwise):
    """LAMB: Adam whose steps are as long as the weights, for large batches; plain Adam with `adam`."""

    def __init__(
        self, params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-6,
        weight_decay: float = 0, adam: bool = False, use_global_grad_norm: bool = False,
    ) -> None:  # fmt: skip
        _check(lr < 0.0, f"Invalid learning rate: {lr}")
        for place in (0, 1):
            _check(not 0.0 <= betas[place] < 1.0, f"Invalid beta parameter at index {place}: {betas[place]}")
        _check(eps < 0.0, f"Invalid epsilon value: {eps}")
        self.adam, self.use_global_grad_norm = adam, use_global_grad_norm
        self._shrink: Tensor | float = 1.0
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Tensor | None:  # type: ignore[override]
        """Make a step; with `use_global_grad_norm` gradients are divided by their length where that is above one."""
        if self.use_global_grad_norm:
            grads = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
            length = torch.stack([one.float().norm() for one in grads]).norm()
            self._shrink = length.clamp(min=1.0)
        return super().step(closure)

    def _step_of(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        grad = torch.div(grad, self._shrink) if self.use_global_grad_norm else grad
        mean, square = _means(p, grad, state, group["betas"])
        state["step"] += 1
        update = mean / square.sqrt().add_(group["eps"])
        if group["weight_decay"] != 0:
            update = update + p * group["weight_decay"]
        length, step = p.norm().clamp(0, 10), update.norm()
        ratio = torch.where((length == 0) | (step == 0), torch.ones_like(step), length / step)
        p.sub_(update * (group["lr"] * (1.0 if self.adam else ratio)))


def _warmup_constant(x: float, warmup: float) -> float:
    return x / warmup if x < warmup else 1.0


SCHEDULES: dict[str, Callable[[float, float], float]] = {
    "warmup_cosine": lambda x, warmup: x / warmup if x < warmup else 0.5 * (1.0 + math.cos(math.pi * x)),
    "warmup_constant": _warmup_constant,
    "warmup_linear": lambda x, warmup: x / warmup if x < warmup else max((x - 1.0) / (warmup - 1.0), 0.0),
    "warmup_poly": lambda x, warmup: x / warmup if x < warmup else (1.0 - x) ** 0.5,
}
"""How large the rate is at a part of all steps, beside a part of them that it grows in."""


class NpuFusedBertAdam(_Stepwise):
    """BERT's Adam: its means are not corrected, its rate grows and falls, gradients of a group are clipped."""

    def __init__(
        self, params: Params, lr: float | None = None, warmup: float = -1, t_total: int = -1,
        schedule: str = "warmup_linear", b1: float = 0.9, b2: float = 0.999, e: float = 1e-6,
        weight_decay: float = 0.01, max_grad_norm: float = 1.0,
    ) -> None:  # fmt: skip
        if lr is None:
            raise ValueError("parameter group didn't specify a value of required optimization parameter lr")
        _check(lr < 0.0, f"Invalid learning rate: {lr}")
        _check((warmup < 0.0 and warmup != -1) or warmup >= 1.0, f"Invalid warmup: {warmup}")
        _check(schedule not in SCHEDULES, f"Invalid schedule parameter: {schedule}")
        for name, value in (("b1", b1), ("b2", b2)):
            _check(not 0.0 <= value < 1.0, f"Invalid {name} parameter: {value}")
        _check(e < 0.0, f"Invalid epsilon value: {e}")
        self.max_grad_norm = max_grad_norm
        super().__init__(
            params, {"lr": lr, "schedule": schedule, "warmup": warmup, "t_total": t_total, "b1": b1, "b2": b2, "e": e,
                     "weight_decay": weight_decay, "max_grad_norm": max_grad_norm}
        )  # fmt: skip

    @torch.no_grad()
    def step(self, closure: Closure | None = None) -> Tensor | None:  # type: ignore[override]
        """Make a step, gradients of each group clipped first."""
        for group in self.param_groups if self.max_grad_norm > 0 else ():
            torch.nn.utils.clip_grad_norm_(group["params"], self.max_grad_norm)
        return super().step(closure)

    def _step_of(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        mean, square = _means(p, grad, state, (group["b1"], group["b2"]))
        update = mean / (square.sqrt() + group["e"])
        if group["weight_decay"] > 0.0:
            update = update + p * group["weight_decay"]
        rate = group["lr"]
        if group["t_total"] != -1:
            rate = rate * SCHEDULES[group["schedule"]](state["step"] / group["t_total"], group["warmup"])
        p.sub_(update, alpha=rate)
        state["step"] += 1


class NpuFusedRMSpropTF(_Stepwise):
    """RMSprop as TensorFlow has it: the mean of squares begins at one, `eps` stands under the root."""

    def __init__(
        self, params: Params, lr: float = 1e-2, alpha: float = 0.9, eps: float = 1e-10, weight_decay: float = 0,
        momentum: float = 0.0, centered: bool = False, decoupled_decay: bool = False, lr_in_momentum: bool = True,
    ) -> None:  # fmt: skip
        _check(lr < 0.0, f"Invalid learning rate: {lr}")
        _check(eps < 0.0, f"Invalid epsilon value: {eps}")
        for name, value in (("momentum", momentum), ("weight_decay", weight_decay), ("alpha", alpha)):
            _check(value < 0.0, f"Invalid {name} value: {value}")
        super().__init__(
            params, {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
                     "weight_decay": weight_decay, "decoupled_decay": decoupled_decay, "lr_in_momentum": lr_in_momentum}
        )  # fmt: skip

    def _step_of(self, p: Tensor, grad: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        if not state:
            state.update(step=0, square_avg=torch.ones_like(p))
            state.update({"momentum_buffer": torch.zeros_like(p)} if group["momentum"] > 0 else {})
            state.update({"grad_avg": torch.zeros_like(p)} if group["centered"] else {})
        state["step"] += 1
        rest = 1.0 - group["alpha"]
        if group["weight_decay"] != 0:
            if group["decoupled_decay"]:
                p.add_(p, alpha=-group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        square = state["square_avg"]
        square.add_(grad.pow(2) - square, alpha=rest)
        spread = square
        if group["centered"]:
            mean = state["grad_avg"]
            mean.add_(grad - mean, alpha=rest)
            spread = square.addcmul(mean, mean, value=-1)
        scale = spread.add(group["eps"]).sqrt()
        if group["momentum"] <= 0:
            p.addcdiv_(grad, scale, value=-group["lr"])
            return
        kept = state["momentum_buffer"]
        inside = group["lr_in_momentum"]
        kept.mul_(group["momentum"]).addcdiv_(grad, scale, value=group["lr"] if inside else 1.0)
        p.sub_(kept, alpha=1.0 if inside else group["lr"])
