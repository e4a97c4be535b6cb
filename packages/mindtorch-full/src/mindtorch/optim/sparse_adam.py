"""Adam for sparse gradients."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

from ._per_parameter import PerParameterOptimizer, zeros_like_param
from ._values import check_betas, check_lr, to_scalar

__all__ = ["SparseAdam"]


class SparseAdam(PerParameterOptimizer):
    """Adam that moves only the rows a sparse gradient names; the averages of other rows do not decay.

    >>> table = torch.nn.Embedding(4, 2, sparse=True)
    >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
    >>> before = table.weight.detach().clone()
    >>> table(torch.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> (table.weight - before).abs().sum(1) > 0
    tensor([False,  True, False, False])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = []
        complex_params = []
        for group_index, group in enumerate(self.param_groups):
            for index, param in enumerate(group["params"]):
                if param.is_sparse:
                    sparse.append([group_index, index])
                if param.dtype.is_complex:
                    complex_params.append([group_index, index])
        if sparse:
            raise ValueError(f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors")
        if complex_params:
            raise ValueError(
                f"Complex params at indices {complex_params}: SparseAdam does not support complex parameters"
            )

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        if not grad.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = 0
        state["exp_avg"] = zeros_like_param(param)
        state["exp_avg_sq"] = zeros_like_param(param)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # The step of this optimizer is a plain number, also in checkpoints.
        super(PerParameterOptimizer, self).__setstate__(state)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] += 1
        step, (beta1, beta2), lr = state["step"], group["betas"], to_scalar(group["lr"])
        grad = (-grad if group["maximize"] else grad).coalesce()  # repeated rows must be added up before squaring
        indices, values, size = grad._indices(), grad._values(), grad.size()
        if values.numel() == 0:
            return

        def rows(entries: Any) -> Any:
            return grad.new(indices, entries, size) if grad.dim() else grad.new().resize_as_(grad)

        old_mean = state["exp_avg"].sparse_mask(grad)._values()
        mean_change = values.sub(old_mean).mul_(1 - beta1)
        state["exp_avg"].add_(rows(mean_change))
        old_square = state["exp_avg_sq"].sparse_mask(grad)._values()
        square_change = values.pow(2).sub_(old_square).mul_(1 - beta2)
        state["exp_avg_sq"].add_(rows(square_change))
        numerator = mean_change.add_(old_mean)
        square_change.add_(old_square)
        denominator = square_change.sqrt_().add_(group["eps"])
        step_size = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        param.add_(rows(-step_size * numerator.div_(denominator)))


adopt(globals())
