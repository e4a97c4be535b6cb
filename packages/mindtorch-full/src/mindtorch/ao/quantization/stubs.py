"""The marks: in a floating-point model they pass on what they are given."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class _Mark(Module):
    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class QuantStub(_Mark):
    """Marks where values would be quantized; returns them as they are.

    >>> import torch.ao.quantization as quantization
    >>> quantization.QuantStub()(torch.ones(1))
    tensor([1.])
    """


class DeQuantStub(_Mark):
    """Marks where values would be made floating-point again; returns them as they are.

    >>> import torch.ao.quantization as quantization
    >>> quantization.DeQuantStub()(torch.ones(1))
    tensor([1.])
    """


class QuantWrapper(Module):
    """A module between the two marks.

    >>> import torch.ao.quantization as quantization
    >>> model = quantization.QuantWrapper(torch.nn.ReLU())
    >>> model(torch.tensor([-1.0, 1.0])), [name for name, _ in model.named_children()]
    (tensor([0., 1.]), ['quant', 'dequant', 'module'])
    """

    def __init__(self, module: Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Tensor) -> Any:
        return self.dequant(self.module(self.quant(X)))


adopt(globals())
