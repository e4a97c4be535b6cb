"""Arithmetic as a module: with numbers, with numbers in a graph, and with integers."""

from __future__ import annotations

from typing import Any, NoReturn

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.quantized.modules._quantizer import load_quantizer, save_quantizer
from mindtorch.nn import Identity, Module
from mindtorch.nn.functional import relu

__all__ = ["FXFloatFunctional", "FloatFunctional", "QFunctional"]


def _refuse(name: str) -> NoReturn:
    raise RuntimeError(f"{name} is not intended to use the 'forward'. Please use the underlying operation")


class FloatFunctional(Module):
    """Operations whose results pass `activation_post_process`, where quantization observes them.

    >>> import torch.ao.nn.quantized as nnq
    >>> f = nnq.FloatFunctional()
    >>> f.add(torch.ones(2), torch.ones(2)), f.mul_scalar(torch.ones(2), 3.0)
    (tensor([2., 2.]), tensor([3., 3.]))
    """

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process = Identity()

    def forward(self, x: Tensor) -> NoReturn:
        """Raise: the operations are methods."""
        _refuse("FloatFunctional")

    def add(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum."""
        return self.activation_post_process(torch.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """Return the sum with a number; it is not observed."""
        return torch.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product."""
        return self.activation_post_process(torch.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """Return the product with a number; it is not observed."""
        return torch.mul(x, y)

    def cat(self, x: list[Any], dim: int = 0) -> Any:
        """Return the tensors joined along a dimension."""
        return self.activation_post_process(torch.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum's positive part."""
        return self.activation_post_process(relu(torch.add(x, y)))

    def matmul(self, x: Tensor, y: Tensor) -> Any:
        """Return the matrix product."""
        return self.activation_post_process(torch.matmul(x, y))


class FXFloatFunctional(Module):
    """Operations alone: in a graph what observes them is a node of its own.

    >>> import torch.ao.nn.quantized as nnq
    >>> nnq.FXFloatFunctional().add_relu(torch.tensor([-2.0, 2.0]), torch.ones(2))
    tensor([0., 3.])
    """

    def forward(self, x: Tensor) -> NoReturn:
        """Raise: the operations are methods."""
        _refuse("FloatFunctional")

    def add(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum."""
        return torch.add(x, y)

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """Return the sum with a number."""
        return torch.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product."""
        return torch.mul(x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """Return the product with a number."""
        return torch.mul(x, y)

    def cat(self, x: list[Any], dim: int = 0) -> Any:
        """Return the tensors joined along a dimension."""
        return torch.cat(x, dim=dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum's positive part."""
        return relu(torch.add(x, y))

    def matmul(self, x: Tensor, y: Tensor) -> Any:
        """Return the matrix product."""
        return torch.matmul(x, y)


class QFunctional(Module):
    """Operations on integers, whose results have one quantizer.

    >>> import torch.ao.nn.quantized as nnq
    >>> f = nnq.QFunctional()
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> f.scale, f.zero_point = 0.5, 10
    >>> f.add(x, x).dequantize()
    tensor([[-2.,  1.,  4.]])
    """

    def __init__(self) -> None:
        super().__init__()
        self.scale = 1.0
        self.zero_point = 0
        self.activation_post_process = Identity()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        save_quantizer(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        load_quantizer(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def _get_name(self) -> str:
        return "QFunctional"

    def extra_repr(self) -> str:
        """The quantizer."""
        return f"scale={self.scale}, zero_point={self.zero_point}"

    def forward(self, x: Tensor) -> NoReturn:
        """Raise: the operations are methods."""
        _refuse("Functional")

    def _rounded(self, name: str, *operands: Any, **options: Any) -> Any:
        found = getattr(torch.ops.quantized, name)(*operands, scale=self.scale, zero_point=self.zero_point, **options)
        return self.activation_post_process(found)

    def add(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum."""
        return self._rounded("add", x, y)

    def add_scalar(self, x: Tensor, y: float) -> Any:
        """Return the sum with a number, whose quantizer follows from it."""
        return torch.ops.quantized.add_scalar(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Any:
        """Return the product."""
        return self._rounded("mul", x, y)

    def mul_scalar(self, x: Tensor, y: float) -> Any:
        """Return the product with a number, whose quantizer follows from it."""
        return torch.ops.quantized.mul_scalar(x, y)

    def cat(self, x: list[Any], dim: int = 0) -> Any:
        """Return the tensors joined along a dimension."""
        return self._rounded("cat", x, dim=dim)

    def add_relu(self, x: Tensor, y: Tensor) -> Any:
        """Return the sum's positive part."""
        return self._rounded("add_relu", x, y)

    def matmul(self, x: Tensor, y: Tensor) -> Any:
        """Return the matrix product."""
        return torch.ops.quantized.matmul(x, y, scale=self.scale, zero_point=self.zero_point)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        if type(mod) is not FloatFunctional:
            raise AssertionError(
                f"QFunctional.from_float expects an instance of FloatFunctional, got {type(mod).__name__}"
            )
        observer: Any = mod.activation_post_process
        scale, zero_point = observer.calculate_qparams()
        made = QFunctional()
        made.scale, made.zero_point = float(scale), int(zero_point)
        return made


adopt(globals())
