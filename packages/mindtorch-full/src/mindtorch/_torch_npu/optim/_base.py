"""What the fused optimizers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import mindtorch as torch
from mindtorch._torch_npu.utils import is_combined_tensor_valid, npu_combine_tensors
from mindtorch.nn.utils import clip_grad_norm_
from mindtorch.tensor.tensor import Tensor

if TYPE_CHECKING:
    from typing import Any

__all__ = ["NpuFusedOptimizerBase"]


class NpuFusedOptimizerBase:
    """What these optimizers have beside torch's: clipping, and parameters and gradients laid side by side."""

    param_groups: list[dict[str, Any]]
    is_fused_optimizer = True

    def clip_grad_norm_fused_(self, max_norm: float, norm_type: float = 2.0) -> Tensor:
        """Scale all gradients so that their total norm is at most `max_norm`; return the norm before."""
        return clip_grad_norm_([p for group in self.param_groups for p in group["params"]], max_norm, norm_type)

    def zero_grad(self, set_to_none: bool = False) -> None:
        """Write zeros into the gradients; ValueError where they are to go, for they lie side by side."""
        if set_to_none:
            raise ValueError("set_to_none is not supported in fused optimizers")
        super().zero_grad(set_to_none=False)  # type: ignore[misc]

    def _combined(self, kind: str, tensors: Sequence[Tensor]) -> list[Tensor | None]:
        """Return tensors of float32, and those of float16, side by side; those that still lie so are not moved."""
        found: list[Tensor | None] = []
        kept: dict[str, Tensor | None] = vars(self).setdefault("_side_by_side", {})
        for one in tensors:
            if one.dtype not in (torch.float32, torch.float16):
                raise TypeError(
                    f"Fused optimizer's parameters must be either float32 or float16, but received {one.dtype}"
                )
        for dtype in (torch.float32, torch.float16):
            own = [one for one in tensors if one.dtype == dtype]
            name = f"{kind} {dtype}"
            if not own or not is_combined_tensor_valid(kept.get(name), own):
                kept[name] = npu_combine_tensors(own)
            found.append(kept[name])
        return found

    def _with_gradient(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"] if p.grad is not None]

    def get_combined_params(self) -> list[Tensor | None]:
        """Return the parameters that have a gradient, of float32 and of float16, each kind in one tensor."""
        return self._combined("params", self._with_gradient())

    def get_combined_grads(self) -> list[Tensor | None]:
        """Return the gradients of float32 and of float16, each kind in one tensor, which they become views of."""
        return self._combined("grads", [p.grad for p in self._with_gradient()])
