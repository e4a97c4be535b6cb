"""L-BFGS: a quasi-Newton method that remembers a few past steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._strong_wolfe import _cubic_interpolate as _cubic_interpolate
from ._strong_wolfe import _strong_wolfe as _strong_wolfe
from ._values import check_lr, check_not_negative, to_scalar
from .optimizer import Optimizer

__all__ = ["LBFGS"]


class LBFGS(Optimizer):
    """Minimises a closure over all parameters as one vector; ``step`` runs up to ``max_iter`` iterations.

    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([x], lr=1.0)
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (x - 1).square().sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> round(x.item(), 4)
    1.0
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        if max_eval is None:
            max_eval = max_iter * 5 // 4
        defaults: dict[str, Any] = {"lr": lr, "max_iter": max_iter, "max_eval": max_eval}
        defaults |= {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change}
        defaults |= {"history_size": history_size, "line_search_fn": line_search_fn}
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]
        self._numel_cache: int | None = None

    def _numel(self) -> int:
        if self._numel_cache is None:
            self._numel_cache = sum(2 * p.numel() if p.dtype.is_complex else p.numel() for p in self._params)
        return self._numel_cache

    def _gather_flat_grad(self) -> Any:
        """All gradients as one real vector; parameters without one count as zeros."""
        parts = []
        for param in self._params:
            if param.grad is None:
                part = param.new_zeros(param.numel())
            elif param.grad.is_sparse:
                part = param.grad.to_dense().view(-1)
            else:
                part = param.grad.view(-1)
            parts.append(torch.view_as_real(part).view(-1) if part.dtype.is_complex else part)
        return torch.cat(parts, 0)

    def _add_grad(self, step_size: Any, update: Any) -> None:
        """Move every parameter along its part of the flat direction."""
        offset = 0
        for param in self._params:
            target = torch.view_as_real(param) if param.dtype.is_complex else param
            count = target.numel()
            target.add_(update[offset : offset + count].view_as(target), alpha=step_size)
            offset += count

    def _clone_param(self) -> list[Any]:
        return [param.clone(memory_format=torch.contiguous_format) for param in self._params]

    def _set_param(self, params_data: list[Any]) -> None:
        for param, data in zip(self._params, params_data, strict=True):
            param.copy_(data)

    def _directional_evaluate(self, closure: Callable[[], Any], x: list[Any], t: Any, d: Any) -> tuple[float, Any]:
        """Loss and gradient at a trial step; the parameters are put back."""
        self._add_grad(t, d)
        loss = float(closure())
        flat_grad = self._gather_flat_grad()
        self._set_param(x)
        return loss, flat_grad

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Run up to ``max_iter`` iterations; ``closure`` recomputes the loss and its gradients."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        closure = torch.enable_grad()(closure)
        group = self.param_groups[0]
        # One state for the whole vector, filed under the first parameter.
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        flat_grad = self._gather_flat_grad()
        if flat_grad.abs().max() <= group["tolerance_grad"]:
            return first_loss
        _Run(self, closure, group, state, float(first_loss), flat_grad).iterate()
        return first_loss


class _Run:
    """The iterations of one ``step`` call; what outlives the call is kept in the optimizer's state."""

    def __init__(
        self,
        optimizer: LBFGS,
        closure: Callable[[], Any],
        group: dict[str, Any],
        state: dict[str, Any],
        loss: float,
        flat_grad: Any,
    ) -> None:
        self.optimizer = optimizer
        self.closure = closure
        self.group = group
        self.state = state
        self.loss = loss
        self.flat_grad = flat_grad
        self.evaluations = 1
        self.d = state.get("d")
        self.t = state.get("t")
        self.dirs = state.get("old_dirs")
        self.steps = state.get("old_stps")
        self.ro = state.get("ro")
        self.scale = state.get("H_diag")
        self.previous_grad = state.get("prev_flat_grad")
        self.previous_loss = state.get("prev_loss")

    def iterate(self) -> None:
        group, change = self.group, self.group["tolerance_change"]
        iteration = 0
        while iteration < group["max_iter"]:
            iteration += 1
            self.state["n_iter"] += 1
            self._choose_direction()
            slope = self.flat_grad.dot(self.d)
            if slope > -change:
                break
            converged = self._advance(slope, last=iteration == group["max_iter"])
            if (
                iteration == group["max_iter"]
                or self.evaluations >= group["max_eval"]
                or converged
                or self.d.mul(self.t).abs().max() <= change
                or abs(self.loss - self.previous_loss) < change
            ):
                break
        self.state.update(
            d=self.d,
            t=self.t,
            old_dirs=self.dirs,
            old_stps=self.steps,
            ro=self.ro,
            H_diag=self.scale,
            prev_flat_grad=self.previous_grad,
            prev_loss=self.previous_loss,
        )

    def _choose_direction(self) -> None:
        """Steepest descent at first, then the two-loop recursion over the remembered steps."""
        first = self.state["n_iter"] == 1
        if first:
            self.d = self.flat_grad.neg()
            self.dirs, self.steps, self.ro, self.scale = [], [], [], 1
        else:
            self._remember()
            self.d = self._two_loops()
        if self.previous_grad is None:
            self.previous_grad = self.flat_grad.clone(memory_format=torch.contiguous_format)
        else:
            self.previous_grad.copy_(self.flat_grad)
        self.previous_loss = self.loss
        lr = to_scalar(self.group["lr"])
        self.t = min(1.0, 1.0 / self.flat_grad.abs().sum()) * lr if first else lr

    def _remember(self) -> None:
        y = self.flat_grad.sub(self.previous_grad)
        s = self.d.mul(self.t)
        ys = y.dot(s)
        if ys <= 1e-10:
            return  # a step without positive curvature would spoil the approximation
        if len(self.dirs) == self.group["history_size"]:
            for history in (self.dirs, self.steps, self.ro):
                history.pop(0)
        self.dirs.append(y)
        self.steps.append(s)
        self.ro.append(1.0 / ys)
        self.scale = ys / y.dot(y)

    def _two_loops(self) -> Any:
        factors = self.state.setdefault("al", [None] * self.group["history_size"])
        q = self.flat_grad.neg()
        for i in range(len(self.dirs) - 1, -1, -1):
            factors[i] = self.steps[i].dot(q) * self.ro[i]
            q.add_(self.dirs[i], alpha=-factors[i].item())
        r = torch.mul(q, self.scale)
        for i in range(len(self.dirs)):
            beta = self.dirs[i].dot(r) * self.ro[i]
            r.add_(self.steps[i], alpha=(factors[i] - beta).item())
        return r

    def _advance(self, slope: Any, last: bool) -> bool:
        """Move the parameters along the direction; returns whether the gradient is small enough."""
        optimizer, line_search = self.optimizer, self.group["line_search_fn"]
        evaluations = 0
        converged = False
        if line_search is not None:
            if line_search != "strong_wolfe":
                raise RuntimeError("only 'strong_wolfe' is supported")
            start = optimizer._clone_param()

            def objective(x: Any, t: Any, d: Any) -> tuple[float, Any]:
                return optimizer._directional_evaluate(self.closure, x, t, d)

            self.loss, self.flat_grad, self.t, evaluations = _strong_wolfe(
                objective, start, self.t, self.d, self.loss, self.flat_grad, slope
            )
            optimizer._add_grad(self.t, self.d)
            converged = bool(self.flat_grad.abs().max() <= self.group["tolerance_grad"])
        else:
            optimizer._add_grad(self.t, self.d)
            if not last:
                # After the last move nobody would use the new loss, so it is not computed.
                self.loss = float(self.closure())
                self.flat_grad = optimizer._gather_flat_grad()
                converged = bool(self.flat_grad.abs().max() <= self.group["tolerance_grad"])
                evaluations = 1
        self.evaluations += evaluations
        self.state["func_evals"] += evaluations
        return converged


adopt(globals())
